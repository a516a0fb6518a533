//! The division of a device's memory.

use std::iter;

use merganser_gpu::Device;
use merganser_gpu::ingest::DeviceText;
use merganser_inflate::RemoteRoom;

use super::batch::TileBuffer;
use super::kernels::{GpuKmer, MAX_BINS, TILE_BASES};
use merganser_run::GpuShortage;

use crate::Error;
use crate::job::Job;

/// The usual number of bins.
const BINS: usize = 512;
/// The number of k-mers in a bin above which more bins are used.
const LARGE_BIN: u64 = 128 << 20;
/// The number of tiles of a batch: 8 million bases, enough to keep all multiprocessors of a device busy.
const BATCH_TILES: usize = 2048;
/// The number of streams of a device; each cuts the reads of one batch into super-k-mers at a time.
const STREAMS: usize = 3;
/// The number of streams if super-k-mers must go to the host. More batches are then processed at a time,
/// because a host thread distributes super-k-mers to bins much more slowly than a device cuts them.
const STREAMS_TO_HOST: usize = 8;
/// The number of workspaces of a device; each counts one group of bins at a time.
const WORKSPACES: usize = 2;
/// The number of workspaces if super-k-mers come from the host.
const WORKSPACES_FROM_HOST: usize = 4;
/// The largest number of k-mers of a group; sorts of this size run at full speed.
const MAX_KMERS: u64 = 256 << 20;
/// The smallest number of k-mers that is worth a group.
const MIN_KMERS: u64 = 4 << 20;
/// The largest number of bytes of queued batches: about 10^10 bases, enough to keep readers busy while the devices
/// start. If devices are slower than the readers, more batches would only take memory.
const MAX_BATCH_BYTES: u64 = 4 << 30;
/// The minimum device memory for counting, in bytes.
const MIN_MEMORY: u64 = 48 << 20;
/// The largest number of texts of a device that are read at the same time: while some are read from the file, by a core
/// each, others are uploaded, inflated and packed.
const MAX_TEXTS: usize = 16;
/// The size of a text in bytes: about 770 BGZF blocks, so that those of four texts fill an H100.
const MAX_TEXT: usize = 48 << 20;
/// Texts take at most the memory divided by this number.
const TEXTS_SHARE: u64 = 8;
/// The smallest size of a text for which devices read files. It has room for several BGZF blocks.
const MIN_TEXT: usize = 768 << 10;
/// The estimated number of k-mers of a super-k-mer (which is stored as one record).
const RECORD_KMERS: u64 = 10;
/// GPUs are faster than the CPU if the super-k-mers take at most this many times the device memory reserved for them.
const MAX_TIMES_ROOM: u64 = 8;
/// The share of a device's memory for counting, in eighths, up to [`MAX_COUNTING`] bytes; super-k-mers get four
/// fifths of the rest.
const COUNT_EIGHTHS: u64 = 3;
/// The largest number of bytes for counting, over all workspaces of a device.
const MAX_COUNTING: u64 = 16 << 30;

/// Returns the number of bins for about `kmers` k-mers.
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

/// Returns the bytes of device memory that each tile of a batch takes while super-k-mers are cut from it.
fn tile_bytes(bins: usize) -> u64 {
    (TileBuffer::TILE_BYTES + 4 * TILE_BASES + 4 + 2 * 8 * bins) as u64
}

/// Returns whether GPUs that may use `memory` bytes each count `text` bytes of input faster than the CPU; true if
/// either number is unknown. If the super-k-mers take more than [`MAX_TIMES_ROOM`] times the device memory for
/// them, they go to the host and come back in small pieces, and a CPU with 16 cores is faster
/// (`docs/evidence/speed.md`).
pub(crate) fn pay<K: GpuKmer>(memory: Option<u64>, devices: usize, text: Option<u64>) -> bool {
    let (Some(memory), Some(text)) = (memory, text) else { return true };
    let records = text / RECORD_KMERS * 8 * K::WORDS as u64;
    records <= MAX_TIMES_ROOM * devices as u64 * Budget::within(memory).records
}

/// The sizes that are used in phase 1, which cuts reads into super-k-mers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) bins: usize,
    /// The number of words of a record.
    pub(crate) words: usize,
    /// The number of streams of each device.
    pub(crate) streams: usize,
    /// The number of tiles of a batch.
    pub(crate) tiles: usize,
    /// The estimated bytes of all super-k-mers, if the size of the input is known.
    bytes: Option<u64>,
}

