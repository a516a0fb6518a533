//! Opening tables, and what a run on them may use.

use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_kmers::algebra::{self, Resources};
use merganser_kmers::tables::AnyTable;
use merganser_run::Cancel;

use crate::args::kmers::TableArgs;

/// What `args` allow.
pub(super) fn resources(args: &TableArgs) -> Resources {
    Resources {
        threads: merganser_run::resolve_threads(args.threads.number()),
        memory: args.memory.unwrap_or_else(merganser_run::default_budget),
        tmp_dir: args.tmp_dir.clone().unwrap_or_else(std::env::temp_dir),
    }
}

/// The files of tables.
pub(super) fn files(tables: &[AnyTable]) -> Vec<PathBuf> {
    tables.iter().flat_map(AnyTable::files).collect()
}

/// Opens tables.
///
/// # Errors
/// If one cannot be opened, or stdin stands for two.
pub(super) fn open(
    paths: &[impl AsRef<Path>],
    args: &TableArgs,
    cancel: &Cancel,
) -> Result<Vec<AnyTable>> {
    merganser_run::raise_open_file_limit();
    Ok(algebra::open_tables(paths, !args.forward_only, cancel)?)
}
