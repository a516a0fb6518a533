//! GPUs next to CPU workers. A worker that has fetched a block sends its pairs to a stream if one is free, and
//! continues with the next block. Otherwise, and while CUDA is still starting, it decides the pairs itself.
//! Neither devices nor workers wait for each other.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use merganser_gpu::ingest::DeviceInflater;
use merganser_gpu::{BufferPool, Device as CudaDevice, DeviceInfo, Pooled, Result as GpuResult};
use merganser_inflate::InflateAhead;
use merganser_run::engine::{Device, Turn};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Context, GpuShortage, side_by_side};

use super::work::{BATCH, Worker};
use crate::cuda::GpuFilter;
use crate::output::DecisionText;
use crate::source::Block;
use crate::{Error, Filter};

/// The number of streams per worker: one is filled while the other one computes.
const STREAMS_A_WORKER: usize = 2;
/// The number of bytes of text per word of planes for which streams initially have room: a sequence of 40 bases
/// takes two words.
const TEXT_A_WORD: usize = 20;
/// The number of bytes of text per pair for which streams initially have room: 40 bases per sequence.
const TEXT_A_PAIR: usize = 80;

/// The streams of all devices.
pub(super) struct Gpus {
    /// The CUDA ordinals of the devices.
    ordinals: Vec<u32>,
    threads: usize,
    /// The bytes of memory to use on each device; `None` for all that is free.
    memory: Option<u64>,
    /// Whether workers wait for streams instead of deciding pairs themselves.
    alone: bool,
    /// The numbers of words and pairs for which each stream initially has room.
    room: [usize; 2],
    streams: BufferPool<GpuFilter>,
    devices: Mutex<Vec<DeviceInfo>>,
    inflater: Arc<DeviceInflater>,
    /// The bytes of memory that the process may use.
    host: u64,
}

/// The results of the devices.
#[derive(Debug, Default)]
pub(super) struct ByGpus {
    pub(super) devices: Vec<DeviceInfo>,
    /// The time of kernels, summed over all streams.
    pub(super) kernels: Duration,
    /// The number of pairs that the configured method does not define.
    pub(super) exact_instead: u64,
}

impl Gpus {
    /// Prepares devices for blocks of `block` bytes of text; [`Gpus::make`] starts them.
    pub(super) fn new(ordinals: Vec<u32>, context: &Context, block: usize, alone: bool) -> Gpus {
        Gpus {
            ordinals,
            threads: context.threads,
            memory: context.gpu_memory,
            alone,
            room: [block / TEXT_A_WORD, block / TEXT_A_PAIR],
            streams: BufferPool::filled(),
            devices: Mutex::default(),
            inflater: DeviceInflater::late(),
            host: context.budget(),
        }
    }

    /// Whether there are no devices.
    pub(super) fn is_empty(&self) -> bool {
        self.ordinals.is_empty()
    }

    /// Returns the inflater of BGZF files, which begins when the devices have started.
    pub(super) fn inflater(&self) -> Arc<dyn InflateAhead> {
        Arc::clone(&self.inflater) as Arc<dyn InflateAhead>
    }

    /// Starts CUDA and creates the streams.
    ///
    /// # Errors
    /// If a device cannot be used, or has too little memory.
    pub(super) fn make(&self, filters: &[&Filter]) -> Result<(), Error> {
        let devices = CudaDevice::open_all(&self.ordinals)?;
        if let Some(first) = devices.first() {
            self.inflater.set(first, self.memory, self.host);
        }
        let streams = (STREAMS_A_WORKER * self.threads).div_ceil(devices.len());
        *lock(&self.devices) = devices.iter().map(|device| device.info().clone()).collect();
        side_by_side(&devices, |device| self.make_on(device, filters, streams)).map(drop)
    }

    /// Creates up to `streams` streams on a device, as many as its memory allows.
    fn make_on(
        &self,
        device: &CudaDevice,
        filters: &[&Filter],
        streams: usize,
    ) -> Result<(), Error> {
        let [words, pairs] = self.room;
        let needed = GpuFilter::bytes_for(words, pairs, filters.len());
        let available = device.available_beside_inflater(self.memory)?;
        // Half of the memory is left for batches of short sequences, which need more per byte of text.
        let streams = streams.min((available / 2 / needed) as usize);
        if streams == 0 {
            let (ordinal, what, needed) = (device.ordinal(), "filtering", 2 * needed);
            return Err(GpuShortage { ordinal, what, available, needed, remedy: "" }.into());
        }
        for _ in 0..streams {
            if self.streams.is_closed() {
                break;
            }
            let mut stream = GpuFilter::of_several(filters, device, None)?;
            stream.reserve(words, pairs)?;
            self.streams.put(stream);
        }
        Ok(())
    }

    /// Closes the pool, after a device has failed or all workers have ended, so that no worker waits for a
    /// stream.
    pub(super) fn stop(&self) {
        self.streams.close();
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
        let streams = self.streams.drain();
        let kernels = streams.iter().map(GpuFilter::kernel_time).sum();
        let exact_instead = streams.iter().map(GpuFilter::exact_instead).sum();
        ByGpus { devices: into_inner(self.devices), kernels, exact_instead }
    }
}

impl Device<Worker<'_>> for Gpus {
    /// The index of the block's first pair, and the stream that decides its pairs.
    type Slot = (u64, Pooled<GpuFilter>);

    /// The number of streams limits the number of blocks on devices.
    const IN_FLIGHT: usize = usize::MAX;

    fn shares(&self) -> bool {
        !self.alone
    }

    fn place(&self, _: &mut Worker<'_>, may_wait: bool) -> Result<Option<Self::Slot>, Error> {
        let free = self.streams.try_take()?;
        let stream = match may_wait && free.is_none() {
            true => self.streams.take_if_open()?,
            false => free,
        };
        Ok(stream.map(|stream| (0, stream)))
    }

    fn start(
        &self,
        worker: &mut Worker<'_>,
        block: &mut Block,
        (first, stream): &mut Self::Slot,
    ) -> Result<(), Error> {
        *first = block.index();
        self.or_stop(worker.fill(block, stream))
    }

    fn is_done(&self, (_, stream): &Self::Slot) -> Result<bool, Error> {
        self.or_stop(stream.is_done())
    }

    fn finish(
        &self,
        worker: &mut Worker<'_>,
        _: &mut Block,
        (first, mut stream): Self::Slot,
        turn: &Turn<'_, DecisionText, Error>,
    ) -> Result<DecisionText, Error> {
        self.or_stop(worker.collect(&mut stream).map_err(Error::from))?;
        drop(stream);
        let mut texts = turn.spare().unwrap_or_default();
        worker.report(first, &mut texts);
        Ok(texts)
    }
}

impl Worker<'_> {
    /// Packs a block's pairs into the memory of a stream, and launches the kernels.
    fn fill(&mut self, block: &mut Block, stream: &mut GpuFilter) -> Result<(), Error> {
        while block.take(BATCH, &mut self.batch)? {
            stream.add(&self.batch)?;
        }
        stream.launch()
    }

    /// Collects the decisions of a stream.
    fn collect(&mut self, stream: &mut GpuFilter) -> GpuResult<()> {
        stream.collect_of(0, &mut self.decisions)?;
        if self.exact.is_some() {
            stream.collect_of(1, &mut self.truth)?;
        }
        self.tally.gpu_pairs += self.decisions.len() as u64;
        stream.finish()
    }
}
