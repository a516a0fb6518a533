//! Super-k-mers by bin between the phases, in three tiers: the device's memory, host memory, disk.
//!
//! What lies on the host goes to and from the device through a little pinned memory: pinning all of it
//! takes 0.35 s a GiB, several times as long as the copy (docs/benchmarks.md).

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_gpu::{ArenaBuffer, Device, DeviceSliceMut, PinnedBuffer, Stream};
use merganser_kmers::store::{Pool, Storage};

use crate::Error;

/// The records of one batch, by bin.
pub(crate) struct Chunk {
    place: Place,
    /// Where each bin begins, and the end: k-mers << 32 | records.
    starts: Vec<u64>,
}

enum Place {
    Device(ArenaBuffer<u64>),
    Host(Vec<u64>),
    Disk { offset: u64 },
}

/// What a stretch of bins holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) kmers: u64,
    pub(crate) records: u64,
}

impl Load {
    pub(crate) fn add(&mut self, other: Load) {
        self.kmers += other.kmers;
        self.records += other.records;
    }
}

impl Chunk {
    /// Whether it lies on the host.
    pub(crate) fn is_on_host(&self) -> bool {
        !matches!(self.place, Place::Device(_))
    }

    fn start(&self, bin: usize) -> Load {
        Load { kmers: self.starts[bin] >> 32, records: self.starts[bin] & 0xffff_ffff }
    }

    /// What the bins hold in this chunk.
    pub(crate) fn load(&self, bins: &Range<usize>) -> Load {
        let (from, to) = (self.start(bins.start), self.start(bins.end));
        Load { kmers: to.kmers - from.kmers, records: to.records - from.records }
    }

    /// Words of the bins' records.
    fn words(&self, bins: &Range<usize>, words: usize) -> Range<usize> {
        self.start(bins.start).records as usize * words
            ..self.start(bins.end).records as usize * words
    }
}

/// Where the chunks go that no device holds.
pub(crate) struct Tiers<'p> {
    storage: Storage,
    /// Bytes of host memory that are left.
    host_left: AtomicU64,
    host_bytes: u64,
    /// Bytes that devices had no room for.
    taken_over: AtomicU64,
    pool: &'p Pool,
}

