//! The shapes of a picture, whatever they are drawn with.

/// The size of a picture, in pixels of SVG.
pub(crate) const WIDTH: f64 = 800.0;
pub(crate) const HEIGHT: f64 = 480.0;

/// Colours: of bars, lines and letters, and peaks.
pub(crate) const BARS: &str = "#9ecae1";
pub(crate) const INK: &str = "#222";
pub(crate) const PEAKS: &str = "#d62728";

/// What a picture is made of: pixels from its upper left corner.
pub(crate) struct Scene {
    /// Left and right ends, and heights of the upper ends; the lower ones stand on the axis.
    pub(crate) bars: Vec<[f64; 3]>,
    pub(crate) model: Vec<[f64; 2]>,
    /// Where dashed lines rise from the axis.
    pub(crate) peaks: Vec<f64>,
    /// From the top to the origin, and to the right.
    pub(crate) axes: [[f64; 2]; 3],
    pub(crate) words: Vec<Words>,
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
