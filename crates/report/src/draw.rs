//! Drawing of all plots: shapes and words make an SVG, which is converted to the other formats.

mod axes;
mod font;
mod paper;
mod scene;
mod svg;

pub(crate) use axes::{Axes, Scale, thousands};
pub(crate) use font::{SIZE, fitted, width};
pub(crate) use scene::{Anchor, INK, SET1, Scene, Shape, Words, meet, rectangle};

/// Colours that people with colour blindness can distinguish (Okabe and Ito, 2008), and greys for remainders.
pub(crate) const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F00"];
pub(crate) const GREYS: [&str; 3] = ["#B3BAC2", "#5B636D", "#D9DDE2"];

/// A plot that can be written in several formats. Text is in an embedded font. Characters that the font does not have
/// are drawn as a box or, in SVG, in a font of the viewer.
#[derive(Debug)]
pub struct Picture(pub(crate) Scene);

/// An error of converting a plot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plot's SVG cannot be parsed, which is a bug in this crate.
    #[error("the plot cannot be drawn: {0}")]
    Svg(String),
    /// The plot has too many pixels.
    #[error("a plot of {0} x {1} pixels is too large: use a lower resolution (dpi)")]
    Size(u32, u32),
}

impl Picture {
    /// Returns the plot as SVG, with an embedded font of ASCII characters.
    pub fn svg(&self) -> String {
        svg::draw(&self.0)
    }

    /// Returns the plot as PNG with a resolution of `dpi` dots per inch, which is stored in the file; an inch has 96
    /// SVG units.
    ///
    /// # Errors
    /// [`Error::Size`] if the plot has more than 100 million pixels.
    pub fn png(&self, dpi: u32) -> Result<Vec<u8>, Error> {
        paper::png(&self.svg(), dpi)
    }

    /// Returns the plot as a PDF with one page, with an embedded font of the characters that it uses.
    ///
    /// # Errors
    /// None are known: the plot is made in memory.
    pub fn pdf(&self) -> Result<Vec<u8>, Error> {
        paper::pdf(&self.svg())
    }
}
