//! Jellyfish 2's binary format (`binary/sorted`): a header in JSON, and records of a k-mer and its count, little-endian,
//! in the order of a hash. The hash multiplies the bits of a k-mer by a binary matrix that is in the header. The layout
//! is in `docs/reference/formats.md`.

mod header;
mod reader;
mod writer;

pub(crate) use header::is_header;
pub(crate) use reader::Jf;
pub(crate) use writer::{JfFormat, JfSink};
