//! The errors found in the chunks of a reader.

use crate::Error;
use merganser_run::locks::lock;
use std::sync::Mutex;

/// The earliest error of a run: the first by its position in the inputs, not by time.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<Option<((usize, u64), Error)>>);

impl Failures {
    /// Records `error`, found in the chunk that begins at `line` of `file`, if it is the earliest, and returns it.
    pub(crate) fn note(&self, file: usize, line: u64, error: Error) -> Error {
        let mut earliest = lock(&self.0);
        if earliest.as_ref().is_none_or(|(place, _)| (file, line) < *place) {
            *earliest = Some(((file, line), error.clone()));
        }
        error
    }

    pub(crate) fn earliest(&self) -> Option<Error> {
        lock(&self.0).as_ref().map(|(_, error)| error.clone())
    }
}
