//! `merganser kmers verify`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use merganser_count::Table;

use crate::args::kmers::VerifyArgs;
use crate::console::Console;

/// Checks every table, also after one that is damaged.
pub(super) fn run(args: &VerifyArgs, console: &Console) -> Result<ExitCode> {
    let mut sound = true;
    for path in &args.tables {
        match Table::open(path).and_then(|table| table.verify()) {
            Ok(()) => writeln!(std::io::stdout().lock(), "{}: ok", path.display())?,
            Err(error) => {
                console.error(error);
                sound = false;
            }
        }
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
