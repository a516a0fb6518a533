//! Kraken tables on devices. Each device has all tables of a database, finds the minimizers of batches of sequences
//! and looks up their nodes. The host computes the taxa of reads from the nodes, with the same code as
//! without a device.

mod kernels;
mod ranges;
mod tables;

use std::sync::{Arc, Mutex, OnceLock};

use merganser_gpu::ingest::DeviceInflater;
use merganser_gpu::{
    BufferPool, Device, DeviceBuffer, DeviceInfo, GpuConfig, PinnedBuffer, Pooled,
    Result as GpuResult, Stream, Uploaded, primitives,
};
use merganser_inflate::InflateAhead;
use merganser_run::locks::lock;
use merganser_run::{Budget, Cancel, Context, RoundRobin};

use crate::Error;
use crate::options::Kraken2Options;
use crate::tables::Tables;
use crate::taxonomy::Kraken2Taxonomy;
pub(crate) use kernels::MAX_TABLES;
use kernels::{AllCells, Asked, FoundRun, Rule, Runs, Sequence, Sequences};
pub(crate) use ranges::RangeGpu;
use tables::DeviceTables;

/// The maximum number of sequences of a batch, and of words of 8 letters.
const BATCH_SEQUENCES: usize = 1 << 16;
const BATCH_WORDS: usize = (4 << 20) / 8 + BATCH_SEQUENCES;
/// Batches per thread: one runs on the device while the thread processes the other.
const BATCHES_A_THREAD: usize = 2;

/// Devices for the tables of a database, which they hold once they are [filled](Kraken2Gpus::fill).
pub(crate) struct Kraken2Gpus {
    devices: Vec<OneDevice>,
    turns: RoundRobin,
    /// The tables on each device.
    tables: OnceLock<Vec<DeviceTables>>,
    /// A lock that is held while they are filled.
    filling: Mutex<()>,
}

impl std::fmt::Debug for Kraken2Gpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kraken2Gpus").field("devices", &self.devices.len()).finish_non_exhaustive()
    }
}

struct OneDevice {
    device: Device,
    rule: Rule,
    workspaces: BufferPool<Workspace>,
}

/// The results of batches in addition to nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The minimizers.
    pub(crate) minimizers: bool,
    /// The databases that have the minimizers, of several.
    pub(crate) databases: bool,
}

impl Kraken2Gpus {
    /// Opens devices with room for at most [`MAX_TABLES`] tables.
    ///
    /// # Errors
    /// If a device cannot be used, or has too little memory.
    pub(crate) fn open(
        options: &Kraken2Options,
        tables: (&Tables, &Kraken2Taxonomy),
        config: &GpuConfig,
        wanted: Wanted,
    ) -> Result<Kraken2Gpus, Error> {
        let devices = Device::open_all(&config.devices)?;
        let most = (BATCHES_A_THREAD * config.streams).div_ceil(devices.len()).max(1);
        let opened = devices.into_iter().map(|device| {
            let same = config.devices.iter().filter(|&&number| number == device.ordinal());
            let shared = same.count() as u64;
            let available = device.available_beside_inflater(config.memory)? / shared;
            let budget = Budget::of_device(available).with(DeviceTables::bytes(tables.0, tables.1));
            let each = Workspace::bytes(wanted);
            budget.with(each).check_device(device.ordinal(), "the table of the database")?;
            let workspaces = BufferPool::new(most.min((budget.left() / each) as usize), {
                let device = device.clone();
                move || Workspace::new(&device, wanted)
            });
            Ok(OneDevice { device, rule: rule(options), workspaces })
        });
        Ok(Kraken2Gpus {
            devices: opened.collect::<Result<_, Error>>()?,
            turns: RoundRobin::default(),
            tables: OnceLock::new(),
            filling: Mutex::default(),
        })
    }

