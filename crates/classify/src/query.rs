//! A database made ready for queries, on the CPU or on devices: this module and its own know both.

mod devices;
mod rounds;

pub(crate) use devices::OnDevices;
pub(crate) use rounds::Rounds;

use std::sync::Arc;

use merganser_run::{Progress, Resources, Work};

use crate::candidates::{Candidate, QueryParams};
use crate::cpu::query::HostQuery;
pub use crate::cpu::query::Scratch;
use crate::cuda::GpuNotes;
use crate::decide::Thresholds;
use crate::{Database, Error};
use merganser_gpu::GpuConfig;

/// A database made ready for queries; shared by all workers.
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

    /// Looks up about so many features at once: more take more memory, fewer are slower. What is
    /// found does not depend on it.
    pub fn with_group(self, features: usize) -> Query<'a> {
        let host = HostQuery::again(self.host.database(), self.host.prepared());
        Query { host: Arc::new(host.with_group(features)), ..self }
    }

    /// Puts the database on the GPUs that `resources` asks for, which [`find`](Self::find) then asks.
    /// Parts for which they have no room the host asks. By themselves, as many GPUs as it needs are
    /// taken, as nobody knows how many reads will come.
    ///
    /// # Errors
    /// If there is no thread; if GPUs are asked for and there are none; if one cannot be used or has
    /// no room for any part.
    pub fn on_gpus(
        self,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Query<'a>, Error> {
        resources.validate()?;
        let work = Work::Classify { database: Some(self.host.database().bytes()) };
        let gpus = resources.choose_gpus(work, None, merganser_gpu::usable, progress)?;
        if gpus.is_empty() {
            return Ok(self);
        }
        let devices = Some(Rounds::new(&self.host, &GpuConfig::new(resources, gpus), true)?);
        Ok(Query { devices, ..self })
    }

    /// Puts the database on these devices; parts for which there is no room take turns with the others.
    ///
    /// # Errors
    /// If a device cannot be used or has no room for any part.
    pub(crate) fn on_gpus_in_rounds(self, config: &GpuConfig) -> Result<Query<'a>, Error> {
        let devices = Some(Rounds::new(&self.host, config, false)?);
        Ok(Query { devices, ..self })
    }

    /// The rounds, if parts take turns.
    pub(crate) fn rounds(&self) -> Option<&Rounds<'a>> {
        self.devices.as_ref().filter(|rounds| !rounds.is_one())
    }

    /// What the devices are, if there are any, and had no room for so far.
    pub fn gpu_notes(&self) -> Option<GpuNotes> {
        self.devices.as_ref().map(Rounds::notes)
    }

    /// The devices, if there are any.
    pub(crate) fn devices(&self) -> Option<Arc<OnDevices<'a>>> {
        self.devices.as_ref().and_then(Rounds::now)
    }

    /// As [`candidates`](Self::candidates), on the devices if there are any; of the parts only whose turn
    /// it is.
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

    /// The database on the host.
    pub(crate) fn host(&self) -> &HostQuery<'a> {
        &self.host
    }

    /// A worker's own space.
    pub fn scratch(&self) -> Scratch {
        self.host.scratch()
    }

    /// The candidates of each of `reads` (one or two mates), in order: appended to `candidates`,
    /// with the place where those of each read end appended to `ends`.
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
