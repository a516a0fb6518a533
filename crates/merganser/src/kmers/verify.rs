//! `merganser kmers verify`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use merganser_kmers::Error;

use super::{histogram, tables};
use crate::args::kmers::VerifyArgs;
use crate::console::Console;
use crate::interrupt;
use crate::verify::verify_each;

/// Checks every table, even after a damaged one.
pub(super) fn run(args: &VerifyArgs, console: &Console) -> Result<ExitCode> {
    let cancel = interrupt::cancel_on_interrupt();
    verify_each(&args.tables, &cancel, console, |path| check(path, args))
}

fn check(path: &Path, args: &VerifyArgs) -> Result<()> {
    let table = tables::open_pieces(&[path], &args.resources)?;
    table[0].verify(&tables::context(&args.resources, None))?;
    if table[0].as_mgk().is_some() {
        return Ok(());
    }
    // Formats without checksums: reads and counts all k-mers, as other commands do.
    let description = table[0].description().clone();
    let histogram = histogram::read(&table, &args.resources)?;
    let found = histogram.distinct(1, u32::MAX);
    match description.kmers {
        Some(kmers) if found != kmers => {
            let reason = format!("it has {found} k-mers, but its header says {kmers}");
            Err(Error::Table { path: path.to_owned(), reason }.into())
        }
        _ => Ok(()),
    }
}
