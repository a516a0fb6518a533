//! Super-k-mers for which no device has room, by bin on the host: in memory, then on disk, in the CPU's
//! compact encoding.
//!
//! They are transferred through a small pinned buffer: pinning all of them would take 0.35 s a GiB, several
//! times as long as the copy (`docs/evidence/speed.md`).

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use merganser_gpu::{
    Device, DeviceSlice, DeviceSliceMut, PinnedBuffer, Result as GpuResult, Stream,
};
use merganser_run::Share;
use merganser_run::locks::lock;
use merganser_store::{Bins, BlockPool, Contents};

use super::chunks::Load;
use crate::Error;
use crate::superkmer::record_bytes;

/// Bytes that are appended to a bin at a time, far fewer than a block, since an append that does not fit in the
/// current block starts a new one.
const APPENDED: usize = 2 << 10;
/// Words that a thread collects for a copy to the device; its launch then takes a fraction of its time.
const GATHERED: usize = 1 << 19;

/// The bins on the host.
pub(crate) struct HostBins<'p> {
    store: Bins<'p>,
    /// The number of k-mers and of records in each bin.
    loads: Vec<[AtomicU64; 2]>,
    k: usize,
    /// The number of words of a record on a device.
    words: usize,
}

impl<'p> HostBins<'p> {
    /// Returns `bins` empty bins for super-k-mers of k-mers of `k` bases, whose device records have `words`
    /// words; the data are stored in `pool`.
    pub(crate) fn new(pool: &'p BlockPool, bins: usize, k: usize, words: usize) -> HostBins<'p> {
        let loads = (0..bins).map(|_| [const { AtomicU64::new(0) }; 2]).collect();
        HostBins { store: Bins::new(pool, bins), loads, k, words }
    }

    /// Returns the load of `bins`.
    pub(crate) fn load(&self, bins: &Range<usize>) -> Load {
        let mut sum = Load::default();
        for [kmers, records] in &self.loads[bins.clone()] {
            sum.add(Load { kmers: kmers.load(Relaxed), records: records.load(Relaxed) });
        }
        sum
    }

    /// Copies records from device memory to the bins, once the stream has written them.
    pub(crate) fn take_over(
        &self,
        stream: &Stream,
        records: DeviceSlice<'_, u64>,
        starts: &[u64],
        staging: &mut Staging,
    ) -> Result<(), Error> {
        let here = staging.of(stream.device(), records.len())?;
        stream.download(records, here, 0)?;
        let here = here.as_slice()?;
        for (bin, [kmers, records]) in self.loads.iter().enumerate() {
            let [from, to] = [bin, bin + 1].map(|bin| Load::before(starts, bin));
            self.append(
                bin,
                &here[from.records as usize * self.words..]
                    [..(to.records - from.records) as usize * self.words],
            )?;
            kmers.fetch_add(to.kmers - from.kmers, Relaxed);
            records.fetch_add(to.records - from.records, Relaxed);
        }
        Ok(())
    }

    /// Appends records to a bin without adding their k-mers to its load.
    pub(crate) fn append(&self, bin: usize, records: &[u64]) -> Result<(), Error> {
        match self.words {
            1 => self.append_words::<1>(bin, records),
            2 => self.append_words::<2>(bin, records),
            4 => self.append_words::<4>(bin, records),
            _ => self.append_words::<8>(bin, records),
        }
    }

    fn append_words<const WORDS: usize>(&self, bin: usize, records: &[u64]) -> Result<(), Error> {
        // Whole words are written, so a record may overrun its end.
        let mut bytes = [0; APPENDED + 1 + 8 * 8];
        let mut at = 0;
        for record in records.as_chunks::<WORDS>().0 {
            let kmers = record[WORDS - 1] as u8;
            let place = &mut bytes[at..][..1 + 8 * WORDS];
            place[0] = kmers;
            for (place, word) in place[1..].as_chunks_mut().0.iter_mut().zip(record) {
                *place = word.to_be_bytes();
            }
            at += record_bytes(usize::from(kmers) + 1, self.k);
            if at >= APPENDED {
                self.store.append(bin, &bytes[..at])?;
                at = 0;
            }
        }
        if at == 0 { Ok(()) } else { Ok(self.store.append(bin, &bytes[..at])?) }
    }

    /// Takes the records out of a bin.
    pub(crate) fn take(&self, bin: usize) -> Contents<'p> {
        self.store.take(bin)
    }

