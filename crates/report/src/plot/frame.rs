//! The frame of charts: title, axes and legend.

use crate::draw::{Anchor, Axes, Picture, Scene, Shape, Words, fitted, rectangle, width};

/// The size of charts in SVG units: 180 mm wide, the width of two columns of a page.
const WIDTH: f64 = 680.0;
const HEIGHT: f64 = 420.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 50.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 32.0;
/// The minimum and the maximum width of a legend at the right of the frame, or of names at its left.
const NAMES: [f64; 2] = [60.0, 340.0];
const LINE: f64 = 18.0;
/// The number of lines of a legend for taxa: colours and greys.
const MAX_NAMES: f64 = 10.0;
/// The width of a colour of the legend with its margins, and the distance of names from the frame.
const SQUARE: f64 = 38.0;
const BESIDE: f64 = 14.0;

/// A chart whose data are drawn into its frame.
pub(super) struct Frame {
    width: f64,
    height: f64,
    pub(super) frame: [f64; 4],
    shapes: Vec<Shape>,
    words: Vec<Words>,
}

impl Frame {
    /// Makes a frame with room for a legend of these names at the right, if there are any.
    pub(super) fn new(title: &str, legend: &[&str]) -> Frame {
        Frame::of(title, legend, LEFT, HEIGHT)
    }

    /// Makes a frame with these lines, with room for their names at the left.
    pub(super) fn of_lines(title: &str, legend: &[&str], lines: &[&str]) -> Frame {
        let least = if legend.is_empty() { 60.0 } else { LINE * MAX_NAMES };
        let height = TOP + BOTTOM + (22.0 * lines.len() as f64).max(least);
        Frame::of(title, legend, room(lines, BESIDE), height)
    }

    fn of(title: &str, legend: &[&str], left: f64, height: f64) -> Frame {
        let right = if legend.is_empty() { RIGHT } else { room(legend, SQUARE) };
        // Names at both sides leave at least this to the chart.
        let least = 160.0;
        let right = right.min(WIDTH - left - least);
        let title = fitted(title, WIDTH - left - 8.0);
        let words = vec![Words::new(title, [left, 20.0], Anchor::Start)];
        let frame = [left, TOP, WIDTH - right, height - BOTTOM];
        Frame { width: WIDTH, height, frame, shapes: Vec::new(), words }
    }

    pub(super) fn draw(&mut self, shapes: impl IntoIterator<Item = Shape>) {
        self.shapes.extend(shapes);
    }

    pub(super) fn write(&mut self, words: impl IntoIterator<Item = Words>) {
        self.words.extend(words);
    }

    /// Writes that there are no data.
    pub(super) fn empty(&mut self) {
        let [left, top, right, bottom] = self.frame;
        let middle = [(left + right) / 2.0, (top + bottom) / 2.0];
        self.words.push(Words::new("no data", middle, Anchor::Middle));
    }

    /// Adds the names of both axes.
    pub(super) fn name(&mut self, [along, up]: [&str; 2]) {
        let [left, top, right, _] = self.frame;
        let below = [(left + right) / 2.0, self.height - 10.0];
        let along = fitted(along, 2.0 * (below[0].min(self.width - below[0]) - 4.0));
        self.words.push(Words::new(along, below, Anchor::Middle));
        let up = fitted(up, self.width - left - 8.0);
        self.words.push(Words::new(up, [left, top - 14.0], Anchor::Start));
    }

    /// Adds the legend, as far as there is room.
    pub(super) fn legend(&mut self, names: &[(String, &'static str)]) {
        let [_, top, right, bottom] = self.frame;
        let room = ((bottom - top) / LINE) as usize;
        let shown = if names.len() > room { room - 1 } else { names.len() };
        for (line, (name, colour)) in (0..).zip(&names[..shown]) {
            let base = top + 10.0 + LINE * f64::from(line);
            let square = rectangle([right + 12.0, base - 10.0, right + 24.0, base + 1.0]);
            self.shapes.push(Shape::filled(vec![square], colour, 1.0));
            let name = fitted(name, self.width - right - SQUARE + 4.0);
            self.words.push(Words::new(name, [right + 30.0, base], Anchor::Start));
        }
        if shown < names.len() {
            let base = top + 10.0 + LINE * shown as f64;
            let more = format!("and {} more", names.len() - shown);
            self.words.push(Words::new(more, [right + 30.0, base], Anchor::Start));
        }
    }

    /// Adds names at the left of horizontal bars.
    pub(super) fn label(&mut self, names: impl Iterator<Item = (String, f64)>) {
        let left = self.frame[0];
        let word = |(name, at): (String, f64)| {
            Words::new(fitted(&name, left - BESIDE), [left - 8.0, at + 4.0], Anchor::End)
        };
        self.words.extend(names.map(word));
    }

    pub(super) fn finish(mut self, axes: Option<&Axes>) -> Picture {
        self.shapes.extend(axes.map(Axes::shape));
        let Frame { width, height, shapes, words, .. } = self;
        Picture(Scene { width, height, shapes, words })
    }
}

/// Returns the width of the names with a margin.
fn room(names: &[&str], margin: f64) -> f64 {
    let widest = names.iter().map(|name| width(name)).fold(0.0, f64::max);
    margin + widest.clamp(NAMES[0], NAMES[1])
}
