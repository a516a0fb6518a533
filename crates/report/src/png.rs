//! Scenes as PNG: the shapes of the SVG, at twice its size.

use std::convert::Infallible;
use std::io::{self, Write};

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::{MonoTextStyle, ascii::FONT_10X20};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::text::{Alignment, Text};
use embedded_graphics::{Drawable, Pixel};
use tiny_skia::{
    Color, FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

use crate::scene::{Anchor, BARS, HEIGHT, INK, PEAKS, Scene, WIDTH};

/// Pixels for one of the SVG.
const SCALE: f32 = 2.0;

/// A PNG picture.
///
/// # Errors
/// None are known: the picture is made in memory.
pub(crate) fn draw(scene: &Scene) -> io::Result<Vec<u8>> {
    let (width, height) = (WIDTH as u32 * SCALE as u32, HEIGHT as u32 * SCALE as u32);
    let mut pixels = Pixmap::new(width, height)
        .ok_or_else(|| io::Error::other("a picture of this size cannot be made"))?;
    pixels.fill(Color::WHITE);
    draw_shapes(scene, &mut pixels);
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

fn draw_shapes(scene: &Scene, pixels: &mut Pixmap) {
    let [_, [_, low], _] = scene.axes;
    let scale = Transform::from_scale(SCALE, SCALE);
    let mut bars = PathBuilder::new();
    for [left, right, up] in scene.bars.map_f32() {
        let bar = Rect::from_ltrb(left, up, right, low as f32);
        bar.into_iter().for_each(|bar| bars.push_rect(bar));
    }
    if let Some(bars) = bars.finish() {
        pixels.fill_path(&bars, &paint(BARS), FillRule::Winding, scale, None);
    }
    let mut line = |points: &[[f64; 2]], colour, width, dash: Option<StrokeDash>| {
        let stroke = Stroke { width, dash, line_cap: LineCap::Butt, ..Stroke::default() };
        if let Some(path) = path(points) {
            pixels.stroke_path(&path, &paint(colour), &stroke, scale, None);
        }
    };
    line(&scene.model, INK, 1.5, None);
    let [[_, high], ..] = scene.axes;
    for &at in &scene.peaks {
        line(&[[at, low], [at, high]], PEAKS, 1.0, StrokeDash::new(vec![4.0, 4.0], 0.0));
    }
    line(&scene.axes, INK, 1.0, None);
    let style = MonoTextStyle::new(&FONT_10X20, BinaryColor::On);
    for words in &scene.words {
        let alignment = match words.anchor {
            Anchor::Start => Alignment::Left,
            Anchor::Middle => Alignment::Center,
            Anchor::End => Alignment::Right,
        };
        let [x, y] = words.at.map(|at| (at * f64::from(SCALE)).round() as i32);
        let text = Text::with_alignment(&words.text, Point::new(x, y), style, alignment);
        let Ok(_) = text.draw(&mut Letters(pixels));
    }
}

fn path(points: &[[f64; 2]]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (number, [x, y]) in points.map_f32().enumerate() {
        if number == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    path.finish()
}

/// `#rgb` or `#rrggbb`.
fn paint(colour: &str) -> Paint<'static> {
    let number = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or(0);
    let part = |shift: u32, bits: u32| {
        let most = (1 << bits) - 1;
        ((number >> shift & most) * 255 / most) as u8
    };
    let mut paint = Paint::default();
    match colour.len() {
        4 => paint.set_color_rgba8(part(8, 4), part(4, 4), part(0, 4), 255),
        _ => paint.set_color_rgba8(part(16, 8), part(8, 8), part(0, 8), 255),
    }
    paint
}

/// Places as the drawing takes them.
trait MapF32<const N: usize> {
    fn map_f32(&self) -> impl Iterator<Item = [f32; N]>;
}

impl<const N: usize> MapF32<N> for [[f64; N]] {
    fn map_f32(&self) -> impl Iterator<Item = [f32; N]> {
        self.iter().map(|places| places.map(|place| place as f32))
    }
}

/// Takes the pixels of letters.
struct Letters<'p>(&'p mut Pixmap);

impl OriginDimensions for Letters<'_> {
    fn size(&self) -> Size {
        Size::new(self.0.width(), self.0.height())
    }
}

impl DrawTarget for Letters<'_> {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(
        &mut self,
        letters: I,
    ) -> Result<(), Infallible> {
        let (width, height) = (self.0.width(), self.0.height());
        for Pixel(Point { x, y }, colour) in letters {
            let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { continue };
            if colour.is_on() && x < width && y < height {
                let at = 4 * (y * width + x) as usize;
                self.0.data_mut()[at..at + 3].fill(0x22);
            }
        }
        Ok(())
    }
}
