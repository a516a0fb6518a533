//! The letters of pictures: `fonts/README.md` says which they are.

use std::sync::{Arc, LazyLock};

use svg2pdf::usvg::fontdb::Database;

/// The font's name.
pub(super) const FAMILY: &str = "DejaVu Sans";
/// For pixels and pages: Latin, Greek and Cyrillic.
const LETTERS: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
/// For SVG: ASCII.
pub(super) const ASCII: &[u8] = include_bytes!("../../fonts/DejaVuSans-ascii.woff2");

/// No font of the system is looked at: pictures would depend on it.
pub(super) static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(LETTERS.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    Arc::new(fonts)
});
