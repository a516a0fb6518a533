//! The directory for temporary files, made if it is missing.

use anyhow::{Result, anyhow};
use merganser_count::{Config, Storage};
use merganser_io::MadeDirectories;

/// Makes the run's temporary directory if it is not there and may be needed; it goes with what this
/// gives.
///
/// # Errors
/// If it cannot be made.
pub(super) fn ensure(config: &Config) -> Result<MadeDirectories> {
    if config.storage == Storage::Ram {
        return Ok(MadeDirectories::default());
    }
    MadeDirectories::ensure(&config.tmp_dir).map_err(|error| {
        anyhow!(
            "{}: cannot make this directory for temporary files: {}; choose another with --tmp-dir",
            config.tmp_dir.display(),
            merganser_io::reason(&error)
        )
    })
}
