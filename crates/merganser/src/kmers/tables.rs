//! Opening tables, and what a run on them may use.

use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_kmers::algebra;
use merganser_kmers::tables::AnyTable;
use merganser_run::{Cancel, Resources};

use crate::args::device::DeviceArgs;
use crate::args::kmers::TableArgs;
use crate::common;

/// What `args` allow.
pub(super) fn resources(args: &TableArgs, device: Option<&DeviceArgs>) -> Resources {
    common::resources(args.threads.number(), args.memory, args.tmp_dir.as_deref(), device)
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
