//! Databases larger than the devices: as many parts as there is room for are asked at a time, then
//! others take their place (MetaCache-GPU §4.2).

use std::sync::{Arc, Mutex, MutexGuard};

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
    /// Parts for which there is no room are the host's; there is one round.
    help: bool,
    state: Mutex<CurrentRound<'a>>,
}

#[derive(Debug)]
struct CurrentRound<'a> {
    /// `None` after a failure.
    now: Option<Arc<OnDevices<'a>>>,
    /// The number of this round, from 1.
    round: usize,
    rounds: usize,
    /// Of rounds that are over.
    reads_on_host: u64,
    times: GpuTimes,
}

impl<'a> Rounds<'a> {
    /// Fills the devices for the first time; with `help`, the host asks the parts that are left over.
    ///
    /// # Errors
    /// If a device cannot be used, or there is no room for a single part.
    pub(crate) fn new(
        host: &Arc<HostQuery<'a>>,
        config: &GpuConfig,
        help: bool,
    ) -> Result<Rounds<'a>, Error> {
        let all: Vec<usize> = (0..host.database().parts()).collect();
        let now = Some(Arc::new(OnDevices::new(host, config, &all, help)?));
        let (reads_on_host, times) = (0, GpuTimes::default());
        let state = Mutex::new(CurrentRound { now, round: 1, rounds: 1, reads_on_host, times });
        Ok(Rounds { host: Arc::clone(host), config: config.clone(), help, state })
    }

    fn state(&self) -> MutexGuard<'_, CurrentRound<'a>> {
        lock(&self.state)
    }

    /// The devices with the parts of this round; nobody has them any more when the next one begins.
    pub(crate) fn now(&self) -> Option<Arc<OnDevices<'a>>> {
        self.state().now.clone()
    }

    /// Whether one round is enough.
    pub(crate) fn is_one(&self) -> bool {
        self.help || (self.state().round == 1 && self.left().is_empty())
    }

    /// Whether no parts are left after those of this round.
    pub(crate) fn is_last(&self) -> bool {
        self.left().is_empty()
    }

    /// The parts that were not asked yet.
    fn left(&self) -> Vec<usize> {
        self.now().map_or(Vec::new(), |now| now.left().to_vec())
    }

    /// Begins anew, with the first parts.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn restart(&self) -> Result<(), Error> {
        let round = self.state().round;
        match round {
            1 => Ok(()),
            _ => self.load(&(0..self.host.database().parts()).collect::<Vec<_>>(), 1),
        }
    }

    /// Gives the devices the next parts; false if there are none.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn next(&self) -> Result<bool, Error> {
        let (left, round) = (self.left(), self.state().round);
        if self.help || left.is_empty() {
            return Ok(false);
        }
        self.load(&left, round + 1)?;
        Ok(true)
    }

    /// Gives the devices those parts that they do not have now, as many as there is room for; false if
    /// there are none.
    ///
    /// # Errors
    /// As [`new`](Self::new).
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
        // Before the next ones take as much memory.
        if let Some(now) = state.now.take() {
            let notes = now.notes();
            state.reads_on_host += notes.reads_on_host;
            state.times.add(&notes.times);
        }
        state.round = round;
        state.rounds = state.rounds.max(round);
        let now = OnDevices::new(&self.host, &self.config, parts, self.help)?;
        state.now = Some(Arc::new(now));
        Ok(())
    }

    /// What the devices are, and did or did not do.
    pub(crate) fn notes(&self) -> GpuNotes {
        let state = self.state();
        let mut notes = state.now.as_ref().map(|now| now.notes()).unwrap_or_default();
        notes.rounds = state.rounds;
        notes.reads_on_host += state.reads_on_host;
        notes.times.add(&state.times);
        notes
    }
}
