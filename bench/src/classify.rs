//! `merganser-bench classify`: accuracy and speed compared with Kraken 2, with the same genomes and taxonomy.

mod abundance;
mod accuracy;
mod data;
mod kraken;
mod real;
mod speed;
mod tools;

use anyhow::Result;

/// `merganser-bench classify …`
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Score reads simulated from known genomes, with several lengths and error rates, also for genomes left out of
    /// the database
    Accuracy(Box<accuracy::Args>),
    /// Build databases and classify reads, in turn with Kraken 2; print times, peaks and ratios
    Speed(Box<speed::Args>),
}

/// Runs a `classify` command.
pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Accuracy(args) => accuracy::run(args),
        Command::Speed(args) => speed::run(args),
    }
}
