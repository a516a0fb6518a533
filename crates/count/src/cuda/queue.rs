//! Batches from the parsers to the devices: a bounded number of them, made when needed and used
//! again. Parsers fill them while devices still start.

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
    /// No more batches come, or none is wanted.
    closed: bool,
}

impl Queue {
    /// A queue of at most `batches` batches of `tiles` tiles.
    pub(crate) fn new(batches: usize, tiles: usize) -> Queue {
        let state = QueuedTiles {
            empty: Vec::new(),
            left_to_make: batches,
            full: VecDeque::new(),
            closed: false,
        };
        Queue { state: Mutex::new(state), changed: Condvar::new(), tiles }
    }

    /// Tiles of a full batch.
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

    /// An empty batch, once there is one; `None` if no batches are wanted any more.
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

    /// A full batch, once there is one; `None` after the last.
    pub(crate) fn full(&self) -> Option<TileBuffer> {
        self.wait(|state| state.full.pop_front())
    }

    pub(crate) fn put_empty(&self, mut batch: TileBuffer) {
        batch.clear();
        self.lock().empty.push(batch);
        self.changed.notify_all();
    }

    /// No more batches come; those that are full are still given out.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// No batch is wanted any more: something failed.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.full.clear();
        state.closed = true;
        drop(state);
        self.changed.notify_all();
    }
}
