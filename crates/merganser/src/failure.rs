//! From an error to its line on stderr and the exit code.

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;

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

const INTERRUPTED: u8 = 130;

/// Says what is wrong with the arguments, or prints the help that was asked for.
pub(crate) fn of_arguments(error: &clap::Error) -> ExitCode {
    if error.kind() != ErrorKind::InvalidUtf8 {
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

/// What went wrong, in a line.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let count = error.downcast_ref::<merganser_count::Error>().map(ToString::to_string);
    let kmers = error.downcast_ref::<merganser_kmers::Error>().map(ToString::to_string);
    let filter = error.downcast_ref::<merganser_filter::Error>().map(ToString::to_string);
    let classify = error.downcast_ref::<merganser_classify::Error>().map(ToString::to_string);
    let map = error.downcast_ref::<merganser_map::Error>().map(ToString::to_string);
    // Their messages hold their causes.
    count.or(kmers).or(filter).or(classify).or(map).unwrap_or_else(|| format!("{error:#}"))
}

/// Says what went wrong, unless a reader of our output went away or the user stopped the run, who
/// both know.
pub(crate) fn report(error: &anyhow::Error, console: &Console) -> ExitCode {
    let count = error.downcast_ref::<merganser_count::Error>();
    let kmers = error.downcast_ref::<merganser_kmers::Error>();
    let filter = error.downcast_ref::<merganser_filter::Error>();
    let classify = error.downcast_ref::<merganser_classify::Error>();
    let map = error.downcast_ref::<merganser_map::Error>();
    // Who waits for a pipe then sees that as an error of the pipe, and who reads our output may have
    // been stopped too.
    if interrupt::happened() {
        if interrupt::is_to_be_said() {
            console.error(merganser_count::Error::Cancelled);
        }
        return ExitCode::from(INTERRUPTED);
    }
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    console.error(message(error));
    let usage = error.is::<Usage>()
        || matches!(count, Some(merganser_count::Error::Config(_)))
        || matches!(kmers, Some(merganser_kmers::Error::Config(_)))
        || matches!(filter, Some(merganser_filter::Error::Config(_)))
        || matches!(classify, Some(merganser_classify::Error::Config(_)))
        || matches!(map, Some(merganser_map::Error::Config(_)));
    ExitCode::from(if usage { 2 } else { 1 })
}

/// Whether the reader of the last output went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    use merganser_count::Error;
    use merganser_filter::Error as FilterError;
    let system = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    let count = match error.downcast_ref() {
        Some(Error::Io(error)) => error.is_broken_pipe(),
        Some(Error::Output(error)) => system(error),
        _ => false,
    };
    let kmers = match error.downcast_ref() {
        Some(merganser_kmers::Error::Io(error)) => error.is_broken_pipe(),
        Some(merganser_kmers::Error::Output(error)) => system(error),
        _ => false,
    };
    let filter = match error.downcast_ref() {
        Some(FilterError::Io(error)) => error.is_broken_pipe(),
        Some(FilterError::Output(error)) => system(error),
        _ => false,
    };
    let classify = match error.downcast_ref() {
        Some(merganser_classify::Error::Io(error)) => error.is_broken_pipe(),
        Some(merganser_classify::Error::Output(error)) => system(error),
        _ => false,
    };
    let map = match error.downcast_ref() {
        Some(merganser_map::Error::Io(error)) => error.is_broken_pipe(),
        Some(merganser_map::Error::Output(error)) => system(error),
        _ => false,
    };
    count
        || kmers
        || filter
        || classify
        || map
        || error.downcast_ref::<io::Error>().is_some_and(system)
        || error.downcast_ref::<merganser_io::Error>().is_some_and(|error| error.is_broken_pipe())
}
