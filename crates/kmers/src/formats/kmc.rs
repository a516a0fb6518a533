//! KMC databases: two files with a common name. The layouts are in `docs/reference/formats.md`.

mod reader;
mod writer;

use std::path::{Path, PathBuf};

pub use reader::Database;
pub(crate) use writer::{KmcFormat, KmcSink, Layout};

/// Returns the two files of the database `path`: the file of prefixes and the file of suffixes.
pub(crate) fn names(path: &Path) -> [PathBuf; 2] {
    ["kmc_pre", "kmc_suf"].map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(suffix);
        PathBuf::from(name)
    })
}
