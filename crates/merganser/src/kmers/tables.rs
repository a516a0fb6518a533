//! Opening of tables, and the context of their commands.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_kmers::Error;
use merganser_kmers::algebra::{self, Cut};
use merganser_kmers::tables::{AnyTable, Database};
use merganser_run::Context;

use crate::args::device::DeviceArgs;
use crate::args::kmers::TableArgs;
use crate::common;
use crate::failure::usage;

/// Returns the context of a run.
pub(super) fn context(args: &TableArgs, device: Option<&DeviceArgs>) -> Context {
    common::context(args.threads.number(), args.memory, args.tmp_dir.as_deref(), device)
}

/// Returns the files of tables.
pub(super) fn files(tables: &[AnyTable]) -> Vec<PathBuf> {
    tables.iter().flat_map(AnyTable::files).collect()
}

/// Parses operands, `TABLE[:MIN..MAX]`, into paths and bounds.
///
/// # Errors
/// If an operand is invalid, or stdin is given twice.
pub(super) fn operands(texts: &[OsString]) -> Result<(Vec<PathBuf>, Vec<Cut>)> {
    let (mut paths, mut cuts) = (Vec::new(), Vec::new());
    for text in texts {
        match algebra::parse_operand(text) {
            Ok((path, cut)) => {
                paths.push(path);
                cuts.push(cut);
            }
            Err(what) => return usage(format!("{}: {what}", text.display())),
        }
    }
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Error::from(merganser_io::Error::StdinTwice).into());
    }
    Ok((paths, cuts))
}

/// Returns the indices of two operands that are the same table with the same bounds, under any names; pipes do not
/// count.
pub(super) fn repeated(paths: &[PathBuf], cuts: &[Cut]) -> Option<[usize; 2]> {
    let mut seen = HashMap::new();
    paths.iter().zip(cuts).enumerate().find_map(|(place, (path, cut))| {
        let database = Database::stem(path).map(|stem| Database::files(&stem));
        let file = database.map_or_else(|| path.clone(), |[first, _]| first);
        let at = std::fs::metadata(file).ok().filter(|at| !at.file_type().is_fifo())?;
        let before = *seen.entry((at.dev(), at.ino(), cut.least, cut.most)).or_insert(place);
        (before != place).then_some([before, place])
    })
}

/// Opens tables.
///
/// # Errors
/// If a table cannot be opened, or stdin is given twice.
pub(super) fn open(paths: &[impl AsRef<Path>], args: &TableArgs) -> Result<Vec<AnyTable>> {
    merganser_run::raise_open_file_limit();
    if let Some(bounded) = paths.iter().find(|path| has_bounds(path.as_ref())) {
        return usage(format!(
            "{}: this command takes no bounds of counts: merganser kmers union makes a table with them",
            bounded.as_ref().display()
        ));
    }
    as_told(algebra::open_tables(paths, !args.forward_only, &context(args, None))?, args)
}

/// Whether a path is that of a table followed by bounds of its counts.
fn has_bounds(path: &Path) -> bool {
    let table = |(table, _): (PathBuf, Cut)| table != path && table.exists();
    !path.exists() && algebra::parse_operand(path.as_os_str()).is_ok_and(table)
}

/// Opens a table that is read more than once.
///
/// # Errors
/// Returns the errors of [`open`], and an error if a text from a pipe cannot be stored.
pub(super) fn open_for_passes(path: &Path, args: &TableArgs) -> Result<Vec<AnyTable>> {
    let context = context(args, None);
    let keep = |table: AnyTable| table.kept(&context);
    let tables = open(&[path], args)?;
    Ok(tables.into_iter().map(keep).collect::<Result<_, _>>()?)
}

/// Opens tables that may be shards or ranges.
///
/// # Errors
/// Returns the errors of [`open`].
pub(super) fn open_pieces(paths: &[impl AsRef<Path>], args: &TableArgs) -> Result<Vec<AnyTable>> {
    merganser_run::raise_open_file_limit();
    as_told(algebra::open_pieces(paths, !args.forward_only, &context(args, None))?, args)
}

fn as_told(tables: Vec<AnyTable>, args: &TableArgs) -> Result<Vec<AnyTable>> {
    if !args.hpc {
        return Ok(tables);
    }
    Ok(tables.into_iter().map(AnyTable::of_homopolymer_compressed).collect::<Result<_, _>>()?)
}
