//! Errors that name the argument of the file that they are about.

use std::fmt;
use std::path::{Path, PathBuf};

use merganser_run::{Fault, FaultKind};

use super::{Cause, Class, Failure};
use crate::temporary::is_temporary;

/// The files of a job with the names of their arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(Vec<(String, PathBuf)>);

impl Arguments {
    /// Adds the files or folders of an argument.
    pub(crate) fn with<P: AsRef<Path>>(
        mut self,
        argument: &str,
        paths: impl IntoIterator<Item = P>,
    ) -> Arguments {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
        self.0.extend(paths.map(|path| (argument.to_owned(), path)));
        self
    }

    /// Adds the names to an error.
    pub(crate) fn name<E: Failure>(&self, error: E) -> Named<E> {
        Named { error: Box::new(error), arguments: self.clone() }
    }

    /// Returns the argument of the file of an error: the one that is named, or that the message is about. An input
    /// that is not known belongs to the first argument.
    fn of(&self, cause: &Cause, message: &str) -> Option<&str> {
        let place = cause.file.as_deref().unwrap_or(message);
        let is_about = |(_, path): &&(String, PathBuf)| match &cause.file {
            Some(file) => Path::new(file).starts_with(path),
            None => place.contains(&*path.to_string_lossy()),
        };
        let first = || {
            let is_input = matches!(cause.class, Class::Input | Class::NotFound);
            self.0.first().filter(|_| is_input && cause.file.is_none())
        };
        self.0.iter().find(is_about).or_else(first).map(|(argument, _)| &argument[..])
    }
}

/// An error with the arguments of a job. Its message has the names of arguments instead of temporary files.
#[derive(Debug)]
pub(crate) struct Named<E> {
    error: Box<E>,
    arguments: Arguments,
}

impl<E: Failure> fmt::Display for Named<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let temporary = self.arguments.0.iter().filter(|(_, path)| is_temporary(path));
        let message = temporary.fold(self.error.to_string(), |message, (argument, path)| {
            message.replace(&*path.to_string_lossy(), argument)
        });
        formatter.write_str(&message)
    }
}

impl<E: Failure> std::error::Error for Named<E> {}

impl<E: Failure> Fault for Named<E> {
    fn kind(&self) -> FaultKind {
        self.error.kind()
    }
}

impl<E: Failure> Failure for Named<E> {
    fn origin(&self) -> Cause {
        let cause = self.error.origin();
        let argument = self.arguments.of(&cause, &self.error.to_string()).map(str::to_owned);
        let file = cause.file.filter(|file| !is_temporary(Path::new(file)));
        Cause { argument, file, ..cause }
    }
}
