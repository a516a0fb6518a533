//! Pictures of k-mers in classes by their counts: copy-number and assembly spectra, with the axes, colours and rules of
//! Merqury's plots (Rhie et al. 2020, figure 2).

use std::io;

use crate::scene::{Anchor, Axes, INK, Scene, Shape, Words, rectangle};
use crate::{png as pixels, svg as vectors};

/// Some classes of k-mers.
#[derive(Clone, Debug)]
pub struct Classes {
    /// What is shown, above the picture.
    pub title: String,
    /// The first one is that of k-mers which only the reads have.
    pub classes: Vec<Class>,
    /// k-mers without a read, from the lowest part of their bar upwards: each in the colour of the class behind the first.
    pub only: Vec<u64>,
    /// Where a dashed line is: the largest count of an error.
    pub solid: u32,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Counts, ascending, with how many k-mers have each.
    pub rows: Vec<(u32, u64)>,
}

/// How classes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As lines,
    Lines,
    /// as areas over each other,
    Filled,
    /// or as areas on top of each other.
    Stacked,
}

impl Style {
    /// All of them.
    pub const ALL: [Style; 3] = [Style::Lines, Style::Filled, Style::Stacked];

    /// As Merqury abbreviates it in names of files.
    pub fn short(self) -> &'static str {
        match self {
            Style::Lines => "ln",
            Style::Filled => "fl",
            Style::Stacked => "st",
        }
    }
}

/// Returns an SVG picture.
pub fn svg(classes: &Classes, style: Style) -> String {
    vectors::draw(&scene(classes, style))
}

/// Returns a PNG picture of 1800 × 1500 pixels.
///
/// # Errors
/// None are known: the picture is made in memory.
pub fn png(classes: &Classes, style: Style) -> io::Result<Vec<u8>> {
    pixels::draw(&scene(classes, style))
}

/// The size of the picture, in pixels of SVG, and pixels of PNG for each.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 500.0;
const SCALE: u32 = 3;
const FRAME: [f64; 4] = [96.0, 44.0, 572.0, 452.0];
/// By the order of classes, from ColorBrewer's Set1.
const COLOURS: [&str; 6] = ["#000000", "#E41A1C", "#377EB8", "#4DAF4A", "#984EA3", "#FF7F00"];
/// Counts of errors, among which no peak is looked for.
const ERRORS: u32 = 3;
/// The bar of k-mers without a read is so wide.
const BAR: f64 = 2.0;
/// The legend, from its upper right corner.
const LEGEND: [f64; 2] = [568.0, 52.0];
const LEGEND_LINE: f64 = 18.0;
const LETTER: f64 = 6.7;

/// The ends of both axes: the highest peak of what assemblies have.
fn most(classes: &Classes) -> [f64; 2] {
    let rows = classes.classes.iter().skip(1).flat_map(|class| &class.rows);
    let peak = rows
        .filter(|row| row.0 > ERRORS)
        .max_by_key(|&&(count, number)| (number, u32::MAX - count));
    let (count, number) = peak.copied().unwrap_or((20, 1));
    let only: u64 = classes.only.iter().sum();
    [2.5 * f64::from(count), 1.1 * number.max(only) as f64]
}

fn scene(classes: &Classes, style: Style) -> Scene {
    let axes = Axes { frame: FRAME, most: most(classes) };
    let [left, top, right, bottom] = FRAME;
    let mut shapes = curves(classes, style, &axes);
    shapes.extend(only(classes, &axes));
    if f64::from(classes.solid) < axes.most[0] {
        let at = axes.x(f64::from(classes.solid));
        shapes.push(Shape::dashed(vec![[at, bottom], [at, top]], INK));
    }
    shapes.push(axes.shape());
    let mut words = axes.numbers();
    words.push(Words::new(classes.title.clone(), [left, 20.0], Anchor::Start));
    words.push(Words::new("Count", [left - 6.0, top - 8.0], Anchor::End));
    words.push(Words::new(
        "kmer_multiplicity",
        [(left + right) / 2.0, HEIGHT - 12.0],
        Anchor::Middle,
    ));
    legend(classes, &mut shapes, &mut words);
    Scene { width: WIDTH, height: HEIGHT, scale: SCALE, shapes, words }
}

/// How many k-mers of a class have each count from 0 on.
fn heights(class: &Class, counts: usize) -> Vec<u64> {
    let mut heights = vec![0; counts];
    for &(count, number) in &class.rows {
        if let Some(height) = heights.get_mut(count as usize) {
            *height = number;
        }
    }
    heights
}

