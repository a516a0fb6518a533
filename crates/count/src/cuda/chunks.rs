//! Super-k-mers by bin between the phases, in three tiers: the device's memory, host memory, disk.
//!
//! What lies on the host goes to and from the device through a little pinned memory: pinning all of it
//! takes 0.35 s a GiB, several times as long as the copy (docs/benchmarks.md). There records are as the
//! CPU has them, of the bytes that each needs, a third less than on the device.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_gpu::{ArenaBuffer, Device, DeviceSliceMut, PinnedBuffer, Stream};
use merganser_kmers::store::{Pool, Storage};

use crate::superkmer::record_bytes;
use crate::{Config, Error};

/// The records of one batch, by bin.
pub(crate) struct Chunk {
    place: Place,
    /// Where each bin begins, and the end: k-mers << 32 | records.
    starts: Vec<u64>,
}

enum Place {
    Device(ArenaBuffer<u64>),
    Host { bytes: Vec<u8>, bins: BinBytes },
    Disk { offset: u64, bins: BinBytes },
}

/// Where the records of each bin begin among the bytes on the host, and the end.
type BinBytes = Vec<u32>;

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
    /// Bases of a k-mer.
    k: usize,
    /// Bytes that devices had no room for.
    taken_over: AtomicU64,
    pool: &'p Pool,
}

impl<'p> Tiers<'p> {
    /// At most `host_bytes` in host memory, the rest in the pool's spill file.
    pub(crate) fn new(config: &Config, host_bytes: u64, pool: &'p Pool) -> Tiers<'p> {
        let storage = config.storage;
        let host_bytes = if storage == Storage::Disk { 0 } else { host_bytes };
        let (host_left, taken_over) = (AtomicU64::new(host_bytes), AtomicU64::new(0));
        Tiers { storage, host_left, host_bytes, k: config.k, taken_over, pool }
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
        let packed = std::mem::take(&mut staging.packed);
        let here = staging.of(stream.device(), records.len())?;
        stream.download(records, here, 0)?;
        let here = &here.as_slice()?[..records.len()];
        let ends = starts[1..].iter().map(|start| (start & 0xffff_ffff) as usize);
        let mut bytes = packed;
        let bins = pack(here, self.k, ends, &mut bytes);
        let len = bytes.len() as u64;
        self.taken_over.fetch_add(len, Ordering::Relaxed);
        let take = |left: u64| left.checked_sub(len);
        let in_memory =
            self.host_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        let place = if in_memory {
            Place::Host { bytes: bytes.to_vec(), bins }
        } else if self.storage == Storage::Ram {
            return Err(Error::RamFull { limit: self.host_bytes });
        } else {
            Place::Disk { offset: self.pool.spill(&bytes)?, bins }
        };
        staging.packed = bytes;
        Ok(Chunk { place, starts })
    }

    /// Copies the records of bins, `words` words each, of some chunks into device memory that has room
    /// for them and no more.
    pub(crate) fn bring(
        &self,
        chunks: &[&Chunk],
        (bins, words): (&Range<usize>, usize),
        stream: &Stream,
        mut to: DeviceSliceMut<'_, u64>,
        staging: &mut Staging,
    ) -> Result<(), Error> {
        let mut at = 0;
        for chunk in chunks {
            let range = chunk.words(bins, words);
            let count = range.len();
            match &chunk.place {
                Place::Device(part) => {
                    stream
                        .copy(part.view().slice(range), to.reborrow().slice_mut(at..at + count))?;
                }
                // What comes from the host is gathered.
                _ => {
                    let room = staging.room(stream, to.reborrow(), at, count)?;
                    self.unpack(chunk, bins, words, room)?;
                }
            }
            at += count;
        }
        staging.flush(stream, to)
    }

    /// Unpacks the records of bins that are on the host.
    fn unpack(
        &self,
        chunk: &Chunk,
        bins: &Range<usize>,
        words: usize,
        out: &mut [u64],
    ) -> Result<(), Error> {
        let of = |starts: &BinBytes| starts[bins.start] as usize..starts[bins.end] as usize;
        match &chunk.place {
            Place::Device(_) => {}
            Place::Host { bytes, bins } => unpack(&bytes[of(bins)], self.k, words, out),
            Place::Disk { offset, bins } => {
                let (range, mut bytes) = (of(bins), Vec::new());
                self.pool.unspill(offset + range.start as u64, range.len(), &mut bytes)?;
                unpack(&bytes, self.k, words, out);
            }
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
            _ => {
                let mut out = vec![0; range.len()];
                self.unpack(chunk, bins, words, &mut out)?;
                out
            }
        })
    }
}

/// Packs records, each of a number of k-mers less 1 and its bases, as the CPU has them
/// ([`superkmer`](crate::superkmer)). `ends` are the records up to the end of each bin; returns where the
/// bins begin among the bytes, and the end.
fn pack(
    words: &[u64],
    k: usize,
    ends: impl ExactSizeIterator<Item = usize> + Clone,
    bytes: &mut Vec<u8>,
) -> BinBytes {
    let each = words.len() / ends.clone().last().unwrap_or(0).max(1);
    match each {
        1 => pack_words::<1>(words, k, ends, bytes),
        2 => pack_words::<2>(words, k, ends, bytes),
        4 => pack_words::<4>(words, k, ends, bytes),
        _ => pack_words::<8>(words, k, ends, bytes),
    }
}

