//! `merganser extract`.

mod outputs;
mod page;
mod reads;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::ExtractCommand;
use crate::console::Console;

pub(crate) fn run(command: &ExtractCommand, console: &Console) -> Result<ExitCode> {
    match command {
        ExtractCommand::Reads(args) => reads::run(args, console),
    }
}
