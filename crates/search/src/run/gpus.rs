//! GPUs next to CPU workers. A worker gathers the texts of several batches in memory that the device copies, so that a
//! launch has enough letters, and decides the ends that come back. While CUDA starts, and if all scanners are in use, it
//! searches batches itself.

mod group;

use std::sync::Mutex;
use std::time::Duration;

use merganser_gpu::{BufferPool, Device as CudaDevice, DeviceInfo};
use merganser_io::{Input, RecordBatch, text_bytes};
use merganser_run::engine::{Device, Turn, Work as _};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{
    Budget, ConfigError, Context, DeviceChoice, GpuShortage, Shortage, Work, side_by_side,
};

use super::STRETCH;
use super::worker::{BatchPlaces, Worker, texts_of};
use crate::Error;
use crate::cuda::MAX_PATTERNS;
use crate::queries::Queries;
use crate::seeds::Way;
pub(super) use group::Group;
use group::{BatchGroup, Scanners, Slot, patterns};

/// The maximum number of letters of a launch, those between texts included.
const LETTERS: usize = if cfg!(test) { 2000 } else { 64 << 20 };
/// The maximum number of letters of a batch that a device takes, those between texts included.
const BATCH: usize = if cfg!(test) { 600 } else { 4 << 20 };
/// The number of letters for which every scanner has room: a batch, and another one.
const LEAST: usize = 2 * BATCH;
/// The maximum number of scanners on a device, for each direction of scans.
const SCANNERS: usize = 6;
/// The copies of the letters of a launch in memory: texts, records, their letters, those that are copied to the device,
/// and those that the receiver of hits wants.
const COPIES: u64 = 6;
/// Whether workers wait for devices rather than search batches that devices can take. For tests.
const ALONE: bool = cfg!(test);

/// Returns what keeps a search from being run on GPUs.
fn problem(queries: &Queries) -> Option<&'static str> {
    if queries.overhang().is_some() {
        return Some("`overhang` cannot be used on a GPU: use `device` cpu or auto");
    }
    let too_many = queries.all().len() > MAX_PATTERNS;
    too_many.then_some("there are too many patterns for a GPU: give fewer, or use `device` cpu")
}

/// Checks that a search can run on the GPUs that are requested.
///
/// # Errors
/// [`Error::Config`] if not.
pub(super) fn check(queries: &Queries, context: &Context) -> Result<(), Error> {
    match (&context.device, problem(queries)) {
        (DeviceChoice::AllCuda | DeviceChoice::Cuda(_), Some(problem)) => {
            Err(Error::Config(ConfigError::new(problem)))
        }
        _ => Ok(()),
    }
}

/// Returns the CUDA ordinals of the GPUs to use; empty if only the CPU searches. `ways` are those of the CPU.
fn choose(
    queries: &Queries,
    ways: &[Way],
    texts: &[Input],
    context: &Context,
) -> Result<Vec<u32>, Error> {
    check(queries, context)?;
    // Mismatches alone take the CPU less time than edits; whether a GPU is faster was not measured.
    let is_slow = queries.hamming() && context.device == DeviceChoice::Auto;
    if is_slow || problem(queries).is_some() {
        return Ok(Vec::new());
    }
    let letters = queries.all().iter().map(|query| query.sets.len() as u64).sum();
    let work = Work::Search { letters, share_by_cores: Way::share_of_bit_sliced(ways) };
    Ok(context.choose_gpus(work, text_bytes(texts), merganser_gpu::usable)?)
}

/// The scanners of all devices.
pub(super) struct Gpus<'q> {
    queries: &'q Queries,
    context: &'q Context,
    ordinals: Vec<u32>,
    /// The maximum number of scanners on each device, for each direction, and of letters of a launch.
    scanners: usize,
    letters: usize,
    pool: BufferPool<Scanners>,
    devices: Mutex<Vec<DeviceInfo>>,
}

/// The results of the devices.
#[derive(Debug, Default)]
pub(super) struct ByGpus {
    pub(super) devices: Vec<DeviceInfo>,
    /// The time of kernels, summed over all streams.
    pub(super) kernels: Duration,
}