fn pack_words<const WORDS: usize>(
    words: &[u64],
    k: usize,
    ends: impl ExactSizeIterator<Item = usize>,
    bytes: &mut Vec<u8>,
) -> BinBytes {
    let (records, _) = words.as_chunks::<WORDS>();
    // Whole words are written.
    bytes.resize((1 + 8 * WORDS) * records.len() + 8, 0);
    let (mut bins, mut from, mut at) = (Vec::with_capacity(ends.len() + 1), 0, 0);
    bins.push(0);
    for end in ends {
        for record in &records[from..end] {
            let kmers = record[WORDS - 1] as u8;
            bytes[at] = kmers;
            for (place, word) in bytes[at + 1..][..8 * WORDS].chunks_exact_mut(8).zip(record) {
                place.copy_from_slice(&word.to_be_bytes());
            }
            at += record_bytes(usize::from(kmers) + 1, k);
        }
        from = end;
        bins.push(at as u32);
    }
    bytes.truncate(at);
    bins
}

/// Unpacks records of `words` words each, as many as `out` has room for.
fn unpack(bytes: &[u8], k: usize, words: usize, out: &mut [u64]) {
    match words {
        1 => unpack_words::<1>(bytes, k, out),
        2 => unpack_words::<2>(bytes, k, out),
        4 => unpack_words::<4>(bytes, k, out),
        _ => unpack_words::<8>(bytes, k, out),
    }
}

fn unpack_words<const WORDS: usize>(mut bytes: &[u8], k: usize, out: &mut [u64]) {
    let (records, _) = out.as_chunks_mut::<WORDS>();
    for record in records {
        let kmers = bytes[0];
        let len = record_bytes(usize::from(kmers) + 1, k);
        let mut whole = [[0; 8]; WORDS];
        let flat = whole.as_flattened_mut();
        match bytes.get(1..1 + 8 * WORDS) {
            Some(more) => flat.copy_from_slice(more),
            None => flat[..len - 1].copy_from_slice(&bytes[1..len]),
        }
        *record = whole.map(u64::from_be_bytes);
        // What follows are other records.
        let mut bases = usize::from(kmers) + k;
        for word in record.iter_mut() {
            *word &= if bases < 32 { !(u64::MAX >> (2 * bases)) } else { u64::MAX };
            bases = bases.saturating_sub(32);
        }
        record[WORDS - 1] |= u64::from(kmers);
        bytes = &bytes[len..];
    }
}

/// Words that are gathered for a copy to the device: for each chunk a copy would take longer than
/// its bytes.
const GATHERED: usize = 1 << 19;

/// Pinned memory of one thread through which records go to and from the host's tiers.
#[derive(Default)]
pub(crate) struct Staging {
    buffer: Option<PinnedBuffer<u64>>,
    /// Records as they are packed.
    packed: Vec<u8>,
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
    fn flush(&mut self, stream: &Stream, to: DeviceSliceMut<'_, u64>) -> Result<(), Error> {
        let (at, held) = (self.at, std::mem::take(&mut self.held));
        if held > 0 {
            let buffer = self.of(stream.device(), held)?;
            stream.upload(buffer, 0..held, to.slice_mut(at..at + held))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const WORDS: usize>(k: usize, records: &[(u8, [u64; 8])], bins: usize) {
        let most = (32 * WORDS - 4 - k + 1).min(256);
        let fixed: Vec<[u64; WORDS]> = records
            .iter()
            .map(|(kmers, bases)| {
                let kmers = usize::from(*kmers) % most + 1;
                let mut record = std::array::from_fn(|word| {
                    let bases_here = (kmers + k - 1).saturating_sub(32 * word).min(32);
                    if bases_here == 0 {
                        0
                    } else {
                        bases[word] & u64::MAX << (64 - 2 * bases_here)
                    }
                });
                record[WORDS - 1] |= kmers as u64 - 1;
                record
            })
            .collect();
        let words = fixed.as_flattened();
        let ends = (1..=bins).map(|bin| bin * fixed.len() / bins).collect::<Vec<_>>();
        let mut bytes = vec![7; 3];
        let starts = pack(words, k, ends.iter().copied(), &mut bytes);
        assert_eq!(starts[bins] as usize, bytes.len());
        for bins in [0..bins, 0..1, bins / 2..bins] {
            let records = |bin: usize| if bin == 0 { 0 } else { ends[bin - 1] };
            let expected = &words[records(bins.start) * WORDS..records(bins.end) * WORDS];
            let mut out = vec![1; expected.len()];
            let range = starts[bins.start] as usize..starts[bins.end] as usize;
            unpack(&bytes[range], k, WORDS, &mut out);
            assert_eq!(out, expected);
        }
    }

    proptest! {
        #[test]
        fn packed_records_come_back(
            records in proptest::collection::vec((any::<u8>(), any::<[u64; 8]>()), 1..60),
            bins in 1usize..9,
        ) {
            for k in [11, 16] {
                check::<1>(k, &records, bins);
            }
            for k in [17, 28, 32] {
                check::<2>(k, &records, bins);
            }
            for k in [33, 64] {
                check::<4>(k, &records, bins);
            }
            for k in [65, 128] {
                check::<8>(k, &records, bins);
            }
        }
    }
}
