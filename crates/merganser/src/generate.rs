//! Shell completions and manual pages.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::CommandFactory;

use crate::args::Cli;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "merganser", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// The pages of all commands into `directory`, or the first one to stdout.
pub(crate) fn man(directory: Option<&Path>) -> Result<ExitCode> {
    match directory {
        Some(directory) => {
            clap_mangen::generate_to(Cli::command(), directory).map_err(|error| {
                let (directory, reason) = (directory.display(), merganser_io::reason(&error));
                anyhow!("{directory}: cannot write the manual pages: {reason}")
            })?
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            io::stdout().lock().write_all(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
