//! Converts the errors of jobs to the Python exceptions of `merganser/_errors.py`.

mod named;

use std::io;
use std::path::{Path, PathBuf};

use merganser_run::{Fault, FaultKind, with_names};
use pyo3::exceptions::{PyImportError, PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::temporary::{argument_of, is_temporary, with_arguments};
pub(crate) use named::Arguments;

/// The exception classes, by cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Argument,
    Input,
    NotFound,
    Output,
    Memory,
    Device,
    Internal,
}

impl Class {
    /// Returns the name of the class in Python.
    fn name(self) -> &'static str {
        match self {
            Class::Argument => "ArgumentError",
            Class::Input => "InputError",
            Class::NotFound => "FileNotFound",
            Class::Output => "OutputError",
            Class::Memory => "MemoryLimitError",
            Class::Device => "DeviceError",
            Class::Internal => "InternalError",
        }
    }

    /// Returns the class for an error of the system about a file that was to be read.
    fn of_file(source: &io::Error) -> Class {
        match source.kind() {
            io::ErrorKind::NotFound => Class::NotFound,
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::ReadOnlyFilesystem => Class::Output,
            io::ErrorKind::OutOfMemory => Class::Memory,
            _ => Class::Input,
        }
    }
}

/// The cause of an error: its class, the argument, the file, and the number of a record in it, from 1.
#[derive(Debug)]
pub(crate) struct Cause {
    class: Class,
    argument: Option<String>,
    file: Option<String>,
    record: Option<u64>,
}

impl Cause {
    /// Returns a cause without a file.
    pub(crate) fn of(class: Class) -> Cause {
        Cause { class, argument: None, file: None, record: None }
    }

    /// Returns a cause with a file.
    pub(crate) fn in_file(class: Class, path: &Path) -> Cause {
        Cause { file: Some(path.display().to_string()), ..Cause::of(class) }
    }

    /// Returns the cause of an error of the system about a file that was to be read.
    pub(crate) fn of_source(path: &Path, source: &io::Error) -> Cause {
        Cause::in_file(Class::of_file(source), path)
    }

    /// Returns the cause with the number of a record.
    pub(crate) fn at(self, record: u64) -> Cause {
        Cause { record: Some(record), ..self }
    }

    fn of_io(error: &merganser_io::Error) -> Cause {
        use merganser_io::Error as E;
        let (file, record) = error.place();
        let class = match error {
            E::Open { input, .. } if is_missing(Path::new(input)) => Class::NotFound,
            E::List { list, .. } if is_missing(list) => Class::NotFound,
            E::Create { .. } | E::Write { .. } | E::TemporaryDirectory { .. } => Class::Output,
            E::Temporary { action, .. } if *action == "write" => Class::Output,
            E::Window { .. } | E::LongRecord { .. } | E::RamFull { .. } => Class::Memory,
            E::OwnMates { .. } | E::StdinTwice => Class::Argument,
            E::Start(_) => Class::Internal,
            _ => Class::Input,
        };
        Cause { file, record, ..Cause::of(class) }
    }

    /// Returns the cause of an error of writing a result, which may wrap an error of the crate `io`.
    fn of_output(error: &io::Error) -> Cause {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<merganser_io::Error>()) {
            Some(inner) => Cause::of_io(inner),
            None => Cause::of(Class::Output),
        }
    }

    fn of_gpu(error: &merganser_gpu::Error) -> Cause {
        Cause::of(if error.is_out_of_memory() { Class::Memory } else { Class::Device })
    }
}

/// Whether nothing has this path.
fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        || path.metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// An error of a job that can be raised in Python: a [`Fault`] with a cause.
pub(crate) trait Failure: Fault {
    /// Returns the class and place of the error.
    fn origin(&self) -> Cause;
}

impl Failure for merganser_io::Error {
    fn origin(&self) -> Cause {
        Cause::of_io(self)
    }
}

impl Failure for merganser_run::ConfigError {
    fn origin(&self) -> Cause {
        Cause::of(Class::Argument)
    }
}

