//! Scenes as PNG: the shapes of the SVG, larger.

use std::convert::Infallible;
use std::io::{self, Write};

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::{MonoTextStyle, ascii::FONT_10X20};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::text::{Alignment, Text};
use embedded_graphics::{Drawable, Pixel};
use tiny_skia::{
    Color, FillRule, LineCap, Paint, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use crate::scene::{Anchor, Scene, Shape};

/// A PNG picture.
///
/// # Errors
/// None are known: the picture is made in memory.
pub(crate) fn draw(scene: &Scene) -> io::Result<Vec<u8>> {
    let [width, height] = [scene.width, scene.height].map(|size| size as u32 * scene.scale);
    let mut pixels = Pixmap::new(width, height)
        .ok_or_else(|| io::Error::other("a picture of this size cannot be made"))?;
    pixels.fill(Color::WHITE);
    let scale = Transform::from_scale(scene.scale as f32, scene.scale as f32);
    scene.shapes.iter().for_each(|shape| draw_shape(shape, scale, &mut pixels));
    draw_words(scene, &mut pixels);
    let rows: Vec<u8> = pixels
        .data()
        .chunks_exact(4 * width as usize)
        // No filter; opaque pixels without their opacity.
        .flat_map(|row| {
            let colours = row.chunks_exact(4).flat_map(|pixel| pixel[..3].iter().copied());
            std::iter::once(0).chain(colours)
        })
        .collect();
    encode(width, height, &rows)
}

/// The file of rows of pixels with red, green and blue (PNG specification, sections 5 and 11).
fn encode(width: u32, height: u32, rows: &[u8]) -> io::Result<Vec<u8>> {
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
    deflate.write_all(rows)?;
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    // 8 bits a colour, three colours, the only compression and filtering, not interlaced.
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", deflate.finish()?), (b"IEND", Vec::new())] {
        let length = u32::try_from(data.len()).map_err(io::Error::other)?;
        out.extend(length.to_be_bytes());
        let start = out.len();
        out.extend(kind);
        out.extend(data);
        out.extend(crc32fast::hash(&out[start..]).to_be_bytes());
    }
    Ok(out)
}

fn draw_shape(shape: &Shape, scale: Transform, pixels: &mut Pixmap) {
    let mut path = PathBuilder::new();
    for points in &shape.paths {
        for (number, point) in points.iter().enumerate() {
            let [x, y] = point.map(|place| place as f32);
            if number == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        if shape.fill.is_some() {
            path.close();
        }
    }
    let Some(path) = path.finish() else { return };
    if let Some((colour, opacity)) = shape.fill {
        pixels.fill_path(&path, &paint(colour, opacity), FillRule::Winding, scale, None);
    }
    if let Some(line) = shape.line {
        let dash = line.is_dashed.then(|| StrokeDash::new(vec![4.0, 4.0], 0.0)).flatten();
        let width = line.width as f32;
        let stroke = Stroke { width, dash, line_cap: LineCap::Butt, ..Stroke::default() };
        pixels.stroke_path(&path, &paint(line.colour, 1.0), &stroke, scale, None);
    }
}

/// Letters are pixels, each drawn as a square of some, so that they have about the size of those of the SVG.
fn draw_words(scene: &Scene, pixels: &mut Pixmap) {
    let zoom = (scene.scale * 13).div_ceil(20).max(1);
    let style = MonoTextStyle::new(&FONT_10X20, BinaryColor::On);
    for words in &scene.words {
        let alignment = match words.anchor {
            Anchor::Start => Alignment::Left,
            Anchor::Middle => Alignment::Center,
            Anchor::End => Alignment::Right,
        };
        let per_letter = f64::from(scene.scale) / f64::from(zoom);
        let [x, y] = words.at.map(|at| (at * per_letter).round() as i32);
        let text = Text::with_alignment(&words.text, Point::new(x, y), style, alignment);
        let Ok(_) = text.draw(&mut Letters { pixels, zoom });
    }
}

/// `#rrggbb`.
fn paint(colour: &str, opacity: f64) -> Paint<'static> {
    let number = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or(0);
    let [_, red, green, blue] = number.to_be_bytes();
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (255.0 * opacity).round() as u8);
    paint
}

/// Takes the pixels of letters.
struct Letters<'p> {
    pixels: &'p mut Pixmap,
    zoom: u32,
}

impl OriginDimensions for Letters<'_> {
    fn size(&self) -> Size {
        Size::new(self.pixels.width() / self.zoom, self.pixels.height() / self.zoom)
    }
}

impl DrawTarget for Letters<'_> {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(
        &mut self,
        letters: I,
    ) -> Result<(), Infallible> {
        let (Size { width, height }, row) = (self.size(), self.pixels.width());
        for Pixel(Point { x, y }, colour) in letters {
            let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { continue };
            if !colour.is_on() || x >= width || y >= height {
                continue;
            }
            for down in 0..self.zoom {
                let at = 4 * ((y * self.zoom + down) * row + x * self.zoom) as usize;
                let square = &mut self.pixels.data_mut()[at..at + 4 * self.zoom as usize];
                square.chunks_mut(4).for_each(|pixel| pixel[..3].fill(0x22));
            }
        }
        Ok(())
    }
}
