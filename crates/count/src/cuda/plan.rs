//! How a device's memory is spent.

use merganser_gpu::Device;

use super::batch::TileBuffer;
use super::kernels::{GpuKmer, MAX_BINS, TILE_BASES};
use merganser_run::GpuShortage;

use crate::Error;
use crate::job::Job;

/// Bins of a run; more only if asked for, or if a bin would be larger than `LARGE_BIN` k-mers.
const BINS: usize = 512;
const LARGE_BIN: u64 = 128 << 20;
/// Tiles of a batch: 8 million bases, enough to fill a device for a while.
const BATCH_TILES: usize = 2048;
/// Batches on one device at a time (streams), and if much of what they make must go to the host:
/// a thread puts a fraction of what a device cuts into bins.
const STREAMS: usize = 3;
const STREAMS_TO_HOST: usize = 8;
/// Groups of bins on one device at a time, and if they come from the host.
const WORKSPACES: usize = 2;
const WORKSPACES_FROM_HOST: usize = 4;
/// The most k-mers of a group: a sort of so many runs at full speed.
const MAX_KMERS: u64 = 256 << 20;
/// Fewer are not worth a group.
const LEAST_KMERS: u64 = 4 << 20;
/// Batches that wait for devices take no more: some 10^10 bases, which bridge the start of devices. Where
/// devices are the slower part, more of them would be but memory.
const MAX_BATCH_BYTES: u64 = 4 << 30;
/// The least device memory to count with.
const LEAST_MEMORY: u64 = 48 << 20;
/// k-mers of a record, about.
const RECORD_KMERS: u64 = 10;
/// How many times their room super-k-mers may take.
const MAX_TIMES_ROOM: u64 = 8;
/// What is counted at a time has so many eighths of a device's memory, up to a limit; super-k-mers have
/// four fifths of the rest.
const COUNT_EIGHTHS: u64 = 3;
const MAX_COUNTING: u64 = 16 << 30;

/// The number of bins for about so many k-mers.
pub(crate) fn bins<K: GpuKmer>(job: Job<'_>, kmers: Option<u64>) -> usize {
    let kmers = kmers.unwrap_or(0);
    let words = kmers / RECORD_KMERS * K::WORDS as u64;
    let fits = job.gpu_memory.is_none_or(|memory| {
        let counting = Budget::within(memory).counting;
        Room::of::<K>(counting / WORKSPACES as u64, kmers, words, 1).has(kmers, BINS)
    });
    let few = fits && kmers / BINS as u64 <= LARGE_BIN;
    job.config.bins.0.unwrap_or(if few { BINS } else { MAX_BINS }).min(MAX_BINS)
}

/// Bytes of device memory that each tile of a batch takes while it is cut.
fn tile_bytes(bins: usize) -> u64 {
    (TileBuffer::TILE_BYTES + 4 * TILE_BASES + 4 + 2 * 8 * bins) as u64
}

/// Whether GPUs that may use `memory` bytes each are worth it: where super-k-mers take many times their
/// room, these go to the host and come back in small pieces, and 16 cores are sooner done
/// (docs/benchmarks.md). `text` bytes, if anybody knows, are to be counted.
pub(crate) fn pay<K: GpuKmer>(memory: Option<u64>, devices: usize, text: Option<u64>) -> bool {
    let (Some(memory), Some(text)) = (memory, text) else { return true };
    let records = text / RECORD_KMERS * 8 * K::WORDS as u64;
    records <= MAX_TIMES_ROOM * devices as u64 * Budget::within(memory).records
}

/// What phase 1 works with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) bins: usize,
    /// Words of a record.
    pub(crate) words: usize,
    /// Batches on each device at a time.
    pub(crate) streams: usize,
    /// Tiles of a batch.
    pub(crate) tiles: usize,
    /// Bytes of all super-k-mers, about, if anybody knows.
    bytes: Option<u64>,
}