/// Implements [`Failure`] for the error type of a job.
macro_rules! failure {
    ($error:path, $($path:pat => $cause:expr),*) => {
        impl Failure for $error {
            fn origin(&self) -> Cause {
                use $error as Error;
                match self {
                    Error::Io(error) => Cause::of_io(error),
                    Error::Output(error) => Cause::of_output(error),
                    Error::Config(_) => Cause::of(Class::Argument),
                    Error::Memory(_) | Error::GpuMemory(_) => Cause::of(Class::Memory),
                    Error::Start(_) => Cause::of(Class::Internal),
                    $($path => $cause,)*
                    _ => Cause::of(Class::Input),
                }
            }
        }
    };
}

failure!(
    merganser_kmers::Error,
    Error::Gpu(error) => Cause::of_gpu(error),
    Error::TableTooLargeForMemory { path, .. } => Cause::in_file(Class::Memory, path),
    Error::Table { path, .. } => Cause::in_file(Class::Input, path),
    Error::File { path, source } => Cause::of_source(path, source)
);
failure!(
    merganser_count::Error,
    Error::Gpu(error) => Cause::of_gpu(error),
    Error::Table(error) => error.origin()
);
failure!(
    merganser_taxonomy::Error,
    Error::Content { path, .. } => Cause::in_file(Class::Input, path),
    Error::File { path, source } => Cause::of_source(path, source)
);
failure!(
    merganser_taxreport::Error,
    Error::Content { path, .. } => Cause::in_file(Class::Input, path),
    Error::File { path, source } => Cause::of_source(path, source),
    Error::Taxonomy(error) => error.origin()
);
failure!(
    merganser_library::Error,
    Error::Content { path, .. } => Cause::in_file(Class::Input, path),
    Error::File { path, source } => Cause::of_source(path, source),
    Error::Taxonomy(error) => error.origin()
);
failure!(
    merganser_kraken2::Error,
    Error::Content { path, .. } => Cause::in_file(Class::Input, path),
    Error::File { path, source } => Cause::of_source(path, source),
    Error::Gpu(error) => Cause::of_gpu(error),
    Error::Library(error) => error.origin(),
    Error::Report(error) => error.origin(),
    Error::Taxonomy(error) => error.origin()
);
failure!(
    merganser_classify::Error,
    Error::Content { path, .. } => Cause::in_file(Class::Input, path),
    Error::File { path, source } => Cause::of_source(path, source),
    Error::Gpu(error) => Cause::of_gpu(error),
    Error::Kraken2(error) => error.origin(),
    Error::Library(error) => error.origin(),
    Error::Report(error) => error.origin(),
    Error::Taxonomy(error) => error.origin()
);
failure!(merganser_filter::Error, Error::Gpu(error) => Cause::of_gpu(error));
failure!(
    merganser_map::Error,
    Error::File { path, source } => Cause::of_source(path, source),
    Error::Index { path, .. } => Cause::in_file(Class::Input, path),
    Error::Filter(error) => error.origin(),
    Error::Gpu(error) => Cause::of_gpu(error)
);
failure!(
    merganser_deplete::Error,
    Error::File { path, source } => Cause::of_source(path, source),
    Error::Set { path, .. } => Cause::in_file(Class::Input, path)
);
failure!(
    merganser_search::Error,
    Error::Content { path, .. } => Cause::in_file(Class::Input, path),
    Error::File { path, source } => Cause::of_source(path, source),
    Error::Gpu(error) => Cause::of_gpu(error),
    Error::Pattern { .. } => Cause::of(Class::Argument),
    Error::TooMany { .. } => Cause::of(Class::Memory)
);
failure!(
    merganser_assembly::Error,
    Error::Count(error) => error.origin(),
    Error::Kmers(error) => error.origin()
);

/// Converts an error to an exception.
pub(crate) fn raise(py: Python<'_>, error: &dyn Failure) -> PyErr {
    let mut cause = error.origin();
    match error.kind() {
        FaultKind::Cancelled => return PyKeyboardInterrupt::new_err("interrupted"),
        FaultKind::Config => cause.class = Class::Argument,
        FaultKind::ClosedPipe => cause.class = Class::Output,
        _ => {}
    }
    let message = error.to_string();
    let argument = match cause.class {
        Class::Argument | Class::Memory => first_field(&message),
        _ => None,
    };
    // Sequences have no file: the message names their argument.
    let sequences = argument_of(cause.file.as_deref().unwrap_or(&message)).map(str::to_owned);
    cause.file = cause.file.filter(|file| !is_temporary(Path::new(file)));
    let argument = argument.or(cause.argument.take()).or(sequences);
    exception(py, &with_keywords(&message), argument.as_deref(), &cause)
}