fn curves(classes: &Classes, style: Style, axes: &Axes) -> Vec<Shape> {
    let counts = axes.most[0].floor() as usize + 1;
    let mut below = vec![0; counts];
    let mut shapes = Vec::new();
    for (class, colour) in classes.classes.iter().zip(COLOURS) {
        let mut heights = heights(class, counts);
        if style == Style::Stacked {
            heights.iter_mut().zip(&below).for_each(|(height, below)| *height += below);
        }
        let places = |heights: &[u64]| -> Vec<[f64; 2]> {
            let places = heights.iter().enumerate().skip(1);
            places.map(|(count, &height)| axes.point([count as f64, height as f64])).collect()
        };
        let upper = places(&heights);
        let mut area = upper.clone();
        area.extend(places(&below).into_iter().rev());
        match style {
            Style::Lines => shapes.push(Shape::line(upper, colour, 1.5)),
            Style::Filled => {
                shapes.push(Shape::filled(vec![area], colour, 0.4));
                shapes.push(Shape::line(upper, colour, 1.0));
            }
            Style::Stacked => shapes.push(Shape::filled(vec![area], colour, 1.0)),
        }
        if style == Style::Stacked {
            below = heights;
        }
    }
    shapes
}

/// The bar of k-mers that no read has.
fn only(classes: &Classes, axes: &Axes) -> Vec<Shape> {
    let mut below = 0;
    let parts = classes.only.iter().zip(&COLOURS[1..]).map(|(&number, colour)| {
        let [bottom, top] = [below, below + number].map(|height| axes.y(height as f64));
        below += number;
        Shape::filled(vec![rectangle([axes.x(0.0), top, axes.x(BAR), bottom])], colour, 1.0)
    });
    parts.collect()
}

/// A box at the upper right.
fn legend(classes: &Classes, shapes: &mut Vec<Shape>, words: &mut Vec<Words>) {
    let [right, top] = LEGEND;
    let longest = classes.classes.iter().map(|class| class.name.chars().count()).max().unwrap_or(0);
    let left = right - 34.0 - LETTER * longest.max(5) as f64;
    let bottom = top + LEGEND_LINE * (classes.classes.len() + 1) as f64 + 8.0;
    let mut frame = rectangle([left, top, right, bottom]);
    shapes.push(Shape::filled(vec![frame.clone()], "#FFFFFF", 0.9));
    frame.push(frame[0]);
    shapes.push(Shape::line(frame, INK, 1.0));
    words.push(Words::new("k-mer", [left + 8.0, top + 16.0], Anchor::Start));
    for (line, (class, colour)) in (1..).zip(classes.classes.iter().zip(COLOURS)) {
        let base = top + 16.0 + LEGEND_LINE * f64::from(line);
        let square = rectangle([left + 8.0, base - 10.0, left + 20.0, base + 1.0]);
        shapes.push(Shape::filled(vec![square], colour, 1.0));
        words.push(Words::new(class.name.clone(), [left + 26.0, base], Anchor::Start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Classes {
        let rows = |height: u64| {
            (1..80).map(|count: u32| (count, height * u64::from(80 - count.abs_diff(30)))).collect()
        };
        let names = ["read-only", "1", "2"];
        let classes = names
            .iter()
            .zip([900, 50, 5])
            .map(|(name, height)| Class { name: (*name).to_owned(), rows: rows(height) });
        Classes { title: "a <b>".into(), classes: classes.collect(), only: vec![40, 20], solid: 6 }
    }

    #[test]
    fn the_axes_end_behind_the_highest_peak_of_an_assembly() {
        let [x, y] = most(&classes());
        assert_eq!(x, 75.0);
        assert!((y - 1.1 * 50.0 * 80.0).abs() < 1e-6);
        let none = Classes { classes: Vec::new(), only: vec![500], ..classes() };
        assert!(most(&none)[1] > 500.0);
    }

    #[test]
    fn stacked_areas_stand_on_each_other() {
        let classes = classes();
        let axes = Axes { frame: FRAME, most: most(&classes) };
        let shapes = curves(&classes, Style::Stacked, &axes);
        let [first, second, _] = &shapes[..] else { panic!("three areas") };
        let half = first.paths[0].len() / 2;
        // The lower line of the second is the upper line of the first.
        let mut lower = second.paths[0][half..].to_vec();
        lower.reverse();
        assert_eq!(lower, first.paths[0][..half]);
    }

    #[test]
    fn every_style_is_drawn_with_its_names() {
        for style in Style::ALL {
            let picture = svg(&classes(), style);
            for text in ["read-only", "a &lt;b&gt;", "k-mer", "kmer_multiplicity", COLOURS[2]] {
                assert!(picture.contains(text), "{text}");
            }
            assert!(png(&classes(), style).unwrap().starts_with(b"\x89PNG"));
        }
    }
}
