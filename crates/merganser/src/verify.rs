//! Verification of several files: k-mer tables and databases.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use merganser_run::Cancel;

use crate::console::{Console, harmless};
use crate::{common, failure};

/// Checks every file, even after a damaged one, and prints the result of each.
///
/// # Errors
/// If the run is cancelled, stdout cannot be written, or there is not enough memory, threads or open files, which is
/// not an error of a file.
pub(crate) fn verify_each(
    paths: &[PathBuf],
    cancel: &Cancel,
    console: &Console,
    check: impl Fn(&Path) -> Result<()>,
) -> Result<ExitCode> {
    let mut sound = true;
    for path in paths {
        match check(path) {
            Ok(()) => common::print(format!("{}: ok\n", harmless(&path.to_string_lossy())))?,
            Err(error) if cancel.is_cancelled() || is_of_the_run(&error) => return Err(error),
            Err(error) => {
                console.error(failure::message(&error));
                sound = false;
            }
        }
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether the error is a lack of memory, threads or open files.
fn is_of_the_run(error: &anyhow::Error) -> bool {
    use merganser_classify::Error as Classify;
    use merganser_io::Error::Start;
    use merganser_kmers::Error as Kmers;
    use merganser_kraken2::Error as Kraken2;
    let of_tables = matches!(
        error.downcast_ref(),
        Some(Kmers::Memory(_) | Kmers::Start(_) | Kmers::Io(Start(_)))
    );
    let of_databases =
        matches!(error.downcast_ref(), Some(Classify::Memory(_) | Classify::Start(_)));
    let of_kraken2 = matches!(error.downcast_ref(), Some(Kraken2::Memory(_) | Kraken2::Start(_)));
    of_tables
        || of_databases
        || of_kraken2
        || error.chain().filter_map(|cause| cause.downcast_ref()).any(merganser_io::lacks_files)
}
