//! `--dry-run` of commands whose work takes long.

use clap::Args;

/// The option that checks a run without starting it.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DryRunArgs {
    /// Check arguments, inputs and outputs, print what would be done on stdout, and write nothing
    ///
    /// Reads the first record of each input, indexes of references, and the headers of databases and sets. Errors and
    /// exit codes are those of the run. Damage further on, a full disk, and inputs from pipes are not noticed.
    #[arg(long, help_heading = "Messages", display_order = 899)]
    pub(crate) dry_run: bool,
}
