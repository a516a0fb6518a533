//! KMC databases: two files of a common name. Layouts in `docs/formats.md`.

mod reader;
mod writer;

use std::path::{Path, PathBuf};

pub use reader::Database;
pub(crate) use writer::{KmcFormat, KmcSink, Layout};

/// The two files of the database `path`: of prefixes, and of suffixes.
pub(crate) fn names(path: &Path) -> [PathBuf; 2] {
    ["kmc_pre", "kmc_suf"].map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(suffix);
        PathBuf::from(name)
    })
}
