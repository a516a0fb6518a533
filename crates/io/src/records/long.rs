//! Long records: while one is under way, nothing else is read, so that there is memory for one of them
//! and not for one a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Records are long from so many chunks on.
pub(super) const CHUNKS: usize = 2;
/// How often those who wait look whether a batch was dropped that nobody told them of.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

/// Counts the batches with long records that somebody has.
#[derive(Debug, Default)]
pub(super) struct Room(Arc<AtomicUsize>);

/// One of them; it ends with this.
#[derive(Debug)]
pub(super) struct Permit(Arc<AtomicUsize>);

impl Room {
    /// A batch with a long record is handed out.
    pub(super) fn permit(&self) -> Permit {
        self.0.fetch_add(1, Ordering::SeqCst);
        Permit(Arc::clone(&self.0))
    }

    /// Whether nobody has one.
    pub(super) fn is_free(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
