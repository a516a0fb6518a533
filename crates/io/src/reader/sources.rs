//! Which worker fetches from which file.

use super::ReaderOptions;
use super::fetch::{Fetched, Fetcher, Origin};
use crate::{Chunk, Error};
use merganser_inflate::parallel::Plan;
use merganser_run::locks::{lock, wait};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

/// The files that are not read to their end: some of them open, of which each is fetched from by
/// one worker at a time.
pub(super) struct Sources {
    state: Mutex<OpenFiles>,
    changed: Condvar,
    /// How many may be open.
    window: usize,
}

struct OpenFiles {
    waiting: VecDeque<Fetcher>,
    /// In input order; `None` while a worker fetches from it.
    open: Vec<(usize, Option<Fetcher>)>,
    /// Nothing is to be fetched any more.
    closed: bool,
}

/// The right to fetch from a file.
pub(super) struct Lease(Fetcher);

impl Lease {
    pub(super) fn file(&self) -> usize {
        self.0.file()
    }

    /// The ticket of the next fetch.
    pub(super) fn ticket(&self) -> u64 {
        self.0.ticket()
    }

    pub(super) fn fetch(
        &mut self,
        chunk: &mut Chunk,
        options: &ReaderOptions,
        stopped: &AtomicBool,
    ) -> Result<Fetched, Error> {
        self.0.fetch(chunk, options, stopped)
    }
}

impl Sources {
    pub(super) fn new(origins: Vec<Origin>, window: usize, plan: Option<Plan>) -> Self {
        let at_once = window.min(origins.len());
        let fetcher =
            |(file, origin)| Fetcher::new(file, origin, plan).of_sequences().one_of(at_once);
        let fetchers = origins.into_iter().enumerate().map(fetcher);
        let state = OpenFiles { waiting: fetchers.collect(), open: Vec::new(), closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), window }
    }

    /// The first open file that nobody fetches from, else one more file, else waits. `None` when
    /// all is fetched, or `stopped` is set.
    pub(super) fn take(&self, stopped: &AtomicBool) -> Option<Lease> {
        let mut state = lock(&self.state);
        loop {
            if stopped.load(Ordering::Acquire) || state.closed {
                return None;
            }
            if let Some(fetcher) = state.open.iter_mut().find_map(|(_, fetcher)| fetcher.take()) {
                return Some(Lease(fetcher));
            }
            if state.open.len() < self.window
                && let Some(fetcher) = state.waiting.pop_front()
            {
                state.open.push((fetcher.file(), None));
                return Some(Lease(fetcher));
            }
            if state.open.is_empty() {
                return None;
            }
            state = wait(&self.changed, state);
        }
    }

    /// Gives a file back, or closes it if this was the `last` fetch.
    pub(super) fn put_back(&self, lease: Lease, last: bool) {
        let mut state = lock(&self.state);
        let file = lease.file();
        if last {
            state.open.retain(|(open, _)| *open != file);
            // All others may have nothing left to wait for.
            drop(state);
            self.changed.notify_all();
        } else if let Some(place) = state.open.iter_mut().find(|(open, _)| *open == file) {
            place.1 = Some(lease.0);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Nobody gets a file any more.
    pub(super) fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    pub(super) fn wake_all(&self) {
        let _state = lock(&self.state);
        self.changed.notify_all();
    }
}