    /// Copies tables to all devices, unless they are there. Each file is read once, by up to `threads` threads.
    ///
    /// # Errors
    /// If a file cannot be read or became shorter; if a device fails; if cancelled.
    pub(crate) fn fill(
        &self,
        (tables, tree): (&Tables, &Kraken2Taxonomy),
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Uploaded, Error> {
        let _only = lock(&self.filling);
        if self.tables.get().is_some() {
            return Ok(Uploaded::default());
        }
        let devices: Vec<Device> = self.devices.iter().map(|one| one.device.clone()).collect();
        let (there, uploaded) = DeviceTables::of(tables, tree, &devices, threads, cancel)?;
        // The lock ensures that they are missing.
        let _ = self.tables.set(there);
        Ok(uploaded)
    }

    /// Returns an inflater of BGZF files on the first device, if it has memory for that.
    pub(crate) fn inflater(&self, context: &Context) -> Option<Arc<dyn InflateAhead>> {
        let first = &self.devices.first()?.device;
        Some(DeviceInflater::beside(first, context.gpu_memory, context.budget()))
    }

    /// Returns the facts about the devices, in the requested order.
    pub(crate) fn devices(&self) -> Vec<DeviceInfo> {
        self.devices.iter().map(|one| one.device.info().clone()).collect()
    }

    /// Returns the number of sequences, and of their bytes, that a batch should have so that it fits in a slot.
    pub(crate) fn batch() -> [usize; 2] {
        [BATCH_SEQUENCES / 2, 8 * (BATCH_WORDS - BATCH_SEQUENCES)]
    }

    /// Whether sequences of these lengths fit in a slot.
    pub(crate) fn has_room(lengths: impl Iterator<Item = usize>) -> bool {
        let sizes =
            lengths.fold([0, 0], |[count, words], length| [count + 1, words + length.div_ceil(8)]);
        sizes[0] <= BATCH_SEQUENCES && sizes[1] <= BATCH_WORDS
    }

    /// Takes a free slot on the device whose turn it is, or on the next device that has one. If all slots
    /// are taken, waits for one if `wait` is set and returns `None` otherwise.
    ///
    /// # Errors
    /// If memory for the slot cannot be allocated.
    pub(crate) fn place(&self, wait: bool) -> Result<Option<Kraken2Flight>, Error> {
        let devices = self.devices.len();
        let first = self.turns.next(devices);
        for device in (first..first + devices).map(|at| at % devices) {
            if let Some(workspace) = self.devices[device].workspaces.try_take()? {
                return Ok(Some(Kraken2Flight { device, workspace }));
            }
        }
        let workspace = wait.then(|| self.devices[first].workspaces.take()).transpose()?;
        Ok(workspace.map(|workspace| Kraken2Flight { device: first, workspace }))
    }

    /// Sends sequences, which must fit in the slot, to the device without waiting for results. With `join`,
    /// consecutive minimizers with the same node form one run; `join` requires that no minimizers are returned.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If the devices are not filled.
    pub(crate) fn start<'s>(
        &self,
        flight: &mut Kraken2Flight,
        sequences: impl Iterator<Item = &'s [u8]>,
        join: bool,
    ) -> Result<(), Error> {
        let one = &self.devices[flight.device];
        let tables = &self.tables.get().expect("devices are filled before use")[flight.device];
        flight.workspace.load(sequences)?;
        Ok(flight.workspace.start(&Asked { rule: one.rule, join }, &tables.view())?)
    }
}

fn rule(options: &Kraken2Options) -> Rule {
    let lmer = (1 << (2 * options.l)) - 1;
    let spaced = if options.spaced_mask == 0 { lmer } else { options.spaced_mask & lmer };
    Rule {
        // No sequence in a batch has 2^32 letters, so that a larger k gives the same result.
        k: u32::try_from(options.k).unwrap_or(u32::MAX),
        l: options.l as u32,
        lmer,
        spaced,
        toggle: options.toggle_mask & lmer,
        minimum_hash: options.minimum_hash,
        old_complement: options.old_complement.into(),
    }
}

/// A batch in flight on a device, in its slot.
pub(crate) struct Kraken2Flight {
    device: usize,
    workspace: Pooled<Workspace>,
}

/// The results of a device, sequence by sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'f> {
    /// The number of runs of each sequence.
    pub(crate) counts: &'f [u32],
    /// The runs of all sequences, with their nodes.
    pub(crate) runs: &'f [FoundRun],
    /// The minimizers of the runs, if they were requested; valid at the positions of runs that have a new one.
    pub(crate) minimizers: Option<&'f [u64]>,
    /// The databases that have the minimizers of each run, if they were requested: bit I is that of table I.
    pub(crate) databases: Option<&'f [u32]>,
}

