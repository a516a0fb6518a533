//! `merganser`: counts the k-mers of sequencing reads and computes with their tables, classifies reads,
//! decides which pairs of a read and a reference segment are worth aligning, removes a host's reads, and
//! finds every place in a reference that a read matches, and every occurrence of a short pattern.
//!
//! This crate turns arguments into a job's configuration, shows progress and reports results. All
//! algorithms are in the crates that it uses.
#![forbid(unsafe_code)]

mod args;
mod bracken;
mod build;
mod classify;
mod colour;
mod common;
mod console;
mod count;
mod database;
mod db;
mod deplete;
mod devices;
mod dry_run;
mod eval;
mod extract;
mod failure;
mod files;
mod filter;
mod generate;
mod holds;
mod index;
mod interrupt;
mod kmers;
mod map;
mod pages;
mod progress;
mod report;
mod samples;
mod search;
mod taxa_by_name;
mod temporary;
mod verify;
mod version;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_run::Allocator;

use args::Command;
use console::{Console, Level};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator::new(merganser_io::remove_temporaries);

fn main() -> ExitCode {
    let started = Instant::now();
    merganser_run::share_heaps();
    match merganser_run::with_ample_stack(move || program(started)) {
        Ok(code) => code,
        Err(error) => failure::report(&error.into(), &Console::new(Level::Error)),
    }
}

/// Runs the program, on a thread with more stack than the process may have (`ulimit -s`).
fn program(started: Instant) -> ExitCode {
    if version::is_wanted() {
        return match common::print(version::long()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failure::report(&error, &Console::new(Level::Error)),
        };
    }
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(error) => return failure::of_arguments(&error),
    };
    let console = Console::of_program(cli.talk.level());
    match interrupt::handle_signals().and_then(|()| run(&cli.command, &console, started)) {
        Ok(code) => {
            console.print_warnings();
            code
        }
        Err(error) => failure::report(&error, &console),
    }
}

fn run(command: &Command, console: &Console, started: Instant) -> Result<ExitCode> {
    match command {
        Command::Count(args) => count::run(args, console, started),
        Command::Kmers { command } => kmers::run(command, console, started),
        Command::Filter(args) => filter::run(args, console, started),
        Command::Build(args) => build::run(args, console, started),
        Command::Classify(args) => classify::run(args, console, started),
        Command::Db { command } => db::run(command, console, started),
        Command::Report { command } => report::run(command, console),
        Command::Extract { command } => extract::run(command, console),
        Command::Eval(args) => eval::run(args, console),
        Command::Deplete { command } => deplete::run(command, console, started),
        Command::Index(args) => index::run(args, console, started),
        Command::Map(args) => map::run(args, console, started),
        Command::Search(args) => search::run(args, console, started),
        Command::Devices => devices::run(),
        Command::Completions { shell } => generate::completions(*shell),
        Command::Man { directory } => generate::man(directory.as_deref()),
    }
}
