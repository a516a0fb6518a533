//! GPUs beside the CPU: a worker that has fetched a block gives its pairs to a stream if one is free,
//! and goes on with the next block; else, and while CUDA still starts, it decides them itself. So
//! no device waits for the CPU, and the CPU for no device.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use merganser_gpu::{Device, DeviceInfo, InFlight, Pool, Pooled, Result as GpuResult};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{GpuShortage, Resources, start_scoped};

use super::work::{BATCH, Shared, Tally, Worker};
use crate::cuda::GpuFilter;
use crate::source::Block;
use crate::{Error, Filter};

/// Streams for each worker: one is filled while the other is at work.
const STREAMS_A_WORKER: usize = 2;
/// Bytes of text to a word of planes, and to a pair, for which streams have room from the start: 40
/// bases a sequence.
const TEXT_A_WORD: usize = 20;
const TEXT_A_PAIR: usize = 80;

/// The streams of all devices.
pub(super) struct Gpus {
    /// CUDA's numbers of the devices.
    ordinals: Vec<u32>,
    threads: usize,
    /// Bytes of memory to use on each device, `None` for what is free.
    memory: Option<u64>,
    /// Workers wait for streams rather than decide pairs themselves.
    alone: bool,
    /// Words and pairs for which each stream has room from the start.
    room: [usize; 2],
    streams: Pool<GpuFilter>,
    devices: Mutex<Vec<DeviceInfo>>,
}

/// What the devices did.
#[derive(Debug, Default)]
pub(super) struct ByGpus {
    pub(super) devices: Vec<DeviceInfo>,
    /// The time that kernels took, of all streams together.
    pub(super) kernels: Duration,
    /// Pairs that the method asked for does not define.
    pub(super) exact_instead: u64,
}

/// A block whose pairs a device decides.
struct Flying {
    number: u64,
    first: u64,
    stream: Pooled<GpuFilter>,
}

impl Gpus {
    /// For blocks of `block` bytes of text.
    pub(super) fn new(
        ordinals: Vec<u32>,
        resources: &Resources,
        block: usize,
        alone: bool,
    ) -> Gpus {
        let (threads, memory) = (resources.threads, resources.gpu_memory);
        let room = [block / TEXT_A_WORD, block / TEXT_A_PAIR];
        let (streams, devices) = (Pool::filled(), Mutex::default());
        Gpus { ordinals, threads, memory, alone, room, streams, devices }
    }

    /// Starts CUDA and makes the streams. If that fails, so does the run.
    pub(super) fn start(&self, filters: &[&Filter], shared: &Shared<'_>) {
        if let Err(error) = self.make(filters) {
            shared.pipeline.fail(0, error);
            self.stop();
        }
    }

    fn make(&self, filters: &[&Filter]) -> Result<(), Error> {
        let devices = Device::open_all(&self.ordinals)?;
        let streams = (STREAMS_A_WORKER * self.threads).div_ceil(devices.len());
        *lock(&self.devices) = devices.iter().map(|device| device.info().clone()).collect();
        thread::scope(|scope| {
            let make = |device| start_scoped(scope, move || self.make_on(device, filters, streams));
            let threads = devices.iter().map(make).collect::<Result<Vec<_>, _>>()?;
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().try_for_each(join)
        })
    }

