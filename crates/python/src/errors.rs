//! Converts the errors of jobs to the Python exceptions of `merganser/_errors.py`.

use std::path::Path;

use merganser::run::{Fault, FaultKind, with_names};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The position of an error: a file, and the number of a record in it, counted from 1.
#[derive(Debug, Default)]
pub(crate) struct Place {
    file: Option<String>,
    record: Option<u64>,
}

impl Place {
    fn of(path: &Path) -> Place {
        Place { file: Some(path.display().to_string()), record: None }
    }

    fn of_io(error: &merganser::io::Error) -> Place {
        let (file, record) = error.place();
        Place { file, record }
    }
}

/// An error of a job that can be raised in Python: a [`Fault`] with a position.
pub(crate) trait Failure: Fault {
    /// Returns the position of the error.
    fn place(&self) -> Place;
}

impl Failure for merganser::io::Error {
    fn place(&self) -> Place {
        Place::of_io(self)
    }
}

impl Failure for merganser::run::ConfigError {
    fn place(&self) -> Place {
        Place::default()
    }
}

/// Implements [`Failure`] for the error type of a job.
macro_rules! failure {
    ($error:path, $($path:pat => $place:expr),*) => {
        impl Failure for $error {
            fn place(&self) -> Place {
                use $error as Error;
                match self {
                    Error::Io(error) => Place::of_io(error),
                    $($path => $place,)*
                    _ => Place::default(),
                }
            }
        }
    };
}

failure!(merganser::kmers::Error, Error::Table { path, .. } | Error::File { path, .. } => Place::of(path));
failure!(merganser::count::Error, Error::Table(error) => error.place());
failure!(merganser::classify::taxonomy::Error, Error::Content { path, .. } | Error::File { path, .. } => Place::of(path));
failure!(
    merganser::classify::report::Error,
    Error::Content { path, .. } | Error::File { path, .. } => Place::of(path),
    Error::Taxonomy(error) => error.place()
);
failure!(
    merganser::classify::library::Error,
    Error::Content { path, .. } | Error::File { path, .. } => Place::of(path),
    Error::Taxonomy(error) => error.place()
);
failure!(
    merganser::classify::kraken2::Error,
    Error::Content { path, .. } | Error::File { path, .. } => Place::of(path),
    Error::Library(error) => error.place(),
    Error::Report(error) => error.place(),
    Error::Taxonomy(error) => error.place()
);
failure!(
    merganser::classify::Error,
    Error::Content { path, .. } | Error::File { path, .. } => Place::of(path),
    Error::Kraken2(error) => error.place(),
    Error::Library(error) => error.place(),
    Error::Report(error) => error.place(),
    Error::Taxonomy(error) => error.place()
);
failure!(merganser::filter::Error,);
failure!(merganser::map::Error, Error::File { path, .. } => Place::of(path));

/// Converts an error to an exception.
pub(crate) fn raise(py: Python<'_>, error: &impl Failure) -> PyErr {
    let class = match error.kind() {
        FaultKind::Cancelled => return PyKeyboardInterrupt::new_err("interrupted"),
        FaultKind::Config => "ConfigError",
        // `InputError` covers errors of the input and of the environment, such as a full disk (`Failed`), and a closed
        // pipe. `FaultKind` is non-exhaustive, so that a wildcard is required.
        _ => "InputError",
    };
    exception(py, class, with_keywords(&error.to_string()), error.place())
}

/// Replaces the names of fields in a message, which are in backticks, with the names of the Python keyword arguments.
/// Only `temp_dir` has a different name there; other fields only lose their backticks.
pub(crate) fn with_keywords(message: &str) -> String {
    with_names(message, |field| {
        Some(match field {
            "temp_dir" => "tmp_dir".to_owned(),
            field if field.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') => {
                field.to_owned()
            }
            _ => return None,
        })
    })
}

/// Returns a `ConfigError` with this message.
pub(crate) fn wrong(py: Python<'_>, message: impl Into<String>) -> PyErr {
    exception(py, "ConfigError", message.into(), Place::default())
}

fn exception(py: Python<'_>, class: &str, message: String, place: Place) -> PyErr {
    let made = py
        .import("merganser._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((message, place.file, place.record)));
    match made {
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