impl Sizes {
    /// Returns the sizes for about `kmers` k-mers.
    pub(crate) fn of(job: Job<'_>, bins: usize, kmers: Option<u64>, words: usize) -> Sizes {
        let bytes = kmers.map(|kmers| kmers / RECORD_KMERS * 8 * words as u64);
        let room = |memory| Budget::within(memory).records * job.devices.len() as u64;
        let streams = streams(job, bytes, job.gpu_memory.map(room));
        Sizes { bins, words, streams, tiles: batch_tiles(job, bins, streams), bytes }
    }

    /// Recomputes the number of streams, given that the devices have room for `room` bytes of super-k-mers.
    pub(crate) fn with_room(self, job: Job<'_>, room: u64) -> Sizes {
        Sizes { streams: streams(job, self.bytes, Some(room)), ..self }
    }
}

/// Returns the number of streams of each device for `bytes` bytes of super-k-mers, if all devices together have room
/// for `room` bytes.
fn streams(job: Job<'_>, bytes: Option<u64>, room: Option<u64>) -> usize {
    let to_host = bytes.zip(room).is_some_and(|(bytes, room)| bytes > room);
    let usual = if to_host { STREAMS_TO_HOST } else { STREAMS };
    job.config.gpu_streams.map_or(usual, usize::from)
}

/// Returns the number of workspaces on each device, and the capacity of each, if the workspaces of a device
/// share `counting` bytes. Their number is reduced until a bin fits into each. `from_host` is whether
/// super-k-mers come from the host.
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

/// Returns the number of tiles of a batch: [`BATCH_TILES`], or fewer if little device memory may be used.
fn batch_tiles(job: Job<'_>, bins: usize, streams: usize) -> usize {
    let streams = streams as u64;
    // The batches of all streams together take at most about an eighth of the memory, unless a batch would have
    // fewer than 16 tiles.
    let allowed = job.gpu_memory.unwrap_or(u64::MAX) / 8 / streams / tile_bytes(bins);
    allowed.clamp(16, BATCH_TILES as u64) as usize
}

/// Returns the number of batches in host memory: as many as fit into a quarter of `memory` bytes and into
/// [`MAX_BATCH_BYTES`], but at least two per thread and two more.
pub(crate) fn batches(job: Job<'_>, tiles: usize, memory: u64) -> usize {
    let share = (memory / 4).min(MAX_BATCH_BYTES);
    ((share / batch_bytes(tiles) as u64) as usize).max(2 * job.threads + 2)
}

/// Returns the bytes of a batch in host memory.
pub(crate) fn batch_bytes(tiles: usize) -> usize {
    tiles * TileBuffer::TILE_BYTES
}

/// The division of a device's memory, in bytes, before anything is allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Bytes for super-k-mers.
    pub(crate) records: u64,
    /// Bytes for counting, over all workspaces.
    pub(crate) counting: u64,
    /// Bytes in total. The bytes that are neither for super-k-mers nor for counting hold batches in phase 1 and kept
    /// k-mers in phase 2.
    pub(crate) all: u64,
}

impl Budget {
    /// Returns the budget for the free memory of a device within `--gpu-memory`, less a reserve for the context.
    pub(crate) fn of(device: &Device, job: Job<'_>) -> Result<Budget, Error> {
        let available = device.available_within(job.gpu_memory)?;
        if available < MIN_MEMORY {
            let (ordinal, what, needed) = (device.ordinal(), "k-mers", MIN_MEMORY);
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

/// The texts that each device holds at the same time while it reads files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    /// The number of texts, each with a thread.
    pub(crate) number: usize,
    /// The sizes of each.
    pub(crate) room: RemoteRoom,
}

impl Budget {
    /// Takes memory for texts of up to `threads` threads from that of super-k-mers; returns the texts, or `None` if
    /// there is too little memory.
    pub(crate) fn take_texts(&mut self, sizes: Sizes, threads: usize) -> Option<Texts> {
        let batch = sizes.tiles as u64 * tile_bytes(sizes.bins);
        let bytes = |text| DeviceText::device_bytes(DeviceText::room_for(text)) + batch;
        let share = self.all / TEXTS_SHARE;
        let of = |number: usize| {
            let fits = |text: &usize| number as u64 * bytes(*text) <= share;
            let text = iter::successors(Some(MAX_TEXT), |text| Some(text / 2))
                .take_while(|&text| text >= MIN_TEXT)
                .find(fits)?;
            Some(Texts { number, room: DeviceText::room_for(text) })
        };
        // Rather fewer texts of the largest size than many small ones, whose blocks do not fill a device.
        let numbers = || (1..=threads.clamp(2, MAX_TEXTS)).rev();
        let largest = numbers().filter_map(of).find(|texts| texts.room.text == MAX_TEXT);
        let texts = largest.or_else(|| numbers().find_map(of))?;
        self.records = self.records.saturating_sub(texts.number as u64 * bytes(texts.room.text));
        Some(texts)
    }
}

/// The capacity of a workspace: k-mers of a group, and words of their records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) kmers: usize,
    pub(crate) words: usize,
}

impl Room {
    /// Returns whether a bin fits, if `kmers` k-mers are spread about evenly over `bins` bins.
    fn has(&self, kmers: u64, bins: usize) -> bool {
        // A quarter more, because bins differ in size.
        kmers / bins as u64 / 4 * 5 <= self.kmers as u64
    }

