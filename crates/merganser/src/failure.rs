//! From an error to its line on stderr and the exit code.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;
use merganser_io::check_output;
use merganser_run::{ConfigError, Fault, FaultKind, is_to_be_told, with_names};

use crate::args::Cli;
use crate::console::{Console, Level};
use crate::interrupt;

/// Options that do not go together in a way that clap cannot say.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of usage.
pub(crate) fn usage<T>(message: impl Into<String>) -> anyhow::Result<T> {
    Err(Usage(message.into()).into())
}

/// Refuses the first of these options that was given.
///
/// # Errors
/// What `message` says of that option.
pub(crate) fn refuse_given(
    options: &[(bool, &str)],
    message: impl FnOnce(&str) -> String,
) -> anyhow::Result<()> {
    match options.iter().find(|(given, _)| *given) {
        Some((_, option)) => usage(message(option)),
        None => Ok(()),
    }
}

/// Says what is wrong with the arguments, or prints the help that was asked for.
pub(crate) fn of_arguments(error: &clap::Error) -> ExitCode {
    if error.kind() != ErrorKind::InvalidUtf8 {
        if let (false, Err(error)) = (error.use_stderr(), check_output(Path::new("-"))) {
            Console::new(Level::Error).error(error);
            return ExitCode::FAILURE;
        }
        error.exit();
    }
    // Names of files may have any bytes; clap does not say which argument it was.
    let foreign = std::env::args_os().filter(|argument| argument.to_str().is_none());
    let shown: Vec<String> = foreign.map(|argument| format!("{argument:?}")).collect();
    Console::new(Level::Error).error(format_args!(
        "a number, name or text is wanted where an argument is not UTF-8: {}",
        shown.join(", ")
    ));
    ExitCode::from(2)
}

/// The error of a crate of ours, if it is one.
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
        .or_else(|| of::<merganser_assembly::Error>(error))
        .or_else(|| of::<merganser_io::Error>(error))
        .or_else(|| of::<ConfigError>(error))
}

/// What went wrong, in a line, which names options as the command line does.
pub(crate) fn message(error: &anyhow::Error) -> String {
    // Their messages hold their causes. What the system said by itself is of stdout, to which texts go
    // as they are made; of files it comes with their names.
    let other = || match error.downcast_ref::<io::Error>() {
        Some(error) if error.raw_os_error().is_some() => {
            format!("stdout: cannot write: {}", merganser_io::reason(error))
        }
        _ => format!("{error:#}"),
    };
    with_flags(&fault(error).map_or_else(other, ToString::to_string))
}

/// A message of a crate of ours, with the options of the command line in the places of fields.
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

/// Whether a command, or one of its own, has an option of this name.
fn has_option(command: &clap::Command, name: &str) -> bool {
    let is_named = |argument: &clap::Arg| argument.get_long() == Some(name);
    command.get_arguments().any(is_named)
        || command.get_subcommands().any(|command| has_option(command, name))
}

/// Says what went wrong, unless a reader of our output went away or the user stopped the run, who
/// both know.
pub(crate) fn report(error: &anyhow::Error, console: &Console) -> ExitCode {
    // Who waits for a pipe then sees that as an error of the pipe, and who reads our output may have
    // been stopped too.
    if interrupt::happened() {
        return interrupt::end(console);
    }
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    if is_to_be_told() {
        console.error(message(error));
    }
    let usage = error.is::<Usage>() || kind(error) == FaultKind::Config;
    ExitCode::from(if usage { 2 } else { 1 })
}

fn kind(error: &anyhow::Error) -> FaultKind {
    let system = || error.downcast_ref().map(merganser_io::kind_of);
    fault(error).map(Fault::kind).or_else(system).unwrap_or(FaultKind::Failed)
}

/// Whether the reader of the last output went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    kind(error) == FaultKind::ClosedPipe
}
