//! The directory for temporary files, which is created if missing.

use std::io;

use anyhow::{Result, anyhow};
use merganser_count::{Config, Storage};
use merganser_io::MadeDirectories;
use merganser_run::Context;

/// Creates the temporary directory if it is missing and may be needed. It is removed when the result is dropped.
///
/// # Errors
/// If it cannot be created.
pub(super) fn ensure(config: &Config, context: &Context) -> Result<MadeDirectories> {
    if config.storage == Storage::Ram {
        return Ok(MadeDirectories::default());
    }
    MadeDirectories::ensure(&context.temp_dir).map_err(|error| failed(context, &error))
}

/// Checks that the temporary directory could be created, without creating it.
///
/// # Errors
/// Returns the errors of [`ensure`].
pub(super) fn check(config: &Config, context: &Context) -> Result<()> {
    match config.storage {
        Storage::Ram => Ok(()),
        _ => MadeDirectories::check(&context.temp_dir).map_err(|error| failed(context, &error)),
    }
}

fn failed(context: &Context, error: &io::Error) -> anyhow::Error {
    anyhow!(
        "{}: cannot create this directory for temporary files: {}; choose another with --tmp-dir",
        context.temp_dir.display(),
        merganser_io::reason(error)
    )
}
