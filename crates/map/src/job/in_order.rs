//! Parts that are written in the order of their numbers, whoever finishes first.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

use super::{Part, lock};
use crate::Error;

/// Takes what is written in order.
pub(super) trait Sink {
    fn write(&mut self, part: &Part) -> Result<(), Error>;
}

/// Parts that came before their turn wait here, no more than `ahead` numbers before it.
pub(super) struct InOrder<S> {
    state: Mutex<State<S>>,
    changed: Condvar,
    ahead: u64,
}

struct State<S> {
    next: u64,
    waiting: BTreeMap<u64, Part>,
    sink: S,
    /// Of the failures, the one with the smallest number.
    failed: Option<(u64, Error)>,
}

impl<S: Sink> InOrder<S> {
    pub(super) fn new(sink: S, ahead: u64) -> InOrder<S> {
        let state = State { next: 0, waiting: BTreeMap::new(), sink, failed: None };
        InOrder { state: Mutex::new(state), changed: Condvar::new(), ahead }
    }

    /// Waits until the part of this number may be begun; `false` if something failed. To be asked
    /// before it is begun, so that all parts before it are, and their turn comes.
    pub(super) fn wait_for_room(&self, number: u64) -> bool {
        let mut state = lock(&self.state);
        while state.failed.is_none() && number >= state.next + self.ahead {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed.is_none()
    }

    /// Writes the part when its turn comes.
    pub(super) fn hand_in(&self, number: u64, part: Part) {
        let mut state = lock(&self.state);
        state.waiting.insert(number, part);
        if let Err(error) = state.write() {
            state.fail(0, error);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for the turn of this number, and writes a part of its part.
    ///
    /// # Errors
    /// If something failed meanwhile.
    pub(super) fn hand_in_early(&self, number: u64, part: &Part) -> Result<(), Error> {
        let mut state = lock(&self.state);
        while state.failed.is_none() && state.next != number {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match state.failed {
            // What failed is kept with its own number.
            Some(_) => Err(Error::Cancelled),
            None => state.sink.write(part),
        }
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
            None => Ok(state.sink),
        }
    }
}

impl<S: Sink> State<S> {
    fn write(&mut self) -> Result<(), Error> {
        while let Some(part) = self.waiting.remove(&self.next) {
            self.sink.write(&part)?;
            self.next += 1;
        }
        Ok(())
    }

    /// One that was merely stopped by another failure does not take its place.
    fn fail(&mut self, number: u64, error: Error) {
        let stopped = number > 0 && matches!(error, Error::Cancelled);
        if stopped && self.failed.is_some() {
            return;
        }
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
        assert!(!parts.wait_for_room(0));
        assert_eq!(parts.into_sink().err().map(|error| error.to_string()), Some("first".into()));
    }
}
