//! KMC databases: two files of a common name. Layouts in `docs/formats.md`.

mod reader;
mod writer;

pub use reader::Database;
pub(crate) use writer::{KmcFormat, KmcSink, Layout};