impl<'q> Gpus<'q> {
    /// Chooses devices, and plans the memory of the host that they need; [`make`](Self::make) starts them. Returns `None`
    /// for a run on the CPU.
    ///
    /// # Errors
    /// If requested devices cannot search this, or if there is too little memory.
    pub(super) fn choose(
        queries: &'q Queries,
        ways: &[Way],
        texts: &[Input],
        budget: Budget,
        context: &'q Context,
    ) -> Result<Option<Gpus<'q>>, Error> {
        let ordinals = choose(queries, ways, texts, context)?;
        if ordinals.is_empty() {
            return Ok(None);
        }
        let half = budget.left() / 2;
        let of = |scanners: usize| (ordinals.len() * scanners) as u64 * COPIES;
        let fitting = (half / (of(1) * LEAST as u64)) as usize;
        let scanners = fitting.min(2 * context.threads).clamp(1, SCANNERS);
        let letters = (half / of(scanners)).clamp(LEAST as u64, LETTERS as u64) as usize;
        let gpus = Gpus {
            queries,
            context,
            scanners,
            letters,
            ordinals,
            pool: BufferPool::filled(),
            devices: Mutex::default(),
        };
        let what = format_args!("texts for {} GPUs need", gpus.ordinals.len());
        match budget.with(gpus.host_bytes()).check(what, Shortage::FEWER_THREADS) {
            Ok(_) => Ok(Some(gpus)),
            Err(shortage) if context.device == DeviceChoice::Auto => {
                gpus.tell(&shortage);
                Ok(None)
            }
            Err(shortage) => Err(shortage.into()),
        }
    }

    /// Returns the bytes of memory of the host.
    pub(super) fn host_bytes(&self) -> u64 {
        (self.ordinals.len() * self.scanners * self.letters) as u64 * COPIES
    }

    /// Returns the number of batches that may be on devices.
    pub(super) fn batches(&self) -> u64 {
        (self.ordinals.len() * self.scanners * (self.letters / STRETCH + 1)) as u64
    }

    /// Starts CUDA and creates the scanners. If `auto` has chosen devices that have too little memory, none are created.
    ///
    /// # Errors
    /// If a device cannot be used, or has too little memory.
    pub(super) fn make(&self) -> Result<(), Error> {
        let devices = CudaDevice::open_all(&self.ordinals)?;
        match side_by_side(&devices, |device| self.make_on(device)) {
            Err(Error::GpuMemory(why)) if self.context.device == DeviceChoice::Auto => {
                self.tell(&why);
                self.stop();
                return Ok(());
            }
            made => made.map(drop)?,
        }
        *lock(&self.devices) = devices.iter().map(|device| device.info().clone()).collect();
        Ok(())
    }

    /// Creates scanners on a device, as many as its memory allows.
    fn make_on(&self, device: &CudaDevice) -> Result<(), Error> {
        let patterns = patterns(device, self.queries)?;
        let available = device.available_within(self.context.gpu_memory)?;
        let mut letters = self.letters;
        while Scanners::bytes(&patterns, letters) > available && letters > LEAST {
            letters = (letters / 2).max(LEAST);
        }
        let needed = Scanners::bytes(&patterns, letters);
        let scanners = self.scanners.min((available / needed.max(1)) as usize);
        if scanners == 0 {
            let (ordinal, what) = (device.ordinal(), "searching");
            return Err(GpuShortage { ordinal, what, available, needed, remedy: "" }.into());
        }
        for _ in 0..scanners {
            if self.pool.is_closed() {
                break;
            }
            self.pool.put(Scanners::new(&patterns, letters)?);
        }
        Ok(())
    }

    fn tell(&self, why: &dyn std::fmt::Display) {
        self.context.progress.note(&format!("computing on the CPU: {why}"));
    }

    /// Closes the pool, after a device has failed or all workers have ended, so that no worker waits for a scanner.
    pub(super) fn stop(&self) {
        self.pool.close();
    }

    /// Closes the pool if a device has failed.
    fn or_stop<T>(&self, done: Result<T, Error>) -> Result<T, Error> {
        done.inspect_err(|error| {
            if matches!(error, Error::Gpu(_)) {
                self.stop();
            }
        })
    }

    /// Returns the results of the devices, after all workers have ended.
    pub(super) fn by_gpus(self) -> ByGpus {
        let kernels = self.pool.drain().iter().map(Scanners::kernel_time).sum();
        ByGpus { devices: into_inner(self.devices), kernels }
    }

    /// Returns the number of letters of a batch in a launch.
    fn letters_of(&self, batch: &RecordBatch) -> usize {
        let letters: usize = (0..batch.len()).map(|at| batch.letter_count(at)).sum();
        letters + batch.len() * (self.queries.most_edits() + 1)
    }
}

impl Device<Worker<'_>> for Gpus<'_> {
    type Slot = Slot;

    /// The number of scanners limits the number of batches on devices.
    const IN_FLIGHT: usize = usize::MAX;

    fn shares(&self) -> bool {
        !ALONE
    }

    fn takes(&self, batch: &RecordBatch) -> bool {
        self.letters_of(batch) <= BATCH
    }

    fn place(&self, worker: &mut Worker<'_>, may_wait: bool) -> Result<Option<Slot>, Error> {
        if let Some(open) = &worker.open {
            return Ok(Some(Slot::new(open)));
        }
        let free = self.pool.try_take()?;
        let scanners = match may_wait && free.is_none() {
            true => self.pool.take_if_open()?,
            false => free,
        };
        worker.open = scanners.map(BatchGroup::new);
        Ok(worker.open.as_ref().map(Slot::new))
    }

    fn start(
        &self,
        worker: &mut Worker<'_>,
        batch: &mut RecordBatch,
        slot: &mut Slot,
    ) -> Result<(), Error> {
        let added = slot.add(&texts_of(batch), &worker.searcher, self.letters_of(batch));
        let room = self.or_stop(added.map_err(Error::from))?;
        // The next batch must have room, too.
        if room < BATCH {
            worker.open = None;
            self.or_stop(slot.start().map_err(Error::from))?;
        }
        Ok(())
    }

    fn is_done(&self, slot: &Slot) -> Result<bool, Error> {
        self.or_stop(slot.is_done().map_err(Error::from))
    }

    fn finish(
        &self,
        worker: &mut Worker<'_>,
        batch: &mut RecordBatch,
        slot: Slot,
        turn: &Turn<'_, BatchPlaces, Error>,
    ) -> Result<BatchPlaces, Error> {
        if worker.open.as_ref().is_some_and(|open| slot.is_in(open)) {
            worker.open = None;
        }
        let ends = self.or_stop(slot.finish().map_err(Error::from))?;
        match ends {
            Some(ends) => worker.decide(batch, [&ends[0], &ends[1]]),
            // A group has more ends than there is memory for; whether a batch has too many does not depend on the group.
            None => worker.work(batch, turn),
        }
    }
}
