//! A counting run on GPUs, from reading to the sorted table.

use std::iter;
use std::ops::Range;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use merganser_gpu::{Arena, Device};
use merganser_io::Chunk as Text;
use merganser_kmers::Histogram;
use merganser_kmers::formats::TableOutput;
use merganser_run::{Share, Unit, each, side_by_side, start_scoped};
use merganser_store::BlockPool;

use super::reading::ReadContext;
use super::{Outcome, RunContext};
use crate::Error;
use crate::binmap::BinMap;
use crate::cpu::Width;
use crate::cpu::counter::Counter;
use crate::cuda::GpuKmer;
use crate::cuda::chunks::Chunk;
use crate::cuda::counting::{Bins, Workspace, groups};
use crate::cuda::feeding::{feed, read_beside, take_texts};
use crate::cuda::host_bins::HostBins;
use crate::cuda::host_writers::with_writers;
use crate::cuda::packing::{PackedKmers, Sink};
use crate::cuda::partition::Cutter;
use crate::cuda::plan::{self, Budget};
use crate::cuda::queue::Queue;
use crate::cuda::table::DeviceTable;
use crate::cuda::table_kernels::Layout;
use crate::fragments::Tally;
use crate::job::Job;
use crate::plan::Plan;
use crate::results::Results;

/// Bytes of pinned memory, stacks and the CUDA runtime, reserved from the host's budget.
const HOST_RESERVE: u64 = 256 << 20;
/// The largest number of threads that gather a group's records from the host; more would contend with each other.
const MAX_GATHERERS: usize = 4;
/// A device's memory divided by this number is left free for allocations that are larger than planned.
const ARENA_LEAVES: u64 = 32;

/// The result of phase 1: the open devices, their budgets, and the super-k-mers.
struct Cut {
    devices: Vec<(Device, Budget)>,
    chunks: Vec<Chunk>,
    /// The counts of the text that devices have read.
    tally: Tally,
}

