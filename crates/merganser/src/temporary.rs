//! The directory for temporary files, which is created if missing.

use std::io;

use anyhow::{Result, anyhow};
use merganser_io::MadeDirectories;
use merganser_run::Context;

/// Creates the temporary directory if it is missing. It is removed when the result is dropped.
///
/// # Errors
/// If it cannot be created.
pub(crate) fn ensure(context: &Context) -> Result<MadeDirectories> {
    MadeDirectories::ensure(&context.temp_dir).map_err(|error| failed(context, &error))
}

/// Checks that the temporary directory could be created, without creating it, and that an existing one is writable if it
/// `is_given`: many runs never write to the default.
///
/// # Errors
/// Names the directory.
pub(crate) fn check(context: &Context, is_given: bool) -> Result<()> {
    let directory = &context.temp_dir;
    if !is_given && directory.exists() {
        return Ok(());
    }
    MadeDirectories::check(directory).map_err(|error| failed(context, &error))
}

fn failed(context: &Context, error: &io::Error) -> anyhow::Error {
    let directory = &context.temp_dir;
    let cannot = match directory.is_dir() {
        true => "create temporary files in this directory",
        false => "create this directory for temporary files",
    };
    anyhow!(
        "{}: cannot {cannot}: {}; choose another with --tmp-dir",
        directory.display(),
        merganser_io::reason(error)
    )
}
