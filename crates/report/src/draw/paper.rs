//! Conversion of SVG to PNG and PDF.

use std::sync::Arc;

use resvg::tiny_skia::{Color, Pixmap, Transform};
use svg2pdf::{ConversionOptions, PageOptions, usvg};

use super::Error;
use super::font::{FAMILY, FONTS};

/// SVG units per inch.
const UNITS: f32 = 96.0;
/// The maximum number of pixels of a plot.
const MAX_PIXELS: u64 = 100_000_000;

fn tree(svg: &str) -> Result<usvg::Tree, Error> {
    let options = usvg::Options {
        font_family: FAMILY.to_owned(),
        fontdb: Arc::clone(&FONTS),
        ..usvg::Options::default()
    };
    usvg::Tree::from_str(svg, &options).map_err(|why| Error::Svg(why.to_string()))
}

pub(super) fn png(svg: &str, dpi: u32) -> Result<Vec<u8>, Error> {
    let tree = tree(svg)?;
    let scale = dpi as f32 / UNITS;
    let size = tree.size();
    let [width, height] = [size.width(), size.height()].map(|side| (side * scale).round() as u32);
    let too_large = Error::Size(width, height);
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(too_large);
    }
    let mut pixels = Pixmap::new(width, height).ok_or(too_large)?;
    pixels.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    let file = pixels.encode_png().map_err(|why| Error::Svg(why.to_string()))?;
    Ok(with_density(&file, dpi))
}

/// The bytes of a PNG file up to the end of its header (PNG specification, section 5).
const HEADER: usize = 8 + 4 + 4 + 13 + 4;

/// Adds the pixels per metre to a PNG file, in the chunk `pHYs` after the header.
fn with_density(file: &[u8], dpi: u32) -> Vec<u8> {
    let metre = (f64::from(dpi) / 0.0254).round() as u32;
    let mut chunk = b"pHYs".to_vec();
    chunk.extend(metre.to_be_bytes());
    chunk.extend(metre.to_be_bytes());
    // The unit is the metre.
    chunk.push(1);
    let (head, rest) = file.split_at(HEADER);
    let check = crc32fast::hash(&chunk).to_be_bytes();
    [head, &9u32.to_be_bytes(), &chunk, &check, rest].concat()
}

pub(super) fn pdf(svg: &str) -> Result<Vec<u8>, Error> {
    let page = PageOptions { dpi: UNITS };
    let options = ConversionOptions::default();
    svg2pdf::to_pdf(&tree(svg)?, options, page).map_err(|why| Error::Svg(why.to_string()))
}
