//! K-mer File Format (KFF 1.0, <https://github.com/Kmer-File-Format/kff-reference>), big-endian. The layout is
//! in `docs/reference/formats.md`.

mod reader;
mod writer;

pub(crate) use reader::Kff;
pub(crate) use writer::{KffFormat, KffSink};