    /// Puts records that were taken back into a bin.
    pub(crate) fn put_back(&self, bin: usize, contents: &Contents<'_>) -> Result<(), Error> {
        let mut buffer = Vec::new();
        Ok(contents.read(&mut buffer, |block| self.store.append(bin, block))?)
    }

    /// Returns the largest number of device words that `bytes` bytes of records can unpack to.
    pub(crate) fn max_words(&self, bytes: usize) -> usize {
        bytes / record_bytes(1, self.k) * self.words
    }

    /// Unpacks whole records to device words; returns the number of words.
    fn unpack(&self, bytes: &[u8], out: &mut [u64]) -> usize {
        match self.words {
            1 => unpack::<1>(bytes, self.k, out),
            2 => unpack::<2>(bytes, self.k, out),
            4 => unpack::<4>(bytes, self.k, out),
            _ => unpack::<8>(bytes, self.k, out),
        }
    }
}

fn unpack<const WORDS: usize>(mut bytes: &[u8], k: usize, out: &mut [u64]) -> usize {
    let (mut number, mut padded) = (0, [0; 1 + 8 * 8]);
    for record in out.as_chunks_mut::<WORDS>().0 {
        let Some(&kmers) = bytes.first() else { break };
        let len = record_bytes(usize::from(kmers) + 1, k);
        let whole = match bytes.get(..1 + 8 * WORDS) {
            Some(more) => more,
            None => {
                padded[..len].copy_from_slice(&bytes[..len]);
                &padded
            }
        };
        // Mask the bytes of the following records.
        let mut bases = usize::from(kmers) + k;
        for (word, bytes) in record.iter_mut().zip(whole[1..].as_chunks().0) {
            let here = bases.min(32);
            let mask = u64::MAX.checked_shl(64 - 2 * here as u32).unwrap_or(0);
            *word = u64::from_be_bytes(*bytes) & mask;
            bases -= here;
        }
        record[WORDS - 1] |= u64::from(kmers);
        bytes = &bytes[len..];
        number += WORDS;
    }
    number
}

/// A block of taken records.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    /// The index of the bin's contents.
    taken: usize,
    /// The number of the block in these contents.
    number: usize,
    /// The largest number of words that it takes on a device.
    pub(crate) max_words: usize,
}

/// The records of a group of bins, taken from the host for transfer to a device.
pub(crate) struct Taken<'t, 'p> {
    pub(crate) host: &'t HostBins<'p>,
    contents: Vec<Contents<'p>>,
}

impl<'t, 'p> Taken<'t, 'p> {
    pub(crate) fn new(host: &'t HostBins<'p>, bins: &Range<usize>) -> Taken<'t, 'p> {
        Taken { host, contents: bins.clone().map(|bin| host.take(bin)).collect() }
    }

    /// Puts the records of these bins back.
    pub(crate) fn put_back(self, bins: &Range<usize>) -> Result<(), Error> {
        let mut contents = bins.clone().zip(&self.contents);
        contents.try_for_each(|(bin, contents)| self.host.put_back(bin, contents))
    }

    /// Returns all blocks.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let of = |(taken, contents): (usize, &Contents<'_>)| {
            let block = move |(number, bytes)| Block {
                taken,
                number,
                max_words: self.host.max_words(bytes),
            };
            contents.block_bytes().enumerate().map(block).collect::<Vec<_>>()
        };
        self.contents.iter().enumerate().flat_map(of).collect()
    }

    /// Transfers this thread's share of the blocks to a device.
    pub(crate) fn bring(
        &self,
        blocks: &[Block],
        share: &Share<'_>,
        room: &Room<'_>,
        staging: &mut Staging,
    ) -> Result<(), Error> {
        share.work(|numbers| {
            let (mut held, mut buffer) = (0, Vec::new());
            for block in numbers.map(|number| &blocks[number]) {
                if held + block.max_words > GATHERED.max(block.max_words) {
                    room.send(staging, std::mem::take(&mut held))?;
                }
                let words = staging.of(room.stream.device(), block.max_words.max(GATHERED))?;
                let words = &mut words.as_mut_slice()?[held..];
                let contents = &self.contents[block.taken];
                contents.read_block(block.number, &mut buffer, |bytes| {
                    held += self.host.unpack(bytes, words);
                    Ok::<_, Error>(())
                })?;
            }
            Ok(room.send(staging, held)?)
        })
    }
}

