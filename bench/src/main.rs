//! Merganser's benchmarks: simulates sequencing data from a seed, and runs merganser and comparable tools on the same
//! files.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr, reason = "progress is written to stderr")]

mod all;
mod classify;
mod count;
mod deplete;
mod filter;
mod generate;
mod map;
mod measure;
mod rng;
mod spectrum;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "merganser-bench", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate genomes and reads from a seed; the bytes do not depend on the number of threads
    #[command(subcommand)]
    Gen(generate::Command),
    /// Measure the rows of bench/rows.tsv, merganser and other programs in turn; print rows of measurements.tsv
    All(all::Args),
    /// Count k-mers with merganser and other counters in turn; print medians and ratios
    Count(Box<count::Args>),
    /// Classify with merganser and Kraken 2: accuracy, speed
    #[command(subcommand)]
    Classify(classify::Command),
    /// Measure the time of the filter's methods and edlib, or count wrong decisions
    #[command(subcommand)]
    Filter(filter::Command),
    /// Remove a host's reads with merganser and Deacon in turn
    Deplete(deplete::Args),
    /// Map reads with merganser, with each of its filters, and with RazerS3 in turn
    Map(map::Args),
    /// Fit the histogram model to simulated genomes; print right and wrong results, and warnings
    Spectrum(spectrum::Args),
    /// Run a command and write its time and peak memory as JSON (used by the other commands)
    #[command(hide = true)]
    Measure(measure::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Gen(command) => generate::run(&command),
        Command::All(args) => all::run(&args),
        Command::Count(args) => count::run(&args),
        Command::Classify(command) => classify::run(&command),
        Command::Filter(command) => filter::run(&command),
        Command::Deplete(args) => deplete::run(&args),
        Command::Map(args) => map::run(&args),
        Command::Spectrum(args) => spectrum::run(&args),
        Command::Measure(args) => measure::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("merganser-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
