//! Parts that are written in the order of their numbers, whoever finishes first.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

use super::lock;
use crate::Error;
use crate::writer::{Part, Writer};

/// Takes what is written in order.
pub(super) trait Sink {
    fn write(&mut self, part: &Part) -> Result<(), Error>;
}

impl Sink for Writer {
    fn write(&mut self, part: &Part) -> Result<(), Error> {
        Writer::write(self, part)
    }
}

/// Parts that came before their turn wait here, no more than `ahead` numbers before it.
pub(super) struct InOrder<S> {
    state: Mutex<State>,
    changed: Condvar,
    ahead: u64,
    /// Locked by the one who writes.
    sink: Mutex<S>,
}

#[derive(Default)]
struct State {
    next: u64,
    waiting: BTreeMap<u64, Part>,
    /// Somebody writes the part before `next`, and will go on with the next one.
    writing: bool,
    /// Emptied parts, for their memory.
    spare: Vec<Part>,
    /// Of the failures, the one with the smallest number.
    failed: Option<(u64, Error)>,
}

impl<S: Sink> InOrder<S> {
    pub(super) fn new(sink: S, ahead: u64) -> InOrder<S> {
        InOrder { state: Mutex::default(), changed: Condvar::new(), ahead, sink: Mutex::new(sink) }
    }

    /// An empty part.
    pub(super) fn spare(&self) -> Part {
        lock(&self.state).spare.pop().unwrap_or_default()
    }

    /// Whether no more should be begun.
    pub(super) fn has_failed(&self) -> bool {
        lock(&self.state).failed.is_some()
    }

    /// Whether the part of this number may be worked on at once, or will not be wanted.
    pub(super) fn has_room(&self, number: u64) -> bool {
        let state = lock(&self.state);
        !state.wanted(number) || number < state.next + self.ahead
    }

    /// Waits until the part of this number may be worked on; `false` if a part before it failed.
    /// All parts before it must have been begun, so that its turn comes.
    pub(super) fn wait_for_room(&self, number: u64) -> bool {
        let mut state = lock(&self.state);
        while state.wanted(number) && number >= state.next + self.ahead {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.wanted(number)
    }

    /// Takes a part, and writes it and those that follow it if it is their turn.
    pub(super) fn hand_in(&self, number: u64, part: Part) {
        let mut state = lock(&self.state);
        state.waiting.insert(number, part);
        if state.writing {
            return;
        }
        while let Some(mut part) = state.take_next() {
            state.writing = true;
            drop(state);
            let written = lock(&self.sink).write(&part);
            part.iter_mut().for_each(Vec::clear);
            state = lock(&self.state);
            state.spare.push(part);
            if let Err(error) = written {
                state.fail(0, error);
            }
            self.changed.notify_all();
        }
        state.writing = false;
    }

    /// Ends the run: parts with larger numbers are not begun. Those with smaller ones were, and
    /// may fail too.
    pub(super) fn fail(&self, number: u64, error: Error) {
        lock(&self.state).fail(number, error);
        self.changed.notify_all();
    }

    /// The sink, with all that was handed in.
    ///
    /// # Errors
    /// The failure with the smallest number.
    pub(super) fn into_sink(self) -> Result<S, Error> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.failed {
            Some((_, error)) => Err(error),
            None => Ok(self.sink.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

impl State {
    /// The next part to write, if it was handed in and nothing before it failed.
    fn take_next(&mut self) -> Option<Part> {
        if !self.wanted(self.next) {
            return None;
        }
        let part = self.waiting.remove(&self.next)?;
        self.next += 1;
        Some(part)
    }

    /// Whether no part before this one failed.
    fn wanted(&self, number: u64) -> bool {
        self.failed.as_ref().is_none_or(|(failed, _)| number < *failed)
    }

    fn fail(&mut self, number: u64, error: Error) {
        if self.failed.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
            self.failed = Some((number, error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Text(Vec<u8>);

    impl Sink for Text {
        fn write(&mut self, part: &Part) -> Result<(), Error> {
            self.0.extend_from_slice(&part[0]);
            Ok(())
        }
    }

    #[test]
    fn the_order_is_that_of_the_numbers() {
        let parts = InOrder::new(Text::default(), 3);
        for number in [2, 0, 1, 4, 3] {
            parts.hand_in(number, [vec![b'0' + number as u8], Vec::new()]);
        }
        assert!(parts.wait_for_room(7));
        assert_eq!(parts.into_sink().unwrap().0, b"01234");
    }

    #[test]
    fn the_earliest_failure_counts() {
        let parts = InOrder::new(Text::default(), 3);
        let fault = |text: &str| Error::Config(text.into());
        for (number, text) in [(5, "later"), (2, "first"), (3, "last in time")] {
            parts.fail(number, fault(text));
        }
        // What comes before it may fail, too.
        assert!(parts.wait_for_room(1) && !parts.wait_for_room(2) && parts.has_failed());
        assert_eq!(parts.into_sink().err().map(|error| error.to_string()), Some("first".into()));
    }
}
