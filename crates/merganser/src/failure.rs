//! Conversion of errors to messages on stderr and exit codes.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;
use merganser_io::check_output;
use merganser_run::{ConfigError, Fault, FaultKind, with_names};

use crate::args::Cli;
use crate::console::{Console, Level};
use crate::interrupt;

/// A usage error that clap cannot detect.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Returns a usage error.
pub(crate) fn usage<T>(message: impl Into<String>) -> anyhow::Result<T> {
    Err(Usage(message.into()).into())
}

/// Refuses the first of these options that was given.
///
/// # Errors
/// A usage error with the text that `message` makes of that option.
pub(crate) fn refuse_given(
    options: &[(bool, &str)],
    message: impl FnOnce(&str) -> String,
) -> anyhow::Result<()> {
    match options.iter().find(|(given, _)| *given) {
        Some((_, option)) => usage(message(option)),
        None => Ok(()),
    }
}

/// Prints the error of a command line, or the help that was requested.
pub(crate) fn of_arguments(error: &clap::Error) -> ExitCode {
    if error.kind() != ErrorKind::InvalidUtf8 {
        if let (false, Err(error)) = (error.use_stderr(), check_output(Path::new("-"))) {
            Console::new(Level::Error).error(error);
            return ExitCode::FAILURE;
        }
        error.exit();
    }
    // File names may have any bytes; clap does not tell which argument failed.
    let foreign = std::env::args_os().filter(|argument| argument.to_str().is_none());
    let shown: Vec<String> = foreign.map(|argument| format!("{argument:?}")).collect();
    Console::new(Level::Error).error(format_args!(
        "an argument that must be a number, a name or text is not UTF-8: {}",
        shown.join(", ")
    ));
    ExitCode::from(2)
}

/// Returns the error as an error of one of Merganser's crates, if it is one.
fn fault(error: &anyhow::Error) -> Option<&dyn Fault> {
    fn of<E: Fault>(error: &anyhow::Error) -> Option<&dyn Fault> {
        error.downcast_ref::<E>().map(|error| error as &dyn Fault)
    }
    of::<merganser_count::Error>(error)
        .or_else(|| of::<merganser_kmers::Error>(error))
        .or_else(|| of::<merganser_filter::Error>(error))
        .or_else(|| of::<merganser_classify::Error>(error))
        .or_else(|| of::<merganser_kraken2::Error>(error))
        .or_else(|| of::<merganser_library::Error>(error))
        .or_else(|| of::<merganser_taxreport::Error>(error))
        .or_else(|| of::<merganser_taxonomy::Error>(error))
        .or_else(|| of::<merganser_map::Error>(error))
        .or_else(|| of::<merganser_deplete::Error>(error))
        .or_else(|| of::<merganser_search::Error>(error))
        .or_else(|| of::<merganser_assembly::Error>(error))
        .or_else(|| of::<merganser_io::Error>(error))
        .or_else(|| of::<ConfigError>(error))
}

/// Returns a message in one line, with the names of options on the command line.
pub(crate) fn message(error: &anyhow::Error) -> String {
    // The messages of our crates include their causes. A plain system error is from stdout, to which texts are
    // written as they are made; errors of files come with file names.
    let plain = error.chain().next().and_then(|error| error.downcast_ref::<io::Error>());
    let other = || match plain {
        Some(error) if error.raw_os_error().is_some() => {
            format!("stdout: cannot write: {}", merganser_io::reason(error))
        }
        _ => format!("{error:#}"),
    };
    with_flags(&fault(error).map_or_else(other, ToString::to_string))
}

/// Replaces the names of fields in a message of a crate by options of the command line.
pub(crate) fn with_flags(message: &str) -> String {
    with_names(message, |field| {
        Some(match field {
            "k" => "-k".to_owned(),
            "w" => "-w".to_owned(),
            "threshold" => "-e".to_owned(),
            "read_group" => "-R".to_owned(),
            "output" => "-o".to_owned(),
            "temp_dir" => "--tmp-dir".to_owned(),
            _ => {
                let name = field.replace('_', "-");
                return has_option(&Cli::command(), &name).then(|| format!("--{name}"));
            }
        })
    })
}

/// Whether a command or one of its subcommands has this option.
fn has_option(command: &clap::Command, name: &str) -> bool {
    let is_named = |argument: &clap::Arg| argument.get_long() == Some(name);
    command.get_arguments().any(is_named)
        || command.get_subcommands().any(|command| has_option(command, name))
}

/// Prints the error and returns the exit code. Nothing is printed if the reader of our output is gone; if the user
/// stopped the run, only that is reported.
pub(crate) fn report(error: &anyhow::Error, console: &Console) -> ExitCode {
    // Checked first: an interrupted run may fail with an error of a pipe, and the reader of our output may have
    // been stopped, too.
    if interrupt::happened() {
        return interrupt::end(console);
    }
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    console.last_error(message(error));
    let usage = error.is::<Usage>() || kind(error) == FaultKind::Config;
    ExitCode::from(if usage { 2 } else { 1 })
}

fn kind(error: &anyhow::Error) -> FaultKind {
    let system = || error.downcast_ref().map(merganser_io::kind_of);
    fault(error).map(Fault::kind).or_else(system).unwrap_or(FaultKind::Failed)
}

/// Whether the reader of the last output is gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    kind(error) == FaultKind::ClosedPipe
}