impl<'p> Tiers<'p> {
    /// At most `host_bytes` in host memory, the rest in the pool's spill file.
    pub(crate) fn new(storage: Storage, host_bytes: u64, pool: &'p Pool) -> Tiers<'p> {
        let host_bytes = if storage == Storage::Disk { 0 } else { host_bytes };
        let (host_left, taken_over) = (AtomicU64::new(host_bytes), AtomicU64::new(0));
        Tiers { storage, host_left, host_bytes, taken_over, pool }
    }

    /// Bytes that devices had no room for so far, be they in host memory or on disk.
    pub(crate) fn taken_over(&self) -> u64 {
        self.taken_over.load(Ordering::Relaxed)
    }

    pub(crate) fn in_device(part: ArenaBuffer<u64>, starts: Vec<u64>) -> Chunk {
        Chunk { place: Place::Device(part), starts }
    }

    /// Bytes of host memory that no record took.
    pub(crate) fn left(&self) -> u64 {
        self.host_left.load(Ordering::Relaxed)
    }

    /// Takes records out of device memory, once the stream has made them.
    pub(crate) fn take_over(
        &self,
        stream: &Stream,
        records: merganser_gpu::DeviceSlice<'_, u64>,
        starts: Vec<u64>,
        staging: &mut Staging,
    ) -> Result<Chunk, Error> {
        let bytes = 8 * records.len() as u64;
        self.taken_over.fetch_add(bytes, Ordering::Relaxed);
        let take = |left: u64| left.checked_sub(bytes);
        let in_memory =
            self.host_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if !in_memory && self.storage == Storage::Ram {
            return Err(Error::RamFull { limit: self.host_bytes });
        }
        let host = staging.of(stream.device(), records.len())?;
        stream.download(records, host, 0)?;
        let words = &host.as_slice()?[..records.len()];
        if in_memory {
            return Ok(Chunk { place: Place::Host(words.to_vec()), starts });
        }
        let mut bytes = Vec::with_capacity(8 * words.len());
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let offset = self.pool.spill(&bytes)?;
        Ok(Chunk { place: Place::Disk { offset }, starts })
    }

    /// Copies the records of bins, `words` words each, into device memory from its word `at` on;
    /// returns how many words. What comes from the host is gathered: [`Staging::flush`] sends it.
    pub(crate) fn bring(
        &self,
        chunk: &Chunk,
        (bins, words): (&Range<usize>, usize),
        stream: &Stream,
        mut to: DeviceSliceMut<'_, u64>,
        at: usize,
        staging: &mut Staging,
    ) -> Result<usize, Error> {
        let range = chunk.words(bins, words);
        let count = range.len();
        if count == 0 {
            return Ok(0);
        }
        match &chunk.place {
            Place::Device(part) => {
                stream.copy(part.view().slice(range), to.slice_mut(at..at + count))?;
            }
            Place::Host(words) => {
                let room = staging.room(stream, to.reborrow(), at, count)?;
                room.copy_from_slice(&words[range]);
            }
            Place::Disk { offset } => {
                let room = staging.room(stream, to.reborrow(), at, count)?;
                self.read(*offset, &range, room)?;
            }
        }
        Ok(count)
    }

    fn read(&self, offset: u64, range: &Range<usize>, out: &mut [u64]) -> Result<(), Error> {
        let mut bytes = Vec::new();
        self.pool.unspill(offset + 8 * range.start as u64, 8 * range.len(), &mut bytes)?;
        for (word, bytes) in out.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        Ok(())
    }

    /// Gives the records of bins to the host.
    pub(crate) fn read_out(
        &self,
        chunk: &Chunk,
        bins: &Range<usize>,
        words: usize,
        stream: &Stream,
    ) -> Result<Vec<u64>, Error> {
        let range = chunk.words(bins, words);
        Ok(match &chunk.place {
            Place::Device(part) => stream.download_vec(part.view().slice(range))?,
            Place::Host(words) => words[range].to_vec(),
            Place::Disk { offset } => {
                let mut out = vec![0; range.len()];
                self.read(*offset, &range, &mut out)?;
                out
            }
        })
    }
}

/// Words that are gathered for a copy to the device: for each chunk a copy would take longer than
/// its bytes.
const GATHERED: usize = 2 << 20;

/// Pinned memory of one thread through which records go to and from the host's tiers.
#[derive(Default)]
pub(crate) struct Staging {
    buffer: Option<PinnedBuffer<u64>>,
    /// Words gathered and not sent yet, and where in the device's buffer they go.
    held: usize,
    at: usize,
}

impl Staging {
    fn of(&mut self, device: &Device, words: usize) -> Result<&mut PinnedBuffer<u64>, Error> {
        if self.buffer.as_ref().is_none_or(|buffer| buffer.len() < words) {
            self.buffer = None;
            self.buffer = Some(device.alloc_pinned(words.next_power_of_two())?);
        }
        self.buffer.as_mut().ok_or(Error::Cancelled)
    }

    /// Room for `count` words that go to the word `at` of `to`.
    fn room(
        &mut self,
        stream: &Stream,
        to: DeviceSliceMut<'_, u64>,
        at: usize,
        count: usize,
    ) -> Result<&mut [u64], Error> {
        if self.at + self.held != at || self.held + count > GATHERED {
            self.flush(stream, to)?;
            self.at = at;
        }
        let from = self.held;
        self.held += count;
        let buffer = self.of(stream.device(), count.max(GATHERED))?;
        Ok(&mut buffer.as_mut_slice()?[from..from + count])
    }

    /// Enqueues the copy of what is gathered.
    pub(crate) fn flush(
        &mut self,
        stream: &Stream,
        to: DeviceSliceMut<'_, u64>,
    ) -> Result<(), Error> {
        let (at, held) = (self.at, std::mem::take(&mut self.held));
        if held > 0 {
            let buffer = self.of(stream.device(), held)?;
            stream.upload(buffer, 0..held, to.slice_mut(at..at + held))?;
        }
        Ok(())
    }
}