    /// Makes up to `streams` streams on a device, as many as its memory allows.
    fn make_on(&self, device: &Device, filters: &[&Filter], streams: usize) -> Result<(), Error> {
        if let Some(limit) = self.memory {
            device.limit_memory(limit);
        }
        let [words, pairs] = self.room;
        let needed = GpuFilter::bytes_for(words, pairs, filters.len());
        let available = device.available()?;
        // Half is left for batches of short sequences, which take more.
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

    /// A device failed, so that nobody shall wait for it, or all workers have ended.
    pub(super) fn stop(&self) {
        self.streams.close();
    }

    /// What the devices did, after all workers have ended.
    pub(super) fn finish(self) -> ByGpus {
        let streams = self.streams.drain();
        let kernels = streams.iter().map(GpuFilter::kernel_time).sum();
        let exact_instead = streams.iter().map(GpuFilter::exact_instead).sum();
        ByGpus { devices: into_inner(self.devices), kernels, exact_instead }
    }
}

impl Shared<'_> {
    /// Has blocks decided, by devices or the worker, until there are none.
    pub(super) fn work_with(&self, gpus: &Gpus, mut worker: Worker<'_>) -> Tally {
        let mut block = Block::default();
        let mut in_flight = InFlight::default();
        while self.pipeline.next(&mut block) {
            let number = block.number();
            // Those who wait for room may wait for ours.
            let all = !self.pipeline.written().has_room(number);
            self.land(gpus, &mut worker, &mut in_flight, if all { 0 } else { usize::MAX });
            if !self.pipeline.wait_for_room(&block) {
                break;
            }
            match self.stream(gpus, &mut worker, &mut in_flight) {
                Some(stream) => self.send(gpus, &mut worker, &mut block, stream, &mut in_flight),
                None => self.decide(&mut worker, &mut block),
            }
        }
        self.land(gpus, &mut worker, &mut in_flight, 0);
        worker.finish()
    }

    /// A stream that is free, if one is or may be waited for.
    fn stream(
        &self,
        gpus: &Gpus,
        worker: &mut Worker<'_>,
        in_flight: &mut InFlight<Flying>,
    ) -> Option<Pooled<GpuFilter>> {
        // A pool that makes none cannot fail to.
        let free = gpus.streams.try_take().ok()?;
        if free.is_some() || !gpus.alone {
            return free;
        }
        // Our own streams are waited for first: the others' come from others.
        self.land(gpus, worker, in_flight, 0);
        gpus.streams.take_if_open().ok()?
    }

    /// Gives a block's pairs to a stream.
    fn send(
        &self,
        gpus: &Gpus,
        worker: &mut Worker<'_>,
        block: &mut Block,
        mut stream: Pooled<GpuFilter>,
        in_flight: &mut InFlight<Flying>,
    ) {
        let (number, first) = (block.number(), block.index());
        match worker.fill(block, &mut stream) {
            Ok(()) => in_flight.push(Flying { number, first, stream }),
            Err(error) => {
                if matches!(error, Error::Gpu(_)) {
                    gpus.stop();
                    self.pipeline.fail(0, error);
                } else {
                    self.pipeline.fail(number, error);
                }
            }
        }
    }

    /// Hands in the decisions of streams that have them, of the first ones in any case, so that no
    /// more than `most` are left.
    fn land(
        &self,
        gpus: &Gpus,
        worker: &mut Worker<'_>,
        in_flight: &mut InFlight<Flying>,
        most: usize,
    ) {
        let is_done = |batch: &Flying| batch.stream.is_done();
        while let Some((batch, done)) = in_flight.landed(most, is_done) {
            let Flying { number, first, mut stream } = batch;
            let mut texts = self.pipeline.written().spare().unwrap_or_default();
            match done.and_then(|()| Ok(worker.collect(&mut stream)?)) {
                Ok(()) => {
                    drop(stream);
                    worker.report(self.format, first, &mut texts);
                    self.pipeline.hand_in(number, Ok(texts));
                }
                Err(error) => {
                    gpus.stop();
                    self.pipeline.fail(0, error);
                }
            }
        }
    }
}

impl Worker<'_> {
    /// Packs a block's pairs into a stream's memory and lets it decide them.
    fn fill(&mut self, block: &mut Block, stream: &mut GpuFilter) -> Result<(), Error> {
        while block.take(BATCH, &mut self.batch)? {
            stream.add(&self.batch)?;
        }
        stream.launch()
    }

    /// Takes a stream's decisions.
    fn collect(&mut self, stream: &mut GpuFilter) -> GpuResult<()> {
        stream.collect_of(0, &mut self.decisions)?;
        if self.exact.is_some() {
            stream.collect_of(1, &mut self.truth)?;
        }
        self.tally.gpu_pairs += self.decisions.len() as u64;
        stream.finish()
    }
}
