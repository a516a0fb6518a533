//! What a worker does with a batch.

use std::time::Instant;

use super::Turn;

/// A worker: makes outputs of batches. Each thread has its own, with its memory and its counts.
pub trait Work {
    /// What it takes.
    type Batch;
    /// What it makes.
    type Output;
    /// Why it makes nothing.
    type Error;

    /// Makes the output of a batch. `turn` has spare outputs, and takes outputs before the last one.
    ///
    /// # Errors
    /// If the batch is at fault, or the run must end.
    fn work(
        &mut self,
        batch: &mut Self::Batch,
        turn: &Turn<'_, Self::Output, Self::Error>,
    ) -> Result<Self::Output, Self::Error>;

    /// Called after the worker waited for earlier batches to be written, since `begun`.
    fn waited(&mut self, begun: Instant) {
        let _ = begun;
    }
}
