//! A queue of batches from the parsers to the devices: a bounded number of buffers, allocated on demand and
//! reused. Parsers fill them while devices still start.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use merganser_run::locks::{lock, wait};

use super::batch::TileBuffer;

pub(crate) struct Queue {
    state: Mutex<QueuedTiles>,
    changed: Condvar,
    tiles: usize,
}

struct QueuedTiles {
    empty: Vec<TileBuffer>,
    left_to_make: usize,
    full: VecDeque<TileBuffer>,
    /// The number of groups of parsers that may still send batches.
    senders: usize,
    /// Whether no more batches are sent, or none are wanted.
    closed: bool,
}

impl Queue {
    /// Returns a queue of at most `batches` batches of `tiles` tiles, with one group of parsers.
    pub(crate) fn new(batches: usize, tiles: usize) -> Queue {
        let state = QueuedTiles {
            empty: Vec::new(),
            left_to_make: batches,
            full: VecDeque::new(),
            senders: 1,
            closed: false,
        };
        Queue { state: Mutex::new(state), changed: Condvar::new(), tiles }
    }

    /// Returns the number of tiles of a full batch.
    pub(crate) fn tiles(&self) -> usize {
        self.tiles
    }

    fn lock(&self) -> MutexGuard<'_, QueuedTiles> {
        lock(&self.state)
    }

    fn wait<T>(&self, mut ready: impl FnMut(&mut QueuedTiles) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(value) = ready(&mut state) {
                return Some(value);
            }
            if state.closed {
                return None;
            }
            state = wait(&self.changed, state);
        }
    }

    /// Waits for an empty batch and returns it; `None` if no batches are wanted any more.
    pub(crate) fn empty(&self) -> Option<TileBuffer> {
        self.wait(|state| {
            if state.closed {
                return None;
            }
            state.empty.pop().or_else(|| {
                state.left_to_make = state.left_to_make.checked_sub(1)?;
                Some(TileBuffer::new(self.tiles))
            })
        })
    }

    pub(crate) fn put_full(&self, batch: TileBuffer) {
        self.lock().full.push_back(batch);
        self.changed.notify_all();
    }

    /// Waits for a full batch and returns it; `None` after the last.
    pub(crate) fn full(&self) -> Option<TileBuffer> {
        self.wait(|state| state.full.pop_front())
    }

    pub(crate) fn put_empty(&self, mut batch: TileBuffer) {
        batch.clear();
        self.lock().empty.push(batch);
        self.changed.notify_all();
    }

    /// Adds a group of parsers; returns false if the queue has ended.
    pub(crate) fn add_sender(&self) -> bool {
        let mut state = self.lock();
        state.senders += usize::from(!state.closed);
        !state.closed
    }

    /// Ends the queue for one group of parsers, and as a whole for the last one; full batches can still be taken.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.senders -= 1;
        state.closed |= state.senders == 0;
        drop(state);
        self.changed.notify_all();
    }

    /// Ends the queue after a failure and drops all full batches.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.full.clear();
        state.closed = true;
        drop(state);
        self.changed.notify_all();
    }
}
