//! Assignment of files to the workers that fetch from them.

use super::ReaderOptions;
use super::fetch::{Fetched, Fetcher, Origin};
use crate::{Chunk, Error};
use merganser_inflate::RemoteRoom;
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
    /// The open files in input order.
    open: Vec<OpenFile>,
    /// Whether devices take the files that they can read.
    remote: bool,
    /// Whether nothing more is to be fetched.
    closed: bool,
}

struct OpenFile {
    file: usize,
    /// `None` while a worker fetches from the file.
    fetcher: Option<Fetcher>,
    /// Whether devices can read text of its format.
    for_remote: bool,
}

impl OpenFile {
    /// Takes the file for fetching by a device (`remote`) or by the host.
    fn take(&mut self, remote: bool) -> Option<Fetcher> {
        let for_remote = self.for_remote && self.fetcher.as_ref()?.is_for_remote();
        if for_remote == remote { self.fetcher.take() } else { None }
    }
}

/// The fetcher's side: a worker of the host, or of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Host,
    Remote,
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

    pub(super) fn fetch_remote(
        &mut self,
        chunk: &mut Chunk,
        room: RemoteRoom,
    ) -> Result<Fetched, Error> {
        self.0.fetch_remote(chunk, room)
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
        let (waiting, open) = (fetchers.collect(), Vec::new());
        let state = OpenFiles { waiting, open, remote: false, closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), window }
    }

    /// Takes the first open file of this side from which no worker fetches, or waits. The host also opens another one.
    /// Returns `None` when everything is fetched or `stopped` is set.
    pub(super) fn take(&self, side: Side, stopped: &AtomicBool) -> Option<Lease> {
        let mut state = lock(&self.state);
        loop {
            if stopped.load(Ordering::Acquire) || state.closed {
                return None;
            }
            let divided = state.remote;
            let taken = state.open.iter_mut().find_map(|open| match divided {
                true => open.take(side == Side::Remote),
                false => open.fetcher.take(),
            });
            if let Some(fetcher) = taken {
                return Some(Lease(fetcher));
            }
            if side == Side::Host
                && state.open.len() < self.window
                && let Some(fetcher) = state.waiting.pop_front()
            {
                let open = OpenFile { file: fetcher.file(), fetcher: None, for_remote: false };
                state.open.push(open);
                return Some(Lease(fetcher));
            }
            if state.open.is_empty() && state.waiting.is_empty() {
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
            state.open.retain(|open| open.file != file);
            // All waiting workers may have nothing left to wait for.
            drop(state);
            self.changed.notify_all();
        } else if let Some(open) = state.open.iter_mut().find(|open| open.file == file) {
            open.fetcher = Some(lease.0);
            let divided = state.remote;
            drop(state);
            // Of two sides, the one that waits may be unable to take it.
            if divided { self.changed.notify_all() } else { self.changed.notify_one() }
        }
    }

    /// Leaves the files that devices can read to these from now on.
    pub(super) fn divide(&self) {
        lock(&self.state).remote = true;
        self.changed.notify_all();
    }

    /// Notes that a file has a format that devices can read.
    pub(super) fn suits_remote(&self, file: usize) {
        let mut state = lock(&self.state);
        if let Some(open) = state.open.iter_mut().find(|open| open.file == file) {
            open.for_remote = true;
        }
        let divided = state.remote;
        drop(state);
        if divided {
            self.changed.notify_all();
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
