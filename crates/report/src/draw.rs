//! One way to draw for all pictures: shapes and words make an SVG, of which the pixels and pages of other formats are made.

mod axes;
mod font;
mod paper;
mod scene;
mod svg;

pub(crate) use axes::{Axes, Scale, thousands};
pub(crate) use scene::{Anchor, INK, Scene, Shape, Words, rectangle, shortened};

/// Colours that the colour-blind tell apart (Okabe and Ito, 2008), and greys for what is none of all others.
pub(crate) const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F00"];
pub(crate) const GREYS: [&str; 3] = ["#B3BAC2", "#5B636D", "#D9DDE2"];

/// A picture, which can be had in several formats. All letters are of a font that the program brings along; letters that it has
/// not are drawn as a box or, in SVG, by a font of the reader's.
#[derive(Debug)]
pub struct Picture(pub(crate) Scene);

/// Why a picture has no pixels or pages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The picture's SVG cannot be read back, which is a mistake of this crate.
    #[error("the picture cannot be drawn: {0}")]
    Svg(String),
    /// More pixels than a picture may have.
    #[error("a picture of {0} x {1} pixels is too large: ask for fewer dots an inch")]
    Size(u32, u32),
}

impl Picture {
    /// Returns it as SVG, with the letters of ASCII as a font in it.
    pub fn svg(&self) -> String {
        svg::draw(&self.0)
    }

    /// Returns it as PNG with `dpi` dots an inch, which the file says; the picture has 96 units of SVG an inch.
    ///
    /// # Errors
    /// [`Error::Size`] if it has more than 100 million pixels.
    pub fn png(&self, dpi: u32) -> Result<Vec<u8>, Error> {
        paper::png(&self.svg(), dpi)
    }

    /// Returns it as PDF of one page, with the letters that it uses as a font in it.
    ///
    /// # Errors
    /// None are known: the picture is made in memory.
    pub fn pdf(&self) -> Result<Vec<u8>, Error> {
        paper::pdf(&self.svg())
    }
}
