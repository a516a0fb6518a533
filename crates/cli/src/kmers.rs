//! `merganser kmers`: what is in a table.

mod dump;
mod histogram;
mod info;
mod query;
mod verify;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::KmersCommand;
use crate::console::Console;

pub(crate) fn run(command: &KmersCommand, console: &Console) -> Result<ExitCode> {
    match command {
        KmersCommand::Info(args) => info::run(args),
        KmersCommand::Dump(args) => dump::run(args),
        KmersCommand::Histogram(args) => histogram::run(args, console),
        KmersCommand::Query(args) => query::run(args),
        KmersCommand::Verify(args) => verify::run(args, console),
    }
}
