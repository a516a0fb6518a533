//! Shell completions and manual pages.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use merganser_io::OutputSet;

use crate::args::Cli;
use crate::common;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "merganser", &mut script);
    common::print(script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of all commands to `directory`, or prints the main page on stdout.
pub(crate) fn man(directory: Option<&Path>) -> Result<ExitCode> {
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    match directory {
        Some(directory) => {
            let outputs = OutputSet::new();
            write_pages(&cli, directory, &outputs)?;
            outputs.commit_last()?;
        }
        None => common::print(Page::of(&cli)?.text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command and its subcommands.
fn write_pages(command: &Command, directory: &Path, outputs: &OutputSet) -> Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below, directory, outputs)?;
    }
    let Page { name, text } = Page::of(command)?;
    let mut output = outputs.file(directory.join(name))?;
    output.write_all(&text)?;
    output.commit()?;
    Ok(())
}

/// The manual page of a command.
struct Page {
    /// The file name of the page.
    name: String,
    text: Vec<u8>,
}

impl Page {
    /// Makes a page. Headings in the text after the options of a command's help become sections.
    fn of(command: &Command) -> io::Result<Page> {
        let extra =
            command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
        let man = Man::new(command.clone().after_help(None).after_long_help(None));
        let mut text = Vec::new();
        man.render(&mut text)?;
        for line in extra.iter().flat_map(|extra| extra.lines()) {
            match line.strip_suffix(':').filter(|title| !title.starts_with(' ')) {
                Some(title) => writeln!(text, ".fi\n.SH {}\n.nf", title.to_uppercase())?,
                None => writeln!(text, "{}", escaped(line))?,
            }
        }
        if extra.is_some() {
            text.extend_from_slice(b".fi\n");
        }
        Ok(Page { name: man.get_filename(), text })
    }
}

/// Escapes a line, so that roff shows it literally.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\\\").replace('-', "\\-").replace('`', "\\(ga");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}
