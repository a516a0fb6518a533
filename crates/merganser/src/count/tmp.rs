//! The directory for temporary files, made if it is missing.

use anyhow::{Result, anyhow};
use merganser_count::{Config, Storage};
use merganser_io::MadeDirectories;
use merganser_run::Resources;

/// Makes the run's temporary directory if it is not there and may be needed; it goes with what this
/// gives.
///
/// # Errors
/// If it cannot be made.
pub(super) fn ensure(config: &Config, resources: &Resources) -> Result<MadeDirectories> {
    if config.storage == Storage::Ram {
        return Ok(MadeDirectories::default());
    }
    MadeDirectories::ensure(&resources.temp_dir).map_err(|error| {
        anyhow!(
            "{}: cannot make this directory for temporary files: {}; choose another with --tmp-dir",
            resources.temp_dir.display(),
            merganser_io::reason(&error)
        )
    })
}