impl Found<'_> {
    /// Returns the largest node that was found; 0 if no node was.
    pub(crate) fn largest_node(&self) -> u32 {
        self.runs.iter().map(|&[_, node, _]| node).max().unwrap_or(0)
    }
}

impl Kraken2Flight {
    /// Whether the device has finished the batch.
    ///
    /// # Errors
    /// If the device failed.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        Ok(self.workspace.total.is_idle()?)
    }

    /// Waits for the results of the batch.
    ///
    /// # Errors
    /// If the device failed, or if there is too little pinned memory.
    pub(crate) fn finish(&mut self) -> Result<Found<'_>, Error> {
        Ok(self.workspace.finish()?)
    }
}

/// Runs on a device, with their minimizers and databases if these are requested.
struct Buffers {
    runs: DeviceBuffer<FoundRun>,
    minimizers: Option<DeviceBuffer<u64>>,
    databases: Option<DeviceBuffer<u32>>,
}

impl Buffers {
    fn new(device: &Device, wanted: Wanted) -> GpuResult<Buffers> {
        let room = 8 * BATCH_WORDS;
        Ok(Buffers {
            runs: device.alloc(room)?,
            minimizers: wanted.minimizers.then(|| device.alloc(room)).transpose()?,
            databases: wanted.databases.then(|| device.alloc(room)).transpose()?,
        })
    }

    fn view_mut(&mut self) -> Runs<'_> {
        Runs {
            runs: self.runs.view_mut(),
            minimizers: self.minimizers.as_mut().map(DeviceBuffer::view_mut),
            databases: self.databases.as_mut().map(DeviceBuffer::view_mut),
        }
    }
}

/// A stream with its buffers; holds one batch.
struct Workspace {
    device: Device,
    letters: PinnedBuffer<u64>,
    places: PinnedBuffer<Sequence>,
    /// The number of words and of sequences in use.
    filled: [usize; 2],
    letters_there: DeviceBuffer<u64>,
    places_there: DeviceBuffer<Sequence>,
    /// The runs of each sequence, which begin at the position of its first letter.
    found: Buffers,
    /// The runs of all sequences without gaps.
    gathered: Buffers,
    counts: DeviceBuffer<u32>,
    offsets: DeviceBuffer<u64>,
    scratch: DeviceBuffer<u8>,
    counts_here: PinnedBuffer<u32>,
    total: PinnedBuffer<u64>,
    /// The results, with room for those of the largest batch so far: few runs are usual, and pinning takes long.
    runs_here: PinnedBuffer<FoundRun>,
    minimizers_here: Option<PinnedBuffer<u64>>,
    databases_here: Option<PinnedBuffer<u32>>,
    /// Declared last, so that it is destroyed after the buffers that its work uses.
    stream: Stream,
}

impl Workspace {
    /// Returns the device memory of a workspace in bytes.
    fn bytes(wanted: Wanted) -> u64 {
        let Wanted { minimizers, databases } = wanted;
        let more = 8 * usize::from(minimizers) + 4 * usize::from(databases);
        let run = size_of::<FoundRun>() + more;
        (BATCH_WORDS * (8 + 2 * 8 * run) + BATCH_SEQUENCES * (8 + 4 + 8) + (1 << 20)) as u64
    }