impl RunContext<'_> {
    /// Counts on the devices of the job.
    pub(crate) fn count_on_gpus<K: Width + GpuKmer>(
        self,
        files: TableOutput,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        let (config, devices) = (self.config, self.job.devices);
        let (sent, wanted) = mpsc::channel();
        let started = Instant::now();
        thread::scope(|scope| {
            // Initializes CUDA while files are read.
            start_scoped(scope, move || {
                let _ = sent.send(Device::open_all(devices));
            })?;
            let (sampler, first, expected) = self.sample_first()?;
            let bins = plan::bins::<K>(self.job, expected);
            let map = BinMap::balanced(sampler.slots(), &sampler.weights, bins);
            let plan = crate::plan::plan::<K>(self.job, bins)?;
            outcome.bins = bins;
            outcome.stage("sample", started);
            let full_bytes = plan.full_bytes.saturating_sub(HOST_RESERVE);
            let pool = self.pool(Plan { full_bytes, ..plan });
            let host = HostBins::new(&pool, bins, config.k, K::WORDS);
            let started = Instant::now();
            let sizes = plan::Sizes::of(self.job, bins, expected, K::WORDS);
            let cut = self.partition(&map, sizes, first, wanted, &host, &mut outcome)?;
            outcome.stage("partition", started);
            self.count_cut::<K>(cut, plan, &host, &pool, files, &mut outcome)?;
            outcome.spilled_bytes = pool.spilled();
            if outcome.spilled_bytes > 0 {
                let full = pool.max_bytes() + HOST_RESERVE;
                outcome.enough_memory = crate::plan::memory_for::<K>(self.job, bins, full);
            }
            let started = Instant::now();
            drop(host);
            drop(pool);
            outcome.stage("clean up", started);
            Ok(outcome)
        })
    }

    /// Runs phase 1: all workers parse and pack reads, and the devices cut super-k-mers.
    fn partition(
        &self,
        map: &BinMap,
        sizes: plan::Sizes,
        first: Option<Text>,
        devices: mpsc::Receiver<merganser_gpu::Result<Vec<Device>>>,
        host: &HostBins<'_>,
        outcome: &mut Outcome,
    ) -> Result<Cut, Error> {
        let plan::Sizes { bins, words, tiles, .. } = sizes;
        let (queue, reading) =
            (Queue::new(plan::batches(self.job, tiles, self.job.memory), tiles), self.reading());
        let (mut tally, cut) = read_beside(&reading, first, &queue, |ready| {
            cut_on_all(&reading, map, sizes, (devices, ready), &queue, host)
        })?;
        tally.add(cut.tally);
        outcome.read(tally);
        outcome.devices = cut.devices.iter().map(|(device, _)| device.info().clone()).collect();
        let all = Bins { chunks: &cut.chunks, host }.load(&(0..bins));
        outcome.total_kmers = all.kmers;
        outcome.super_kmers = all.records;
        outcome.super_kmer_bytes = all.records * 8 * words as u64;
        Ok(cut)
    }

    /// Runs phases 2 and 3.
    fn count_cut<K: Width + GpuKmer>(
        &self,
        cut: Cut,
        plan: Plan,
        host: &HostBins<'_>,
        pool: &BlockPool,
        files: TableOutput,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let started = Instant::now();
        self.progress.stage("counting", Unit::Kmers, Some(outcome.total_kmers));
        let most = crate::plan::sorted_at_once::<K>(self.job);
        let results = Results::<K>::new(self.config, pool).sorting(most);
        let all = Bins { chunks: &cut.chunks, host };
        let counted = self.count_bins_on_gpus(&all, &cut.devices, plan, &results, outcome)?;
        outcome.histogram.merge(&counted.histogram);
        let Cut { devices, chunks, .. } = cut;
        drop(chunks);
        let devices: Vec<Device> = devices.into_iter().map(|(device, _)| device).collect();
        outcome.stage("count", started);
        let table = self.table(&counted, &devices, &results)?;
        self.emit(&table, pool, files, outcome)
    }

    /// Returns the source of the table that the devices sort.
    fn table<'t, 'p, K: Width + GpuKmer>(
        &self,
        counted: &'t Counted,
        devices: &[Device],
        results: &'t Results<'p, K>,
    ) -> Result<DeviceTable<'t, 'p, K>, Error> {
        let (least, most) = (self.config.least(), self.config.most());
        let kept = counted.histogram.distinct(least, most);
        let section_bits = merganser_kmers::Header::new(self.config.k, kept).section_bits();
        DeviceTable::new(self.job, devices, &counted.segments, results, section_bits)
    }

    /// Runs phase 2: the workspaces of all devices count groups of bins; the CPU counts the bins that no
    /// device can.
    fn count_bins_on_gpus<'p, K: Width + GpuKmer>(
        &self,
        all: &Bins<'_, '_>,
        devices: &[(Device, Budget)],
        plan: Plan,
        results: &Results<'p, K>,
        outcome: &Outcome,
    ) -> Result<Counted, Error> {
        let words = outcome.super_kmers * K::WORDS as u64;
        let counting = devices.iter().map(|(_, budget)| budget.counting).min().unwrap_or(0);
        let from_host = all.host.load(&(0..plan.bins)).records > 0;
        let load = (outcome.total_kmers, words, plan.bins);
        let (each, room) = plan::workspaces::<K>(counting, devices.len(), from_host, load);
        let loads: Vec<_> = (0..plan.bins).map(|bin| all.load(&(bin..bin + 1))).collect();
        let groups = groups(&loads, room, K::WORDS);
        let layout = Layout::of(results.scattered());
        let gatherers = self.job.threads.div_ceil(each * devices.len()).min(MAX_GATHERERS);
        let workspaces = devices.iter().flat_map(|(device, _)| iter::repeat_n(device, each));
        let workspaces = workspaces
            .map(|device| Workspace::<K>::new(self.config, device, layout, (room, gatherers)))
            .collect::<Result<Vec<_>, _>>()?;
        // The kept k-mers get all memory that super-k-mers and workspaces leave.
        let arenas = devices.iter().map(|(device, budget)| {
            let left = (budget.all - budget.all / ARENA_LEAVES).saturating_sub(device.used());
            Arena::new(device, (left / 16).clamp(1 << 16, 256 << 20) as usize, left)
        });
        let arenas: Vec<Arena> = arenas.collect();
        let share = Share::new(0..groups.len(), self.cancel);
        let work = Work { run: self, all, groups: &groups, share, loads: &loads };
        let parts = with_writers(results, self.job.threads, &devices[0].0, |to_host| {
            side_by_side(workspaces.into_iter().enumerate(), |(number, workspace)| {
                let sink = Sink { arena: &arenas[number / each], to_host, segments: Vec::new() };
                work.workspace(workspace, sink)
            })
        })?;
        let mut counted = Counted { histogram: Histogram::default(), segments: Vec::new() };
        let mut refused = Vec::new();
        for part in parts {
            counted.histogram.merge(&part.counted.histogram);
            counted.segments.extend(part.counted.segments);
            refused.extend(part.refused);
        }
        counted.histogram.merge(&self.count_on_cpu(all, &refused, devices, plan, results)?);
        Ok(counted)
    }

    /// Counts bins with the CPU's hash maps, which have no limit on the occurrences of a k-mer.
    fn count_on_cpu<'p, K: Width + GpuKmer>(
        &self,
        all: &Bins<'_, '_>,
        bins: &[Range<usize>],
        devices: &[(Device, Budget)],
        plan: Plan,
        results: &Results<'p, K>,
    ) -> Result<Histogram, Error> {
        let parts = each(self.job.threads, 0..bins.len(), self.cancel, |numbers| {
            let stream = devices[0].0.stream()?;
            let mut counter = Counter::new(self.config, plan.table_bytes, results);
            for bins in numbers.map(|number| &bins[number]) {
                self.count_bins_on_cpu(all, bins, &stream, &mut counter)?;
                self.progress.advance(all.load(bins).kmers);
            }
            counter.finish()
        })?;
        let mut histogram = Histogram::default();
        parts.iter().for_each(|part| histogram.merge(part));
        Ok(histogram)
    }

    fn count_bins_on_cpu<'p, K: Width + GpuKmer>(
        &self,
        all: &Bins<'_, '_>,
        bins: &Range<usize>,
        stream: &merganser_gpu::Stream,
        counter: &mut Counter<'_, 'p, K>,
    ) -> Result<(), Error> {
        for bin in bins.clone() {
            for chunk in all.chunks {
                let records = chunk.records(&(bin..bin + 1), K::WORDS);
                all.host.append(bin, &stream.download_vec(records)?)?;
            }
            counter.count(&all.host.take(bin))?;
        }
        Ok(())
    }
}

