//! The fonts of plots, which `fonts/README.md` describes.

use std::sync::{Arc, LazyLock};

use svg2pdf::usvg::fontdb::Database;

/// The font's name.
pub(super) const FAMILY: &str = "DejaVu Sans";
/// The font for PNG and PDF: Latin, Greek and Cyrillic.
const LETTERS: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
/// The font for SVG: ASCII.
pub(super) const ASCII: &[u8] = include_bytes!("../../fonts/DejaVuSans-ascii.woff2");

/// The fonts. Fonts of the system are not used, because plots would depend on them.
pub(super) static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(LETTERS.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    Arc::new(fonts)
});

/// The size of letters in SVG units.
pub(crate) const SIZE: f64 = 13.0;

/// The font with the widths of its letters.
static FACE: LazyLock<Option<ttf_parser::Face<'static>>> =
    LazyLock::new(|| ttf_parser::Face::parse(LETTERS, 0).ok());

/// Returns the width of a text in SVG units. A character that the font does not have is as wide as high, as in most
/// fonts that have it.
pub(crate) fn width(text: &str) -> f64 {
    let Some(face) = &*FACE else { return SIZE * text.chars().count() as f64 };
    let unit = SIZE / f64::from(face.units_per_em());
    let of = |letter| face.glyph_hor_advance(face.glyph_index(letter)?);
    text.chars().map(|letter| of(letter).map_or(SIZE, |width| unit * f64::from(width))).sum()
}

/// Shortens a text to this width.
pub(crate) fn fitted(text: &str, room: f64) -> String {
    if text.chars().count() as f64 * SIZE <= room || width(text) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…");
    let fits = |letter: &char| {
        left -= width(letter.encode_utf8(&mut [0; 4]));
        left >= 0.0
    };
    let mut start: String = text.chars().take_while(fits).collect();
    start.push('…');
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit() {
        assert!(width("iiii") < width("mmmm") / 2.0);
        assert_eq!(width("\u{4E2D}"), SIZE);
        assert_eq!(fitted("Bacillota", 100.0), "Bacillota");
        for room in [20.0, 40.0, 61.0] {
            let text = fitted("Bacillota is a phylum", room);
            assert!(text.ends_with('…') && width(&text) <= room, "{text}");
        }
        assert!(width(&fitted(&"long".repeat(100_000), 60.0)) <= 60.0);
    }
}
