//! Assignment of files to the workers that fetch from them.

use super::ReaderOptions;
use super::fetch::{Fetched, Fetcher, Origin};
use crate::{Chunk, Error};
use merganser_inflate::parallel::Plan;
use merganser_run::locks::{lock, wait};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

/// The files that have not been read to their end. Some are open, and one worker at a time fetches from each of
/// these.
pub(super) struct Sources {
    state: Mutex<OpenFiles>,
    changed: Condvar,
    /// The maximum number of open files.
    window: usize,
}

struct OpenFiles {
    waiting: VecDeque<Fetcher>,
    /// The open files in input order; `None` while a worker fetches from the file.
    open: Vec<(usize, Option<Fetcher>)>,
    /// Whether nothing more is to be fetched.
    closed: bool,
}

/// The exclusive right to fetch from a file.
pub(super) struct Lease(Fetcher);

impl Lease {
    pub(super) fn file(&self) -> usize {
        self.0.file()
    }

    /// Returns the ticket of the next fetch.
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

    /// Takes the first open file from which no worker fetches, or opens another one, or waits. Returns `None` when
    /// everything is fetched or `stopped` is set.
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

    /// Returns a file after a fetch, or closes it if this was its `last` fetch.
    pub(super) fn put_back(&self, lease: Lease, last: bool) {
        let mut state = lock(&self.state);
        let file = lease.file();
        if last {
            state.open.retain(|(open, _)| *open != file);
            // All waiting workers may have nothing left to wait for.
            drop(state);
            self.changed.notify_all();
        } else if let Some(place) = state.open.iter_mut().find(|(open, _)| *open == file) {
            place.1 = Some(lease.0);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Ends the fetching from all files.
    pub(super) fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    pub(super) fn wake_all(&self) {
        let _state = lock(&self.state);
        self.changed.notify_all();
    }
}
