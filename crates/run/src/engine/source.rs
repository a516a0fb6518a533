//! The interface of sources of batches.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Cancelled;

/// A source that fills batches, in the order of their numbers, which begin with 0.
pub trait Source: Sync {
    /// The type of a batch, whose memory is reused.
    type Batch: Default;
    /// The error of a batch that cannot be filled.
    type Error;

    /// Refills a batch with the next records, and returns the bytes of input that were read for it;
    /// `None` if there are no more. Any number of workers call it concurrently, each with its own batch.
    /// It may wait for the input and for other calls, but never for actions of a worker between two calls.
    ///
    /// # Errors
    /// If the input is at fault; the batch then has the number that it would have had.
    fn next(&self, batch: &mut Self::Batch) -> Result<Option<u64>, Self::Error>;

    /// Returns the fault of the input after the (valid) records of this batch, which is the failure of the next number.
    fn fault_behind(batch: &mut Self::Batch) -> Option<Self::Error> {
        let _ = batch;
        None
    }

    /// Returns the number of the batch: the number of batches before it.
    fn number(batch: &Self::Batch) -> u64;

    /// Returns whether the output of this batch is too large to wait in memory: it is handed over only after all
    /// outputs before it are written.
    fn is_long(&self, batch: &Self::Batch) -> bool {
        let _ = batch;
        false
    }

    /// Stops batches from `number` on. A thread that waits in [`next`](Self::next) returns `None`, or
    /// an error, which is ignored.
    fn stop(&self, number: u64);
}

/// A source that yields only numbers, for work whose data already exists.
#[derive(Debug)]
pub struct NumberSource {
    next: AtomicU64,
    end: u64,
}

impl NumberSource {
    /// Creates a source of the numbers from 0 to `end`, excluding `end`.
    pub fn up_to(end: usize) -> NumberSource {
        NumberSource { next: AtomicU64::new(0), end: end as u64 }
    }
}

impl Source for NumberSource {
    type Batch = u64;
    type Error = Cancelled;

    fn next(&self, batch: &mut u64) -> Result<Option<u64>, Cancelled> {
        *batch = self.next.fetch_add(1, Ordering::Relaxed);
        Ok((*batch < self.end).then_some(0))
    }

    fn number(batch: &u64) -> u64 {
        *batch
    }

    fn stop(&self, _number: u64) {
        self.next.fetch_max(self.end, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{NumberSource, Source};

    #[test]
    fn no_number_comes_after_a_stop() {
        for number in [0, 1, u64::MAX] {
            let source = NumberSource::up_to(5);
            let mut batch = 0;
            assert_eq!((source.next(&mut batch), batch), (Ok(Some(0)), 0));
            source.stop(number);
            assert!((0..3).all(|_| source.next(&mut batch) == Ok(None)));
        }
    }
}
