//! Long records. While a batch with a long record is in use, nothing else is read, so that memory is needed for
//! only one of them and not for one per worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The size, in chunks, above which a record is long.
pub(super) const CHUNKS: usize = 2;
/// The interval at which waiting workers check whether a batch was dropped, which notifies no one.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

/// A counter of the batches with long records that are in use.
#[derive(Debug, Default)]
pub(super) struct Room(Arc<AtomicUsize>);

/// A count of one batch, which ends when the permit is dropped.
#[derive(Debug)]
pub(super) struct Permit(Arc<AtomicUsize>);

impl Room {
    /// Counts a batch with a long record.
    pub(super) fn permit(&self) -> Permit {
        self.0.fetch_add(1, Ordering::SeqCst);
        Permit(Arc::clone(&self.0))
    }

    /// Whether no batch with a long record is in use.
    pub(super) fn is_free(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
