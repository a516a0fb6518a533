//! Batches that are on devices while the thread that sent them goes on.

use std::collections::VecDeque;

/// A thread's batches that are on devices, in the order in which they were sent. Whoever waits for
/// something that others hold should [take](Self::landed) all of its own back first: they may wait
/// for what these hold.
#[derive(Debug)]
pub struct InFlight<T>(VecDeque<T>);

impl<T> Default for InFlight<T> {
    fn default() -> InFlight<T> {
        InFlight(VecDeque::new())
    }
}

impl<T> InFlight<T> {
    /// Adds a batch that was sent after all others.
    pub fn push(&mut self, batch: T) {
        self.0.push_back(batch);
    }

    /// How many batches are on devices.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first batch if a device `is_done` with it or failed, which the second value
    /// says, and else only if there are more than `most`, which may have to be waited for; `None` if
    /// there is nothing to take back.
    pub fn landed<E>(
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
        assert!(batches.landed(0, |_: &u32| Ok::<_, ()>(true)).is_none());
        [3, 1, 2].into_iter().for_each(|batch| batches.push(batch));
        let done = |batch: &u32| if *batch == 2 { Err("lost") } else { Ok(*batch == 1) };
        // The second one is done, but the first one is not.
        assert_eq!(batches.landed(3, done), None);
        assert_eq!(batches.landed(2, done), Some((3, Ok(()))));
        assert_eq!(batches.landed(usize::MAX, done), Some((1, Ok(()))));
        assert_eq!((batches.len(), batches.is_empty()), (1, false));
        assert_eq!(batches.landed(usize::MAX, done), Some((2, Err("lost"))));
        assert_eq!(batches.landed(0, done), None);
    }
}