/// Room on a device that several threads fill from its start.
pub(crate) struct Room<'r> {
    stream: &'r Stream,
    records: Mutex<(DeviceSliceMut<'r, u64>, usize)>,
}

impl<'r> Room<'r> {
    /// Returns room whose first `filled` words are taken.
    pub(crate) fn new(stream: &'r Stream, to: DeviceSliceMut<'r, u64>, filled: usize) -> Room<'r> {
        Room { stream, records: Mutex::new((to, filled)) }
    }

    /// Enqueues the copy of the first `words` staged words.
    fn send(&self, staging: &mut Staging, words: usize) -> GpuResult<()> {
        let Some(buffer) = staging.0.as_mut().filter(|_| words > 0) else { return Ok(()) };
        let (to, filled) = &mut *lock(&self.records);
        let place = *filled..*filled + words;
        *filled = place.end;
        self.stream.upload(buffer, 0..words, to.reborrow().slice_mut(place))
    }

    /// Returns the number of filled words.
    pub(crate) fn filled(self) -> usize {
        lock(&self.records).1
    }
}

/// Pinned memory of one thread for transfers between the host and a device.
#[derive(Default)]
pub(crate) struct Staging(Option<PinnedBuffer<u64>>);

impl Staging {
    fn of(&mut self, device: &Device, words: usize) -> Result<&mut PinnedBuffer<u64>, Error> {
        if self.0.as_ref().is_none_or(|buffer| buffer.len() < words) {
            // The old buffer is freed first, so that both are never allocated together.
            self.0 = None;
            self.0 = Some(device.alloc_pinned(words.next_power_of_two())?);
        }
        self.0.as_mut().ok_or(Error::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_store::{Spilling, Storage};
    use proptest::prelude::*;

    /// Checks that records of one width come back from bins that were partly spilled to disk.
    fn check<const WORDS: usize>(k: usize, records: &[(u8, [u64; 8])], bins: usize) {
        let most = (32 * WORDS - 4 - k + 1).min(256);
        let record = |&(kmers, bases): &(u8, [u64; 8])| {
            let kmers = usize::from(kmers) % most + 1;
            let mut record: [u64; WORDS] = std::array::from_fn(|word| {
                let here = (kmers + k - 1).saturating_sub(32 * word).min(32);
                if here == 0 { 0 } else { bases[word] & u64::MAX << (64 - 2 * here) }
            });
            record[WORDS - 1] |= kmers as u64 - 1;
            record
        };
        let records: Vec<[u64; WORDS]> = records.iter().map(record).collect();
        let directory = std::env::temp_dir();
        let pool =
            BlockPool::new(4096, Spilling { storage: Storage::Auto, limit: 8192, directory });
        let host = HostBins::new(&pool, bins, k, WORDS);
        let parts: Vec<_> = records.chunks(records.len().div_ceil(bins)).collect();
        for _ in 0..40 {
            for (bin, part) in parts.iter().enumerate() {
                host.append(bin, part.as_flattened()).unwrap();
            }
        }
        Taken::new(&host, &(0..bins)).put_back(&(0..bins)).unwrap();
        let taken = Taken::new(&host, &(0..bins));
        let (mut found, mut buffer) = (vec![Vec::new(); bins], Vec::new());
        for block in taken.blocks() {
            let contents = &taken.contents[block.taken];
            let read = contents.read_block(block.number, &mut buffer, |bytes| {
                let mut words = vec![7; block.max_words];
                let filled = host.unpack(bytes, &mut words);
                found[block.taken].extend_from_slice(&words[..filled]);
                Ok::<_, Error>(())
            });
            read.unwrap();
        }
        for (found, part) in found.iter_mut().zip(&parts) {
            let mut expected = part.repeat(40);
            expected.sort_unstable();
            let mut found = found.as_chunks::<WORDS>().0.to_vec();
            found.sort_unstable();
            assert!(found == expected, "k {k}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn records_come_back(
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