    fn new(device: &Device, wanted: Wanted) -> GpuResult<Workspace> {
        let scratch = primitives::exclusive_scan_scratch::<u32>(device, BATCH_SEQUENCES + 1)?;
        Ok(Workspace {
            device: device.clone(),
            letters: device.alloc_pinned(BATCH_WORDS)?,
            places: device.alloc_pinned(BATCH_SEQUENCES)?,
            filled: [0, 0],
            letters_there: device.alloc(BATCH_WORDS)?,
            places_there: device.alloc(BATCH_SEQUENCES)?,
            found: Buffers::new(device, wanted)?,
            gathered: Buffers::new(device, wanted)?,
            counts: device.alloc(BATCH_SEQUENCES + 1)?,
            offsets: device.alloc(BATCH_SEQUENCES + 1)?,
            scratch: device.alloc(scratch)?,
            counts_here: device.alloc_pinned(BATCH_SEQUENCES)?,
            total: device.alloc_pinned(1)?,
            runs_here: device.alloc_pinned(0)?,
            minimizers_here: wanted.minimizers.then(|| device.alloc_pinned(0)).transpose()?,
            databases_here: wanted.databases.then(|| device.alloc_pinned(0)).transpose()?,
            stream: device.stream()?,
        })
    }

    /// Copies sequences, which must fit, to pinned memory.
    fn load<'s>(&mut self, sequences: impl Iterator<Item = &'s [u8]>) -> GpuResult<()> {
        // Called once, as each call queries CUDA for copies in progress.
        let (letters, places) = (self.letters.as_mut_slice()?, self.places.as_mut_slice()?);
        let letters: &mut [u8] = bytemuck::cast_slice_mut(letters);
        let (mut at, mut count) = (0, 0);
        for sequence in sequences {
            letters[at..at + sequence.len()].copy_from_slice(sequence);
            places[count] = [at as u32, sequence.len() as u32];
            at += sequence.len().next_multiple_of(8);
            count += 1;
        }
        self.filled = [at / 8, count];
        Ok(())
    }

    fn start(&mut self, rule: &Asked, cells: &AllCells<'_>) -> GpuResult<()> {
        let ([words, count], stream) = (self.filled, &self.stream);
        stream.upload(&mut self.letters, 0..words, self.letters_there.view_mut())?;
        stream.upload(&mut self.places, 0..count, self.places_there.view_mut())?;
        let letters = self.letters_there.slice(..words);
        let sequences = Sequences { letters, places: self.places_there.slice(..count) };
        let mut found = self.found.view_mut();
        kernels::runs(stream, rule, cells, sequences, &mut found, self.counts.view_mut())?;
        stream.fill(self.counts.slice_mut(count..=count), 0)?;
        let (counts, offsets) = (self.counts.slice(..=count), self.offsets.slice_mut(..=count));
        primitives::exclusive_scan::<u32>(stream, counts, offsets, self.scratch.view_mut())?;
        let numbers = (counts, self.offsets.view());
        kernels::gather(stream, sequences, &mut found, numbers, &mut self.gathered.view_mut())?;
        stream.download(self.counts.slice(..count), &mut self.counts_here, 0)?;
        stream.download(self.offsets.slice(count..=count), &mut self.total, 0)
    }

    fn finish(&mut self) -> GpuResult<Found<'_>> {
        let total = self.total.as_slice()?[0] as usize;
        let (device, stream) = (&self.device, &self.stream);
        fetch(device, stream, &self.gathered.runs, total, &mut self.runs_here)?;
        if let (Some(there), Some(here)) = (&self.gathered.minimizers, &mut self.minimizers_here) {
            fetch(device, stream, there, total, here)?;
        }
        if let (Some(there), Some(here)) = (&self.gathered.databases, &mut self.databases_here) {
            fetch(device, stream, there, total, here)?;
        }
        let minimizers = self.minimizers_here.as_ref().map(|here| Ok(&here.as_slice()?[..total]));
        let databases = self.databases_here.as_ref().map(|here| Ok(&here.as_slice()?[..total]));
        Ok(Found {
            counts: &self.counts_here.as_slice()?[..self.filled[1]],
            runs: &self.runs_here.as_slice()?[..total],
            minimizers: minimizers.transpose()?,
            databases: databases.transpose()?,
        })
    }
}

/// Copies `total` items from a device to pinned memory, which is enlarged if necessary.
fn fetch<T: merganser_gpu::Pod>(
    device: &Device,
    stream: &Stream,
    there: &DeviceBuffer<T>,
    total: usize,
    here: &mut PinnedBuffer<T>,
) -> GpuResult<()> {
    if here.len() < total {
        *here = device.alloc_pinned(total.next_power_of_two())?;
    }
    stream.download(there.slice(..total), here, 0)
}