/// Waits for the requested devices to open, then cuts batches on all streams of all devices, and has the devices read
/// what is left of files that they can read. Drops `ready` once the devices take batches and files.
fn cut_on_all(
    reading: &ReadContext<'_>,
    map: &BinMap,
    sizes: plan::Sizes,
    (devices, ready): (mpsc::Receiver<merganser_gpu::Result<Vec<Device>>>, mpsc::Sender<()>),
    queue: &Queue,
    host: &HostBins<'_>,
) -> Result<Cut, Error> {
    let job = reading.job;
    let mut devices = with_budgets(job, devices)?;
    let budgets = devices.iter_mut().map(|(_, budget)| budget);
    let texts = take_texts(reading, sizes, budgets, queue);
    let sizes = sizes.with_room(job, devices.iter().map(|(_, budget)| budget.records).sum());
    let cutters = devices
        .iter()
        .map(|(device, budget)| Cutter::new(job.config, device, map, sizes, budget.records, host));
    let cutters = cutters.collect::<Result<Vec<_>, _>>()?;
    let tally = feed(reading, &cutters, (texts, sizes.streams), queue, ready)?;
    let chunks = cutters.into_iter().flat_map(Cutter::finish).collect();
    Ok(Cut { devices, chunks, tally })
}

/// Waits for the requested devices to open; returns them with their budgets.
pub(super) fn with_budgets(
    job: Job<'_>,
    devices: mpsc::Receiver<merganser_gpu::Result<Vec<Device>>>,
) -> Result<Vec<(Device, Budget)>, Error> {
    let devices = devices.recv().unwrap_or_else(|_| Err(merganser_gpu::unavailable()))?;
    let with_budget = |device: Device| Budget::of(&device, job).map(|budget| (device, budget));
    devices.into_iter().map(with_budget).collect()
}

/// The result of phase 2.
struct Counted {
    histogram: Histogram,
    /// Kept k-mers on the devices; those that did not fit are in the host's results.
    segments: Vec<PackedKmers>,
}

/// Groups of bins, shared by all workspaces.
struct Work<'w, 'b, 'p> {
    run: &'w RunContext<'w>,
    all: &'w Bins<'b, 'p>,
    groups: &'w [Range<usize>],
    share: Share<'w>,
    loads: &'w [crate::cuda::chunks::Load],
}

/// The result of one workspace, with the groups of bins that it could not count.
struct WorkspacePart {
    counted: Counted,
    refused: Vec<Range<usize>>,
}

impl Work<'_, '_, '_> {
    fn workspace<K: Width + GpuKmer>(
        &self,
        mut workspace: Workspace<'_, K>,
        mut sink: Sink<'_>,
    ) -> Result<WorkspacePart, Error> {
        let mut refused = Vec::new();
        self.share.work(|numbers| {
            for group in numbers.map(|number| &self.groups[number]) {
                if workspace.count(self.all, group, &mut sink)? {
                    let kmers = self.loads[group.clone()].iter().map(|load| load.kmers).sum();
                    self.run.progress.advance(kmers);
                } else {
                    refused.push(group.clone());
                }
            }
            Ok::<_, Error>(())
        })?;
        workspace.stream.synchronize()?;
        let histogram = workspace.finish();
        let counted = Counted { histogram, segments: sink.segments };
        Ok(WorkspacePart { counted, refused })
    }
}