/// Remedies in messages, and what they are in Python.
const REMEDIES: [(&str, &str); 2] = [
    ("count with a minimum of 1", "count with min_count=1"),
    ("count with min_count 1, or histogram", "count with min_count=1"),
];

/// Replaces the names of fields in a message, which are in backticks, temporary files, and options of the program with
/// the names of the arguments.
pub(crate) fn with_keywords(message: &str) -> String {
    let message = with_names(&with_arguments(message), keyword);
    REMEDIES.iter().fold(message, |message, (remedy, own)| message.replace(remedy, own))
}

/// Returns the keyword argument for a field; `None` if the word is not the name of a field.
fn keyword(field: &str) -> Option<String> {
    let is_name = field
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit());
    match field {
        "temp_dir" => Some("tmp_dir".to_owned()),
        "threshold" => Some("e".to_owned()),
        field => (is_name && !field.is_empty()).then(|| field.to_owned()),
    }
}

/// Returns the keyword argument that a message names first.
fn first_field(message: &str) -> Option<String> {
    message.split('`').skip(1).step_by(2).find_map(keyword)
}

/// Returns an `ArgumentError` with the message `ARGUMENT: MESSAGE`.
pub(crate) fn wrong(py: Python<'_>, argument: &str, message: impl AsRef<str>) -> PyErr {
    let message = format!("{argument}: {}", message.as_ref());
    exception(py, &message, Some(argument), &Cause::of(Class::Argument))
}

/// Returns a `TypeError` with the message `ARGUMENT: MESSAGE`.
pub(crate) fn mistyped(argument: &str, message: impl AsRef<str>) -> PyErr {
    PyTypeError::new_err(format!("{argument}: {}", message.as_ref()))
}

/// Returns an `InputError` with this message, about a file if one is known.
pub(crate) fn malformed(py: Python<'_>, message: impl AsRef<str>, file: Option<&Path>) -> PyErr {
    let cause = match file {
        Some(path) => Cause::in_file(Class::Input, path),
        None => Cause::of(Class::Input),
    };
    exception(py, message.as_ref(), None, &cause)
}

/// Checks that the files or folders of an argument exist.
///
/// # Errors
/// A `FileNotFound` for the first that does not.
pub(crate) fn require(py: Python<'_>, argument: &str, paths: &[PathBuf]) -> PyResult<()> {
    let Some(path) = paths.iter().find(|path| is_missing(path)) else { return Ok(()) };
    let message = format!("{argument}: {}: no such file or directory", path.display());
    Err(exception(py, &message, Some(argument), &Cause::in_file(Class::NotFound, path)))
}

/// Returns the exception for a panic.
pub(crate) fn panicked(py: Python<'_>) -> PyErr {
    let message = "internal error (a panic, described on stderr): please report it at \
                   https://github.com/merganser-bio/merganser/issues";
    exception(py, message, None, &Cause::of(Class::Internal))
}

/// Imports a package that a method needs. The exception says how to install it.
pub(crate) fn import<'py>(
    py: Python<'py>,
    method: &str,
    package: &str,
) -> PyResult<Bound<'py, PyModule>> {
    py.import(package).map_err(|error| {
        if error.is_instance_of::<PyImportError>(py) {
            let message = format!("{method} needs the package {package}: pip install {package}");
            return PyImportError::new_err(message);
        }
        error
    })
}

fn exception(py: Python<'_>, message: &str, argument: Option<&str>, cause: &Cause) -> PyErr {
    let made = || {
        let class = py.import("merganser._errors")?.getattr(cause.class.name())?;
        let place = PyDict::new(py);
        place.set_item("argument", argument)?;
        place.set_item("file", cause.file.as_deref())?;
        place.set_item("record", cause.record)?;
        class.call((message,), Some(&place))
    };
    match made() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A result whose error can be raised as a Python exception.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Failure> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raise(py, &error))
    }
}
