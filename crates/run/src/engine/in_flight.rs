//! Batches on devices while the worker that sent them goes on.

use std::collections::VecDeque;

/// A worker's batches on devices, in the order in which they were sent.
#[derive(Debug)]
pub(super) struct InFlight<T>(VecDeque<T>);

impl<T> Default for InFlight<T> {
    fn default() -> InFlight<T> {
        InFlight(VecDeque::new())
    }
}

impl<T> InFlight<T> {
    /// Adds a batch that was sent after all others.
    pub(super) fn push(&mut self, batch: T) {
        self.0.push_back(batch);
    }

    /// Returns the number of batches on devices.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no batches on devices.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the first batch if a device is done with it, if the device failed (the second value), or if there are more
    /// than `most` batches, in which case the caller may have to wait for it. Returns `None` otherwise.
    pub(super) fn next_done<E>(
        &mut self,
        most: usize,
        is_done: impl Fn(&T) -> Result<bool, E>,
    ) -> Option<(T, Result<(), E>)> {
        let done = match is_done(self.0.front()?) {
            Ok(false) if self.0.len() <= most => return None,
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        self.0.pop_front().map(|batch| (batch, done))
    }
}

#[cfg(test)]
mod tests {
    use super::InFlight;

    #[test]
    fn the_first_comes_back_when_it_is_done_or_too_many_are_under_way() {
        let mut batches = InFlight::default();
        assert!(batches.next_done(0, |_: &u32| Ok::<_, ()>(true)).is_none());
        [3, 1, 2].into_iter().for_each(|batch| batches.push(batch));
        let done = |batch: &u32| if *batch == 2 { Err("lost") } else { Ok(*batch == 1) };
        // The second batch is done, but the first is not.
        assert_eq!(batches.next_done(3, done), None);
        assert_eq!(batches.next_done(2, done), Some((3, Ok(()))));
        assert_eq!(batches.next_done(usize::MAX, done), Some((1, Ok(()))));
        assert_eq!((batches.len(), batches.is_empty()), (1, false));
        assert_eq!(batches.next_done(usize::MAX, done), Some((2, Err("lost"))));
        assert_eq!(batches.next_done(0, done), None);
    }
}