impl Sizes {
    /// For about so many k-mers.
    pub(crate) fn of(job: Job<'_>, bins: usize, kmers: Option<u64>, words: usize) -> Sizes {
        let bytes = kmers.map(|kmers| kmers / RECORD_KMERS * 8 * words as u64);
        let room = |memory| Budget::within(memory).records * job.devices.len() as u64;
        let streams = streams(job, bytes, job.gpu_memory.map(room));
        Sizes { bins, words, streams, tiles: batch_tiles(job, bins, streams), bytes }
    }

    /// The same, now that it is known how many bytes of super-k-mers the devices have room for.
    pub(crate) fn with_room(self, job: Job<'_>, room: u64) -> Sizes {
        Sizes { streams: streams(job, self.bytes, Some(room)), ..self }
    }
}

/// Streams of each device for so many bytes of super-k-mers, where they have `room`.
fn streams(job: Job<'_>, bytes: Option<u64>, room: Option<u64>) -> usize {
    let to_host = bytes.zip(room).is_some_and(|(bytes, room)| bytes > room);
    let usual = if to_host { STREAMS_TO_HOST } else { STREAMS };
    job.config.gpu_streams.map_or(usual, usize::from)
}

/// Workspaces on each device, and the room of each, of `counting` bytes: fewer than usual where a bin
/// would have no room else.
pub(crate) fn workspaces<K: GpuKmer>(
    counting: u64,
    devices: usize,
    from_host: bool,
    (kmers, words, bins): (u64, u64, usize),
) -> (usize, Room) {
    let most = if from_host { WORKSPACES_FROM_HOST } else { WORKSPACES };
    let room =
        |each: usize| Room::of::<K>(counting / each as u64, kmers, words, (devices * each) as u64);
    let each = (1..=most).rev().find(|&each| room(each).has(kmers, bins)).unwrap_or(1);
    (each, room(each))
}

/// Tiles of a batch: fewer where little device memory may be used.
fn batch_tiles(job: Job<'_>, bins: usize, streams: usize) -> usize {
    let streams = streams as u64;
    let allowed = job.gpu_memory.unwrap_or(u64::MAX) / 8 / streams / tile_bytes(bins);
    allowed.clamp(16, BATCH_TILES as u64) as usize
}

/// Host memory's batches: a quarter of the budget up to a limit, and at least two for each thread.
pub(crate) fn batches(job: Job<'_>, tiles: usize) -> usize {
    let bytes = (tiles * TileBuffer::TILE_BYTES) as u64;
    let share = (job.memory / 4).min(MAX_BATCH_BYTES);
    ((share / bytes) as usize).max(2 * job.threads + 2)
}

/// Bytes of a device's memory, before anything is in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// For super-k-mers.
    pub(crate) records: u64,
    /// For what is counted at a time, all workspaces together.
    pub(crate) counting: u64,
    /// In all.
    pub(crate) all: u64,
}

impl Budget {
    /// What the device has free, within `--gpu-memory`, less a little for the context.
    pub(crate) fn of(device: &Device, job: Job<'_>) -> Result<Budget, Error> {
        let available = device.available_within(job.gpu_memory)?;
        if available < LEAST_MEMORY {
            let (ordinal, what, needed) = (device.ordinal(), "k-mers", LEAST_MEMORY);
            return Err(GpuShortage { ordinal, what, available, needed, remedy: "" }.into());
        }
        Ok(Budget::within(available))
    }

    fn within(memory: u64) -> Budget {
        let all = merganser_run::Budget::of_device(memory).left();
        let counting = (all / 8 * COUNT_EIGHTHS).min(MAX_COUNTING);
        Budget { records: (all - counting) / 5 * 4, counting, all }
    }
}

/// The k-mers of a group that a workspace has room for, and the words of their records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) kmers: usize,
    pub(crate) words: usize,
}

impl Room {
    /// Whether a bin has room, if all have about as many of so many k-mers.
    fn has(&self, kmers: u64, bins: usize) -> bool {
        // They are not all alike.
        kmers / bins as u64 / 4 * 5 <= self.kmers as u64
    }

