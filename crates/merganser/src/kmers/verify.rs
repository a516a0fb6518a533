//! `merganser kmers verify`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use merganser_kmers::Error;
use merganser_run::Cancel;

use super::{histogram, tables};
use crate::args::kmers::VerifyArgs;
use crate::console::Console;
use crate::{common, interrupt};

/// Checks every table, also after one that is damaged.
pub(super) fn run(args: &VerifyArgs, console: &Console) -> Result<ExitCode> {
    let cancel = interrupt::cancel_on_interrupt();
    let mut sound = true;
    for path in &args.tables {
        match check(path, args, &cancel) {
            Ok(()) => common::print(format!("{}: ok\n", path.display()))?,
            // That no thread can be started is no table's fault.
            Err(error) if cancel.is_cancelled() || is_of_threads(&error) => {
                return Err(error);
            }
            Err(error) => {
                console.error(error);
                sound = false;
            }
        }
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether a thread could not be started.
fn is_of_threads(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Start(_) | Error::Io(merganser_io::Error::Start(_))))
}

fn check(path: &Path, args: &VerifyArgs, cancel: &Cancel) -> Result<()> {
    let table = tables::open_pieces(&[path], &args.resources, cancel)?;
    table[0].verify(tables::resources(&args.resources, None).threads, cancel)?;
    if table[0].as_mgk().is_some() {
        return Ok(());
    }
    // Formats without checksums: all k-mers are read as other commands read them, and counted.
    let description = table[0].description().clone();
    let histogram = histogram::read(&table, &args.resources, cancel)?;
    let found = histogram.distinct(1, u32::MAX);
    match description.kmers {
        Some(kmers) if found != kmers => {
            let reason = format!("it holds {found} k-mers, and its header says {kmers}");
            Err(Error::Table { path: path.to_owned(), reason }.into())
        }
        _ => Ok(()),
    }
}
