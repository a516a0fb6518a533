//! The shapes of a picture, whatever they are drawn with.

/// The colour of lines and letters.
pub(crate) const INK: &str = "#222222";

/// What a picture is made of: pixels of SVG from its upper left corner, drawn in their order.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) words: Vec<Words>,
}

/// Lines from point to point.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) paths: Vec<Vec<[f64; 2]>>,
    /// Colour and opacity, 0 to 1, of what the closed lines enclose.
    pub(crate) fill: Option<(&'static str, f64)>,
    pub(crate) line: Option<Line>,
}

/// How a line is drawn.
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

/// The corners of a rectangle from its left, upper, right and lower side.
pub(crate) fn rectangle([left, top, right, bottom]: [f64; 4]) -> Vec<[f64; 2]> {
    vec![[left, bottom], [left, top], [right, top], [right, bottom]]
}

/// Letters on a line.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) text: String,
    /// Where on the base line they are anchored.
    pub(crate) at: [f64; 2],
    pub(crate) anchor: Anchor,
}

/// The part of a text that is at its place.
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
}

/// A name of so many letters at most.
pub(crate) fn shortened(name: &str, most: usize) -> String {
    match name.chars().nth(most) {
        None => name.to_owned(),
        Some(_) => name.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn names_are_cut_by_letters() {
        assert_eq!(shortened("Bacillota", 9), "Bacillota");
        assert_eq!(shortened("Bacillota", 4), "Bac…");
        assert_eq!(shortened("ααααα", 3), "αα…");
    }
}
