//! Asking devices, and, for what they have no room for, the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;
use crate::candidates::Candidate;
use crate::cpu::query::{HostQuery, Scratch};
use crate::cuda::{Flight, GpuConfig, GpuNotes, GpuQuery};

/// A database on devices, with the host to help them.
#[derive(Debug)]
pub(crate) struct OnDevices<'a> {
    gpu: GpuQuery<'a>,
    /// For single reads, all parts.
    host: Arc<HostQuery<'a>>,
    /// For parts that no device has room for.
    rest: Option<HostQuery<'a>>,
    reads_here: AtomicU64,
}

impl<'a> OnDevices<'a> {
    /// Opens the devices and copies to them as many of the parts `asked` as there is room for: all of
    /// them to each, or else one to this and one to that device. The others are left, or, if `help`,
    /// asked by the host.
    ///
    /// # Errors
    /// If a device cannot be used, or there is no room for a single part.
    pub(super) fn new(
        host: &Arc<HostQuery<'a>>,
        config: &GpuConfig,
        asked: &[usize],
        help: bool,
    ) -> Result<OnDevices<'a>, Error> {
        let (database, params) = (host.database(), *host.params());
        let gpu = GpuQuery::new(database, params, host.taxa().clone(), config, asked)?;
        let rest = (help && !gpu.left().is_empty()).then(|| host.of_parts(gpu.left()));
        Ok(OnDevices { gpu, host: Arc::clone(host), rest, reads_here: AtomicU64::new(0) })
    }

    /// Parts that no device has room for.
    pub(super) fn left(&self) -> &[usize] {
        self.gpu.left()
    }

    /// What the devices are, and did or did not do.
    pub(super) fn notes(&self) -> GpuNotes {
        GpuNotes {
            devices: self.gpu.devices(),
            rounds: 1,
            parts_on_host: self.rest.as_ref().map_or(0, HostQuery::part_count),
            reads_on_host: self.reads_here.load(Ordering::Relaxed),
            times: self.gpu.times(),
        }
    }

    /// How many records, and bytes of them, a batch should have: as a rule, there is room for it on
    /// any device.
    pub(crate) fn batch(&self) -> [usize; 2] {
        self.gpu.batch()
    }

    /// As [`HostQuery::candidates`].
    ///
    /// # Errors
    /// If a device fails.
    pub(super) fn candidates(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let Some(mut flight) = self.place(true)? else { return Ok(()) };
        self.start(&mut flight, reads)?;
        self.finish(flight, reads, scratch, candidates, ends)
    }

    /// A place for a batch on the devices whose turn it is, or on the next ones that have one free;
    /// if none has, waits for one, or gives `None`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn place(&self, wait: bool) -> Result<Option<Flight>, Error> {
        self.gpu.place(wait)
    }

    /// Sends `reads` to the devices, as many as there is room for at a time, and does not wait.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn start(&self, flight: &mut Flight, reads: &[[&[u8]; 2]]) -> Result<(), Error> {
        self.gpu.start(flight, reads)
    }

    /// Waits for the candidates of the reads that were sent, and of those for which there was no
    /// room yet: appends them, and where those of each read end.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn finish(
        &self,
        mut flight: Flight,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let mut rest = reads;
        loop {
            let (now, later) = rest.split_at(flight.taken());
            self.gpu.tell(&flight)?;
            let alone = self.rest.is_none();
            if !(alone && self.gpu.collect_all(&mut flight, now.len(), candidates, ends)?) {
                self.merge(&mut flight, now, scratch)?;
                flight.found().append_to(candidates, ends);
            }
            rest = later;
            if rest.is_empty() {
                return Ok(());
            }
            self.start(&mut flight, rest)?;
        }
    }

    /// Merges what the devices have found for `reads`, which were sent, with what they had no room
    /// for.
    fn merge(
        &self,
        flight: &mut Flight,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        flight.found().reset(reads.len(), self.host.params().max_candidates);
        // The host looks at what is not there.
        if let Some(rest) = &self.rest {
            let (mut candidates, mut ends) = (Vec::new(), Vec::new());
            rest.candidates(reads, scratch, &mut candidates, &mut ends);
            let mut start = 0;
            for (read, &end) in ends.iter().enumerate() {
                flight.found().merge(read, candidates[start..end].iter().copied());
                start = end;
            }
        }
        let left = self.gpu.collect(flight, reads)?;
        self.reads_here.fetch_add(left.len() as u64, Ordering::Relaxed);
        for read in left {
            let (mut candidates, mut ends) = (Vec::new(), Vec::new());
            self.host.find(&reads[read..=read], scratch, &mut candidates, &mut ends)?;
            flight.found().merge(read, candidates.into_iter());
        }
        Ok(())
    }
}
