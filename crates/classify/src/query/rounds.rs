//! Databases larger than the devices' memory: in each round, the devices are filled with other parts, which are
//! queried (MetaCache-GPU §4.2).

use std::sync::{Arc, Mutex, MutexGuard};

use merganser_run::Cancel;
use merganser_run::locks::lock;

use super::OnDevices;
use crate::Error;
use crate::cpu::query::HostQuery;
use crate::cuda::{GpuNotes, GpuTimes};
use merganser_gpu::GpuConfig;

/// A database whose parts take turns on devices.
#[derive(Debug)]
pub(crate) struct Rounds<'a> {
    host: Arc<HostQuery<'a>>,
    config: GpuConfig,
    /// Whether the host queries the parts that do not fit on the devices. There is only one round then.
    help: bool,
    state: Mutex<CurrentRound<'a>>,
}

#[derive(Debug)]
struct CurrentRound<'a> {
    /// The devices with their parts; `None` after a failure.
    now: Option<Arc<OnDevices<'a>>>,
    /// The number of this round, from 1.
    round: usize,
    rounds: usize,
    /// The number of reads on the host in earlier rounds.
    /// The times of earlier rounds.
    reads_on_host: u64,
    times: GpuTimes,
}

impl<'a> Rounds<'a> {
    /// Opens the devices for the first parts, which are to be [filled](OnDevices::fill). With `help`, the host queries
    /// the others.
    ///
    /// # Errors
    /// If a device cannot be used, or not even one part fits.
    pub(crate) fn open(
        host: &Arc<HostQuery<'a>>,
        config: &GpuConfig,
        help: bool,
    ) -> Result<Rounds<'a>, Error> {
        let all: Vec<usize> = (0..host.database().parts()).collect();
        let now = Some(Arc::new(OnDevices::open(host, config, &all, help)?));
        let (reads_on_host, times) = (0, GpuTimes::default());
        let state = Mutex::new(CurrentRound { now, round: 1, rounds: 1, reads_on_host, times });
        Ok(Rounds { host: Arc::clone(host), config: config.clone(), help, state })
    }

    fn state(&self) -> MutexGuard<'_, CurrentRound<'a>> {
        lock(&self.state)
    }

    /// Returns the devices with the parts of this round. The caller must drop them before the next round starts.
    pub(crate) fn now(&self) -> Option<Arc<OnDevices<'a>>> {
        self.state().now.clone()
    }

    /// Whether a single round suffices.
    pub(crate) fn is_one(&self) -> bool {
        self.help || (self.state().round == 1 && self.left().is_empty())
    }

    /// Whether no parts are left after this round.
    pub(crate) fn is_last(&self) -> bool {
        self.left().is_empty()
    }

    /// Returns the parts that have not been queried yet.
    fn left(&self) -> Vec<usize> {
        self.now().map_or(Vec::new(), |now| now.left().to_vec())
    }

    /// Starts again with the first parts.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does; if a device cannot be filled.
    pub(crate) fn restart(&self) -> Result<(), Error> {
        let round = self.state().round;
        match round {
            1 => Ok(()),
            _ => self.load(&(0..self.host.database().parts()).collect::<Vec<_>>(), 1),
        }
    }

    /// Loads the next parts onto the devices. Returns false if no parts are left.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does; if a device cannot be filled.
    pub(crate) fn next(&self) -> Result<bool, Error> {
        let (left, round) = (self.left(), self.state().round);
        if self.help || left.is_empty() {
            return Ok(false);
        }
        self.load(&left, round + 1)?;
        Ok(true)
    }

    /// Loads parts that are not on the devices now, as many as fit. Returns false if there are no such parts.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does; if a device cannot be filled.
    pub(crate) fn others(&self) -> Result<bool, Error> {
        let here = self.now().map_or(Vec::new(), |now| now.here().to_vec());
        let others: Vec<usize> =
            (0..self.host.database().parts()).filter(|part| !here.contains(part)).collect();
        if self.help || others.is_empty() {
            return Ok(false);
        }
        let round = self.state().round;
        self.load(&others, round + 1)?;
        Ok(true)
    }

    fn load(&self, parts: &[usize], round: usize) -> Result<(), Error> {
        let mut state = self.state();
        // Free the memory of these parts before the next ones are loaded.
        if let Some(now) = state.now.take() {
            let notes = now.notes();
            state.reads_on_host += notes.reads_on_host;
            state.times.add(&notes.times);
        }
        state.round = round;
        state.rounds = state.rounds.max(round);
        let now = OnDevices::open(&self.host, &self.config, parts, self.help)?;
        now.fill(&Cancel::default())?;
        state.now = Some(Arc::new(now));
        Ok(())
    }

    /// Returns notes on the devices and on the work that did not fit into their memory.
    pub(crate) fn notes(&self) -> GpuNotes {
        let state = self.state();
        let mut notes = state.now.as_ref().map(|now| now.notes()).unwrap_or_default();
        notes.rounds = state.rounds;
        notes.reads_on_host += state.reads_on_host;
        notes.times.add(&state.times);
        notes
    }
}
