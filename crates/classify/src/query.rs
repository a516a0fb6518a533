//! A database prepared for queries on the CPU or on devices. Only this module and its submodules know both
//! backends.

mod devices;
mod rounds;

pub(crate) use devices::OnDevices;
pub(crate) use rounds::Rounds;

use std::sync::Arc;

use merganser_run::{Context, Work};

use crate::candidates::{Candidate, QueryParams};
use crate::cpu::query::HostQuery;
pub use crate::cpu::query::Scratch;
use crate::cuda::GpuNotes;
use crate::decide::Thresholds;
use crate::{Database, Error};
use merganser_gpu::GpuConfig;

/// A database prepared for queries; shared by all workers.
#[derive(Debug)]
pub struct Query<'a> {
    host: Arc<HostQuery<'a>>,
    devices: Option<Rounds<'a>>,
}

impl<'a> Query<'a> {
    /// Prepares `database` for queries.
    pub fn new(database: &'a Database, params: QueryParams) -> Query<'a> {
        Query { host: Arc::new(HostQuery::new(database, params)), devices: None }
    }

    /// Prepares `database` for queries with these thresholds.
    pub fn with_thresholds(database: &'a Database, thresholds: &Thresholds) -> Query<'a> {
        Query::new(database, thresholds.query_params())
    }

    /// Sets the approximate number of features that are looked up together. More take more memory, fewer are
    /// slower. Results do not depend on it.
    pub fn with_group(self, features: usize) -> Query<'a> {
        let host = HostQuery::again(self.host.database(), self.host.prepared());
        Query { host: Arc::new(host.with_group(features)), ..self }
    }

    /// Copies the database to the GPUs that `context` selects, which [`find`](Self::find) then uses. Parts that do
    /// not fit into their memory are queried on the host. If GPUs are chosen automatically, only the number that the
    /// database needs is used, since the number of reads is unknown.
    ///
    /// # Errors
    /// If there is no thread; if GPUs were requested and there is no GPU; if one cannot be used or has no room for
    /// any part.
    pub fn on_gpus(self, context: &Context) -> Result<Query<'a>, Error> {
        context.validate()?;
        let work = Work::Classify { database: Some(self.host.database().bytes()) };
        let gpus = context.choose_gpus(work, None, merganser_gpu::usable)?;
        if gpus.is_empty() {
            return Ok(self);
        }
        let rounds = Rounds::open(&self.host, &GpuConfig::new(context, gpus), true)?;
        rounds.now().map_or(Ok(()), |devices| devices.fill(&context.cancel))?;
        Ok(Query { devices: Some(rounds), ..self })
    }

    /// Opens these devices, which are to be [filled](OnDevices::fill). Parts that do not fit at the same time take
    /// turns.
    ///
    /// # Errors
    /// If a device cannot be used or has no room for any part.
    pub(crate) fn on_gpus_in_rounds(self, config: &GpuConfig) -> Result<Query<'a>, Error> {
        let devices = Some(Rounds::open(&self.host, config, false)?);
        Ok(Query { devices, ..self })
    }

    /// Returns the rounds if parts take turns; otherwise `None`.
    pub(crate) fn rounds(&self) -> Option<&Rounds<'a>> {
        self.devices.as_ref().filter(|rounds| !rounds.is_one())
    }

    /// Returns notes on the devices, if there are any, and on the work that did not fit into their memory so far.
    pub fn gpu_notes(&self) -> Option<GpuNotes> {
        self.devices.as_ref().map(Rounds::notes)
    }

    /// Returns the devices of the current round, if there are any.
    pub(crate) fn devices(&self) -> Option<Arc<OnDevices<'a>>> {
        self.devices.as_ref().and_then(Rounds::now)
    }

    /// Finds [`candidates`](Self::candidates), on the devices if there are any. With rounds, only the parts of the
    /// current round are queried.
    ///
    /// # Errors
    /// If a device fails.
    pub fn find(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<(), Error> {
        match self.devices() {
            Some(devices) => devices.candidates(reads, scratch, candidates, ends),
            None => self.host.find(reads, scratch, candidates, ends),
        }
    }

    /// Returns the database on the host.
    pub(crate) fn host(&self) -> &HostQuery<'a> {
        &self.host
    }

    /// Creates the working space of a worker.
    pub fn scratch(&self) -> Scratch {
        self.host.scratch()
    }

    /// Finds the candidates of each of `reads` (one or two mates). Appends them to `candidates`, and the end of each
    /// read's candidates to `ends`, in the order of the reads.
    pub fn candidates(
        &self,
        reads: &[[&[u8]; 2]],
        scratch: &mut Scratch,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) {
        self.host.candidates(reads, scratch, candidates, ends);
    }
}
