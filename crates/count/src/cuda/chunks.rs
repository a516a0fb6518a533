//! Super-k-mers by bin between the phases, in three tiers: the device's memory, host memory, disk.
//!
//! What lies on the host goes to and from the device through a little pinned memory: pinning all of it
//! takes 0.35 s a GiB, several times as long as the copy (docs/benchmarks.md).

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_gpu::{Device, DeviceSliceMut, Part, PinnedBuffer, Stream};

use crate::Error;
use crate::config::Storage;
use crate::store::Pool;

/// The records of one batch, by bin.
pub(crate) struct Chunk {
    place: Place,
    /// Where each bin begins, and the end: k-mers << 32 | records.
    starts: Vec<u64>,
}

enum Place {
    Device(Part<u64>),
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
    pool: &'p Pool,
}

impl<'p> Tiers<'p> {
    /// At most `host_bytes` in host memory, the rest in the pool's spill file.
    pub(crate) fn new(storage: Storage, host_bytes: u64, pool: &'p Pool) -> Tiers<'p> {
        let host_bytes = if storage == Storage::Disk { 0 } else { host_bytes };
        Tiers { storage, host_left: AtomicU64::new(host_bytes), host_bytes, pool }
    }

    pub(crate) fn in_device(part: Part<u64>, starts: Vec<u64>) -> Chunk {
        Chunk { place: Place::Device(part), starts }
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

    /// Copies the records of bins, `words` words each, into device memory; returns how many words.
    pub(crate) fn bring(
        &self,
        chunk: &Chunk,
        bins: &Range<usize>,
        words: usize,
        stream: &Stream,
        to: DeviceSliceMut<'_, u64>,
        staging: &mut Staging,
    ) -> Result<usize, Error> {
        let range = chunk.words(bins, words);
        let count = range.len();
        if count == 0 {
            return Ok(0);
        }
        let to = to.slice_mut(..count);
        match &chunk.place {
            Place::Device(part) => stream.copy(part.view().slice(range), to)?,
            Place::Host(words) => {
                let host = staging.of(stream.device(), count)?;
                host.as_mut_slice()?[..count].copy_from_slice(&words[range]);
                stream.upload(host, 0..count, to)?;
            }
            Place::Disk { offset } => {
                let host = staging.of(stream.device(), count)?;
                self.read(*offset, &range, &mut host.as_mut_slice()?[..count])?;
                stream.upload(host, 0..count, to)?;
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

/// Pinned memory of one thread through which records go to and from disk.
#[derive(Default)]
pub(crate) struct Staging(Option<PinnedBuffer<u64>>);

impl Staging {
    fn of(&mut self, device: &Device, words: usize) -> Result<&mut PinnedBuffer<u64>, Error> {
        if self.0.as_ref().is_none_or(|buffer| buffer.len() < words) {
            self.0 = None;
            self.0 = Some(device.alloc_pinned(words.next_power_of_two())?);
        }
        self.0.as_mut().ok_or(Error::Cancelled)
    }
}
