//! The interface of workers.

use std::time::Instant;

use super::Turn;

/// A worker that makes outputs of batches. Each thread has its own, with its buffers and counts.
pub trait Work {
    /// The type of a batch.
    type Batch;
    /// The type of an output.
    type Output;
    /// The error of a batch.
    type Error;

    /// Makes the output of a batch. `turn` provides spare outputs, and takes outputs before the last one.
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
