//! Queries on devices, with the host for reads and parts that do not fit into their memory.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;
use crate::candidates::{Candidate, Seen};
use crate::cpu::query::{HostQuery, Scratch};
use crate::cuda::{Flight, GpuNotes, GpuQuery, NearRead};
use merganser_gpu::GpuConfig;
use merganser_run::Cancel;

/// A database on devices, once they are [filled](OnDevices::fill), supported by the host.
#[derive(Debug)]
pub(crate) struct OnDevices<'a> {
    gpu: GpuQuery<'a>,
    /// All parts on the host, for single reads.
    host: Arc<HostQuery<'a>>,
    /// The parts that no device has room for, if the host is to query them.
    rest: Option<HostQuery<'a>>,
    /// The parts on the devices.
    here: Vec<usize>,
    reads_here: AtomicU64,
}

impl<'a> OnDevices<'a> {
    /// Opens the devices for as many of the parts `asked` as fit: all of them on each device, or else distributed
    /// over the devices. The others are left over or, with `help`, queried by the host.
    ///
    /// # Errors
    /// If a device cannot be used, or not even one part fits.
    pub(super) fn open(
        host: &Arc<HostQuery<'a>>,
        config: &GpuConfig,
        asked: &[usize],
        help: bool,
    ) -> Result<OnDevices<'a>, Error> {
        let (database, params) = (host.database(), *host.params());
        let gpu = GpuQuery::open(database, params, host.taxa().clone(), config, asked)?;
        let rest = (help && !gpu.left().is_empty()).then(|| host.of_parts(gpu.left()));
        let is_here = |part: &&usize| !gpu.left().contains(part);
        let here = asked.iter().filter(is_here).copied().collect();
        Ok(OnDevices { gpu, host: Arc::clone(host), rest, here, reads_here: AtomicU64::new(0) })
    }

    /// Copies the parts to the devices, unless they are there.
    ///
    /// # Errors
    /// If the database cannot be read, or a device fails; if cancelled.
    pub(crate) fn fill(&self, cancel: &Cancel) -> Result<(), Error> {
        self.gpu.fill(cancel)
    }

    /// Returns the parts that no device has room for.
    pub(super) fn left(&self) -> &[usize] {
        self.gpu.left()
    }

    /// Returns the parts on the devices.
    pub(super) fn here(&self) -> &[usize] {
        &self.here
    }

    /// Returns notes on the devices and on the work that did not fit into their memory.
    pub(super) fn notes(&self) -> GpuNotes {
        GpuNotes {
            devices: self.gpu.devices(),
            rounds: 1,
            parts_on_host: self.rest.as_ref().map_or(0, HostQuery::part_count),
            reads_on_host: self.reads_here.load(Ordering::Relaxed),
            times: self.gpu.times(),
        }
    }

    /// Returns the number of records and of bytes that a batch should have so that it usually fits on any device.
    pub(crate) fn batch(&self) -> [usize; 2] {
        self.gpu.batch()
    }

    /// Finds candidates as [`HostQuery::candidates`]. They are pooled only if all parts are queried.
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
        self.finish(flight, (reads.len(), &|| reads), scratch, candidates, ends)
    }

    /// Returns a slot for a batch: on the set of devices whose turn it is, or on the next one with a free slot.
    /// Otherwise waits for a slot or, without `wait`, returns `None`.
    ///
    /// # Errors
    /// If memory for it cannot be allocated.
    pub(crate) fn place(&self, wait: bool) -> Result<Option<Flight>, Error> {
        self.gpu.place(wait)
    }

    /// Sends as many of `reads` to the devices as fit, without waiting.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn start(&self, flight: &mut Flight, reads: &[[&[u8]; 2]]) -> Result<(), Error> {
        self.gpu.start(flight, reads)
    }

    /// Waits for the candidates of the reads that were sent, then sends the remaining reads and collects their
    /// candidates. Appends the candidates, and the end of each read's. They are pooled if all parts are queried.
    ///
    /// `reads` returns the `count` reads. It is called only if their letters are needed again.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn finish<'r>(
        &self,
        mut flight: Flight,
        (count, reads): (usize, &dyn Fn() -> &'r [[&'r [u8]; 2]]),
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let mut done = 0;
        loop {
            let taken = flight.taken();
            self.gpu.tell(&flight)?;
            let (start, from) = (candidates.len(), ends.len());
            let alone = self.rest.is_none();
            if !(alone && self.gpu.collect_all(&mut flight, taken, candidates, ends)?) {
                let now = &reads()[done..done + taken];
                self.merge(&mut flight, now, scratch)?;
                flight.found().append_to(candidates, ends);
                self.pool(&flight, now, scratch, candidates, (start, &ends[from..]))?;
            }
            done += taken;
            if done == count {
                return Ok(());
            }
            self.start(&mut flight, &reads()[done..])?;
        }
    }

    /// Pools the candidates of reads that were not pooled when they were found, if all parts are queried. This
    /// concerns databases of several parts, long reads, and queries with the help of the host, whose features come
    /// in another order.
    fn pool(
        &self,
        flight: &Flight,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut [Candidate],
        places: (usize, &[usize]),
    ) -> Result<(), Error> {
        if self.host.params().near == 0 {
            return Ok(());
        }
        let mut near = self.host.near_reads(reads, candidates, places);
        let mut seen = Seen::default();
        if self.rest.is_some() {
            if !near.is_empty() {
                self.host.database().fetch()?;
                self.host.look_again(reads, scratch, candidates, &near, &mut seen);
            }
        } else if self.here.len() == self.host.database().parts() {
            near.retain(|(read, _)| !self.gpu.has_pooled(flight, *read));
            self.look_again_on(flight.set(), reads, candidates, &near, &mut seen)?;
        }
        seen.tell(candidates, &near);
        Ok(())
    }

    /// Notes which of the candidates in `near` have the features of their reads, in the parts on the devices. Adds
    /// to what other parts found.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn look_again(
        &self,
        reads: &[[&[u8]; 2]],
        candidates: &[Candidate],
        near: &[(usize, Range<usize>)],
        seen: &mut Seen,
    ) -> Result<(), Error> {
        self.look_again_on(self.gpu.next_set(), reads, candidates, near, seen)
    }

    fn look_again_on(
        &self,
        set: usize,
        reads: &[[&[u8]; 2]],
        candidates: &[Candidate],
        near: &[(usize, Range<usize>)],
        seen: &mut Seen,
    ) -> Result<(), Error> {
        let chosen = near.iter().map(|(read, near)| (reads[*read], &candidates[near.clone()]));
        self.gpu.look_again(set, &chosen.collect::<Vec<NearRead<'_>>>(), seen)
    }

    /// Merges the results of the devices for `reads`, which were sent, with the host's results for the work that did
    /// not fit into device memory.
    fn merge(
        &self,
        flight: &mut Flight,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        flight.found().reset(reads.len(), self.host.params().max_candidates);
        // The host queries the parts that are not on the devices.
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
