//! Starts CUDA while files are already being read.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use merganser_run::locks::{into_inner, lock, wait};

use super::collector::Collector;
use crate::Error;

/// A collector that another thread creates.
#[derive(Debug, Default)]
pub(crate) struct Starting {
    state: Mutex<Startup>,
    changed: Condvar,
}

#[derive(Debug, Default)]
enum Startup {
    #[default]
    Opening,
    Ready(Arc<Collector>),
    Failed(Error),
}

impl Starting {
    fn lock(&self) -> MutexGuard<'_, Startup> {
        lock(&self.state)
    }

    /// Creates the collector and stores it or the error.
    pub(crate) fn start(&self, make: impl FnOnce() -> Result<Collector, Error>) {
        let made = make();
        *self.lock() = match made {
            Ok(collector) => Startup::Ready(Arc::new(collector)),
            Err(error) => Startup::Failed(error),
        };
        self.changed.notify_all();
    }

    /// Returns the collector if it is ready.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if creating it failed; [`finish`](Self::finish) returns the reason.
    pub(crate) fn try_get(&self) -> Result<Option<Arc<Collector>>, Error> {
        get(&self.lock())
    }

    /// Waits for the collector and returns it.
    ///
    /// # Errors
    /// Fails as [`try_get`](Self::try_get) does.
    pub(crate) fn get(&self) -> Result<Arc<Collector>, Error> {
        let mut state = self.lock();
        loop {
            if let Some(collector) = get(&state)? {
                return Ok(collector);
            }
            state = wait(&self.changed, state);
        }
    }

    /// Returns the collector, if one was created.
    ///
    /// # Errors
    /// The reason why it could not be created.
    pub(crate) fn finish(self) -> Result<Option<Arc<Collector>>, Error> {
        match into_inner(self.state) {
            Startup::Opening => Ok(None),
            Startup::Ready(collector) => Ok(Some(collector)),
            Startup::Failed(error) => Err(error),
        }
    }
}

fn get(state: &Startup) -> Result<Option<Arc<Collector>>, Error> {
    match state {
        Startup::Opening => Ok(None),
        Startup::Ready(collector) => Ok(Some(Arc::clone(collector))),
        Startup::Failed(_) => Err(Error::Cancelled),
    }
}
