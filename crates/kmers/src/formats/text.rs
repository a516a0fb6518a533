//! Tables as text: `KMER COUNT` lines, and FASTA whose headers are counts.

mod reader;
mod writer;

pub(crate) use reader::{Text, is_dump};
pub(crate) use writer::{Style, TextFormat};
