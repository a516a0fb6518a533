//! K-mer file format (KFF 1.0, <https://github.com/Kmer-File-Format/kff-reference>), big-endian.
//! Layout in `docs/formats.md`.

mod reader;
mod writer;

pub(crate) use reader::Kff;
pub(crate) use writer::{KffFormat, KffSink};
