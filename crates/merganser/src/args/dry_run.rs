//! `--dry-run` of commands whose work takes long.

use clap::Args;

/// The option that checks a run without starting it.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DryRunArgs {
    /// Check arguments, inputs and outputs, print what would be done on stdout, and write nothing
    ///
    /// Reads the first record of each input, the first lines of maps, references and their indexes, and the headers of
    /// databases and sets. Errors and exit codes are those of the run. Not checked are inputs from pipes, a full disk, and
    /// everything that depends on more than this, such as damage further on, taxa of genomes, and the memory that genomes
    /// of databases and sets need.
    #[arg(long, help_heading = "Messages", display_order = 899)]
    pub(crate) dry_run: bool,
}
