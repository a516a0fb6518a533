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