    /// Returns the capacity within `bytes`, if all super-k-mers take `words` words and hold `kmers` k-mers. It is
    /// limited to what is useful when `shares` workspaces divide all k-mers among them.
    pub(crate) fn of<K: GpuKmer>(bytes: u64, kmers: u64, words: u64, shares: u64) -> Room {
        // Each k-mer needs two keys and a count, and a 16th of these for lists of runs and the sort's scratch memory.
        // Its share of the memory of super-k-mers is estimated as a quarter above the average, because bins differ in
        // size. The 8 MiB are for the parts of the buffers that do not depend on the number of k-mers.
        let key = size_of::<K::Word>() as f64;
        let each = (2.0 * key + 4.0) * 17.0 / 16.0;
        let record = 8.0 * words as f64 / kmers.max(1) as f64 * 1.25;
        let fit = (bytes.saturating_sub(8 << 20) as f64 / (each + record)) as u64;
        // About two groups for each workspace, so that one group is copied while another is sorted. A group ends only
        // at the end of a bin, so a 64th of all k-mers is added for the last bin.
        let wanted = (kmers / shares / 2 + kmers / 64).clamp(MIN_KMERS, MAX_KMERS);
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
    use merganser_run::Context;

    #[test]
    fn far_too_little_memory_does_not_pay() {
        let pays = |memory, text| pay::<u64>(Some(memory), 1, Some(text));
        assert!(pays(1500 << 20, 3_260_000_000) && !pays(500 << 20, 3_260_000_000));
        assert!(pays(500 << 20, 300_000_000));
        assert!(pay::<u64>(Some(500 << 20), 8, Some(3_260_000_000)));
        assert!(pay::<u64>(None, 1, Some(u64::MAX)) && pay::<u64>(Some(1), 1, None));
        // With wider records.
        assert!(!pay::<u128>(Some(1 << 30), 1, Some(3_260_000_000)));
    }

    #[test]
    fn devices_read_files_if_they_have_memory_for_texts() {
        let (config, context) = (crate::Config::new(28), Context::new());
        let texts = |memory: u64| {
            let job = Job { gpu_memory: Some(memory), ..Job::new(&config, &context, &[0]) };
            let sizes = Sizes::of(job, BINS, None, 1);
            let (mut budget, before) = (Budget::within(memory), Budget::within(memory));
            let texts = budget.take_texts(sizes, 16)?;
            assert!(before.records - budget.records <= before.all / TEXTS_SHARE);
            Some((texts.number, texts.room.text))
        };
        assert_eq!(texts(80 << 30), Some((MAX_TEXTS, MAX_TEXT)));
        assert!(
            texts(4 << 30).is_some_and(|(number, text)| number < MAX_TEXTS && text == MAX_TEXT)
        );
        assert!(texts(1 << 30).is_some_and(|(_, text)| text >= MIN_TEXT));
        assert_eq!(texts(48 << 20), None);
    }

    #[test]
    fn many_streams_bring_to_the_host_what_devices_have_no_room_for() {
        let (config, context) = (crate::Config::new(28), Context::new());
        let job = Job::new(&config, &context, &[0]);
        let sizes = Sizes::of(job, 4096, Some(82_000_000_000), 2);
        let streams = |room| sizes.with_room(job, room).streams;
        assert_eq!([sizes.streams, streams(50 << 30), streams(500 << 30)], [3, 8, 3]);
        let unknown = Sizes::of(job, 4096, None, 2);
        assert_eq!(unknown.with_room(job, 0).streams, STREAMS);
        let config = crate::Config { gpu_streams: Some(2), ..config };
        let job = Job::new(&config, &context, &[0]);
        assert_eq!(sizes.with_room(job, 0).streams, 2);
    }

    #[test]
    fn bins_have_room_where_little_memory_may_be_used() {
        let (config, context) = (crate::Config::new(28), Context::new());
        let bins = |memory: Option<u64>, kmers| {
            let job = Job { gpu_memory: memory, ..Job::new(&config, &context, &[]) };
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
