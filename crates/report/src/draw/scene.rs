//! The shapes and words of a plot, independent of the format.

use super::font::{SIZE, width};

/// The colour of lines and letters.
pub(crate) const INK: &str = "#222222";
/// The colours of classes, haplotypes and assemblies in their order: ColorBrewer's Set1.
pub(crate) const SET1: [&str; 9] = [
    "#E41A1C", "#377EB8", "#4DAF4A", "#984EA3", "#FF7F00", "#FFFF33", "#A65628", "#F781BF",
    "#999999",
];

/// The content of a plot, in the order in which it is drawn. Coordinates are SVG units from the upper left corner.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) words: Vec<Words>,
}

/// Polylines with a line style, a fill, or both.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) paths: Vec<Vec<[f64; 2]>>,
    /// The colour and opacity, 0 to 1, of the area that the closed lines enclose.
    pub(crate) fill: Option<(&'static str, f64)>,
    pub(crate) line: Option<Line>,
}

/// The style of a line.
#[derive(Clone, Copy, Debug)]
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

/// Returns the corners of a rectangle, given its left, upper, right and lower side.
pub(crate) fn rectangle([left, top, right, bottom]: [f64; 4]) -> Vec<[f64; 2]> {
    vec![[left, bottom], [left, top], [right, top], [right, bottom]]
}

/// A line of text.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) text: String,
    /// The position of the anchor on the base line.
    pub(crate) at: [f64; 2],
    pub(crate) anchor: Anchor,
}

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Words {
    pub(crate) fn new(text: impl Into<String>, at: [f64; 2], anchor: Anchor) -> Words {
        Words { text: text.into(), at, anchor }
    }

    /// Returns the left, upper, right and lower side of the text's box.
    pub(crate) fn bounds(&self) -> [f64; 4] {
        let ([x, y], width) = (self.at, width(&self.text));
        let left = match self.anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        [left, y - ASCENT * SIZE, left + width, y + DESCENT * SIZE]
    }
}

/// The height of letters above and below the base line, in parts of their size.
const ASCENT: f64 = 0.76;
const DESCENT: f64 = 0.24;

/// Whether two boxes overlap.
pub(crate) fn meet(one: [f64; 4], other: [f64; 4]) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}
