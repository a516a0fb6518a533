//! The `.mgk` format of tables. Its layout is in `docs/reference/formats.md`.

mod bits;
mod block;
mod header;
mod index;
mod piece;
mod ranges;
mod reader;
mod writer;

pub(crate) use block::{Coded, MAX as MAX_PER_BLOCK, decode};
pub use header::Header;
pub(crate) use header::{FORMAT, section_bits};
pub use piece::{JobHash, Piece, PieceKind};
pub(crate) use ranges::MgkRanges;
pub use reader::{Blocks, Table};
pub(crate) use writer::{MgkFormat, MgkSink};
