//! The shapes of a picture, whatever they are drawn with.

/// The colour of lines and letters.
pub(crate) const INK: &str = "#222222";

/// What a picture is made of: pixels of SVG from its upper left corner, drawn in their order.
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Pixels of a PNG for one of the SVG.
    pub(crate) scale: u32,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) words: Vec<Words>,
}

/// Lines from point to point.
pub(crate) struct Shape {
    pub(crate) paths: Vec<Vec<[f64; 2]>>,
    /// Colour and opacity, 0 to 1, of what the closed lines enclose.
    pub(crate) fill: Option<(&'static str, f64)>,
    pub(crate) line: Option<Line>,
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) colour: &'static str,
    pub(crate) width: f64,
    pub(crate) is_dashed: bool,
}

impl Shape {
    pub(crate) fn line(points: Vec<[f64; 2]>, colour: &'static str, width: f64) -> Shape {
        let line = Line { colour, width, is_dashed: false };
        Shape { paths: vec![points], fill: None, line: Some(line) }
    }

    pub(crate) fn dashed(points: Vec<[f64; 2]>, colour: &'static str) -> Shape {
        let line = Line { colour, width: 1.0, is_dashed: true };
        Shape { paths: vec![points], fill: None, line: Some(line) }
    }

    pub(crate) fn filled(paths: Vec<Vec<[f64; 2]>>, colour: &'static str, opacity: f64) -> Shape {
        Shape { paths, fill: Some((colour, opacity)), line: None }
    }
}

/// The corners of a rectangle from its left, upper, right and lower side.
pub(crate) fn rectangle([left, top, right, bottom]: [f64; 4]) -> Vec<[f64; 2]> {
    vec![[left, bottom], [left, top], [right, top], [right, bottom]]
}

/// Letters on a line.
pub(crate) struct Words {
    pub(crate) text: String,
    /// Where on the base line they are anchored.
    pub(crate) at: [f64; 2],
    pub(crate) anchor: Anchor,
}

/// The part of a text that is at its place.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Words {
    pub(crate) fn new(text: impl Into<String>, at: [f64; 2], anchor: Anchor) -> Words {
        Words { text: text.into(), at, anchor }
    }
}

/// Where counts lie on a picture, and its axes.
pub(crate) struct Axes {
    /// Left, upper, right and lower side.
    pub(crate) frame: [f64; 4],
    /// The largest number on each axis; both begin at 0.
    pub(crate) most: [f64; 2],
}

impl Axes {
    pub(crate) fn x(&self, number: f64) -> f64 {
        let [left, _, right, _] = self.frame;
        left + (right - left) * (number / self.most[0]).min(1.0)
    }

    /// What is too large is at the top.
    pub(crate) fn y(&self, number: f64) -> f64 {
        let [_, top, _, bottom] = self.frame;
        bottom - (bottom - top) * (number / self.most[1]).min(1.0)
    }

    pub(crate) fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.x(x), self.y(y)]
    }

    /// From the top to the origin, and to the right.
    pub(crate) fn shape(&self) -> Shape {
        let [left, top, right, bottom] = self.frame;
        Shape::line(vec![[left, top], [left, bottom], [right, bottom]], INK, 1.0)
    }

    /// Round numbers along both.
    pub(crate) fn numbers(&self) -> Vec<Words> {
        let [left, _, _, bottom] = self.frame;
        let along = ticks(self.most[0])
            .map(|x| Words::new(thousands(x), [self.x(x), bottom + 18.0], Anchor::Middle));
        let up = ticks(self.most[1])
            .map(|y| Words::new(thousands(y), [left - 6.0, self.y(y) + 4.0], Anchor::End));
        along.chain(up).collect()
    }
}

/// Round numbers from 0 up to `most`, five to ten steps.
pub(crate) fn ticks(most: f64) -> impl Iterator<Item = f64> {
    let power = 10f64.powf((most / 5.0).max(1.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|times| times * power);
    let step = steps.into_iter().find(|step| most / step >= 5.0).unwrap_or(power);
    (0..=(most / step) as u32).map(move |part| f64::from(part) * step)
}

/// A whole number with commas.
pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_numbers_have_commas() {
        let up_to = |most| ticks(most).map(thousands).collect::<Vec<_>>().join(" ");
        assert_eq!(up_to(3.0), "0 1 2 3");
        assert_eq!(up_to(214.0), "0 20 40 60 80 100 120 140 160 180 200");
        assert_eq!(up_to(372_615.0), "0 50,000 100,000 150,000 200,000 250,000 300,000 350,000");
        assert_eq!(thousands(4_936_447.4), "4,936,447");
    }
}