    /// Within `bytes`, if super-k-mers take `words` words and hold `kmers` k-mers in all; no larger
    /// than there is use for, with `shares` workspaces at work.
    pub(crate) fn of<K: GpuKmer>(bytes: u64, kmers: u64, words: u64, shares: u64) -> Room {
        // Two buffers of keys, a count each, a 16th for lists; records with a quarter more than
        // their share, for bins are not all alike.
        let key = size_of::<K::Word>() as f64;
        let each = (2.0 * key + 4.0) * 17.0 / 16.0;
        let record = 8.0 * words as f64 / kmers.max(1) as f64 * 1.25;
        let fit = (bytes.saturating_sub(8 << 20) as f64 / (each + record)) as u64;
        // Two groups a workspace at least, so that copies of one go on beside the sort of another.
        let wanted = (kmers / shares / 2 + kmers / 64).clamp(LEAST_KMERS, MAX_KMERS);
        let kmers_here = fit.min(wanted).max(1 << 12);
        let least_words = 4096 * K::WORDS;
        Room {
            kmers: kmers_here as usize,
            words: ((kmers_here as f64 * record / 8.0) as usize).max(least_words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_run::Resources;

    #[test]
    fn far_too_little_memory_does_not_pay() {
        let pays = |memory, text| pay::<u64>(Some(memory), 1, Some(text));
        assert!(pays(1500 << 20, 3_260_000_000) && !pays(500 << 20, 3_260_000_000));
        assert!(pays(500 << 20, 300_000_000));
        assert!(pay::<u64>(Some(500 << 20), 8, Some(3_260_000_000)));
        assert!(pay::<u64>(None, 1, Some(u64::MAX)) && pay::<u64>(Some(1), 1, None));
        // Wider records.
        assert!(!pay::<u128>(Some(1 << 30), 1, Some(3_260_000_000)));
    }

    #[test]
    fn many_streams_bring_to_the_host_what_devices_have_no_room_for() {
        let (config, resources) = (crate::Config::new(28), Resources::new());
        let job = Job::new(&config, &resources, &[0]);
        let sizes = Sizes::of(job, 4096, Some(82_000_000_000), 2);
        let streams = |room| sizes.with_room(job, room).streams;
        assert_eq!([sizes.streams, streams(50 << 30), streams(500 << 30)], [3, 8, 3]);
        let unknown = Sizes::of(job, 4096, None, 2);
        assert_eq!(unknown.with_room(job, 0).streams, STREAMS);
        let config = crate::Config { gpu_streams: Some(2), ..config };
        let job = Job::new(&config, &resources, &[0]);
        assert_eq!(sizes.with_room(job, 0).streams, 2);
    }

    #[test]
    fn bins_have_room_where_little_memory_may_be_used() {
        let (config, resources) = (crate::Config::new(28), Resources::new());
        let bins = |memory: Option<u64>, kmers| {
            let job = Job { gpu_memory: memory, ..Job::new(&config, &resources, &[]) };
            bins::<u64>(job, kmers)
        };
        assert_eq!(bins(None, None), BINS);
        assert_eq!(bins(None, Some(2_460_000_000)), BINS);
        assert_eq!(bins(None, Some(82_000_000_000)), MAX_BINS);
        assert_eq!(bins(Some(500 << 20), Some(2_460_000_000)), MAX_BINS);
        assert_eq!(bins(Some(500 << 20), Some(246_000_000)), BINS);
        let (counting, load) =
            (Budget::within(500 << 20).counting, (2_460_000_000, 492_000_000, MAX_BINS));
        let (each, room) = workspaces::<u64>(counting, 1, true, load);
        assert!(each == 2 && room.has(load.0, MAX_BINS));
        assert_eq!(workspaces::<u64>(16 << 30, 1, true, load).0, WORKSPACES_FROM_HOST);
        assert_eq!(workspaces::<u64>(1 << 20, 1, true, load).0, 1);
    }
}
