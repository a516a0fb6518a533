//! `merganser devices`.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;

/// What there is to compute on, and why a GPU cannot be used.
pub(crate) fn run() -> Result<ExitCode> {
    write!(io::stdout().lock(), "{}", merganser_gpu::doctor())?;
    Ok(ExitCode::SUCCESS)
}
