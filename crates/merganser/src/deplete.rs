//! `merganser deplete`: sets of a host's minimizers, and filtering of reads with them.

mod certificate;
mod filter;
mod page;
mod sets;
mod sheet;
mod summary;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

use crate::args::DepleteCommand;
use crate::console::Console;

pub(crate) fn run(
    command: &DepleteCommand,
    console: &Console,
    started: Instant,
) -> Result<ExitCode> {
    match command {
        DepleteCommand::Index(args) => sets::index(args, console),
        DepleteCommand::Filter(args) => filter::run(args, console, started),
        DepleteCommand::Union(args) => sets::operation(sets::Operation::Union, args, console),
        DepleteCommand::Diff(args) => sets::operation(sets::Operation::Diff, args, console),
        DepleteCommand::Intersect(args) => {
            sets::operation(sets::Operation::Intersect, args, console)
        }
        DepleteCommand::Info(args) => sets::info(args),
    }
}
