//! Phase 3 on a device: packed k-mers of some sections become blocks of a table.

use std::ops::Range;

use merganser_gpu::{Device, DeviceBuffer, PinnedBuffer, Result as GpuResult, Stream, primitives};
use merganser_kmers::formats::MgkBlocks;
use merganser_kmers::scattered;

use super::gathering::put;
use super::kernels::GpuKmer;
use super::packing::PackedKmers;
use super::table_kernels::{Blocks, Layout, Pairs, PairsMut, Runs, TABLE_BLOCK};
use crate::Error;
use crate::results::Results;

/// Bytes of each of the two buffers through which records are copied from the host.
const STAGING_BYTES: usize = 4 << 20;

/// Padding bytes after the blocks of a section, because decoders read whole words.
const BEHIND: usize = 8;

/// The k-mers of a table before encoding: segments on devices, and results on the host.
pub(crate) struct Waiting<'w, 'p, K: GpuKmer> {
    pub(crate) segments: &'w [PackedKmers],
    pub(crate) results: &'w Results<'p, K>,
    pub(crate) layout: Layout,
}

impl<K: GpuKmer> Waiting<'_, '_, K> {
    /// Returns the number of k-mers of a range.
    pub(crate) fn len(&self, range: usize) -> u64 {
        let there = self.segments.iter().map(|segment| segment.of(&(range..range + 1)).len());
        there.sum::<usize>() as u64 + self.results.scattered().len(range)
    }

    /// Copies the k-mers of some ranges from the segments to the results.
    pub(crate) fn move_to_results(&self, ranges: Range<usize>) -> Result<(), Error> {
        let record = self.layout.bytes(false);
        for segment in self.segments {
            let stream = segment.records.device().stream()?;
            for range in ranges.clone() {
                let of = segment.of(&(range..range + 1));
                let of = of.start * record..of.end * record;
                let step = STAGING_BYTES / record * record;
                for from in of.clone().step_by(step) {
                    let part = from..of.end.min(from + step);
                    let records = stream.download_vec(segment.records.view().slice(part))?;
                    self.results.scattered().append(range, &records, record)?;
                }
            }
        }
        Ok(())
    }
}

/// Neighbouring sections that are encoded together.
#[derive(Clone, Debug)]
pub(crate) struct SectionGroup {
    pub(crate) sections: Range<usize>,
    /// The number of k-mers of each section.
    pub(crate) kmers: Vec<u64>,
    /// The number of ranges of a section, as a power of two.
    pub(crate) finer: u32,
}

impl SectionGroup {
    fn ranges(&self) -> Range<usize> {
        self.sections.start << self.finer..self.sections.end << self.finer
    }

    /// Returns the index of the first k-mer and of the first block of each section, with the totals appended.
    fn starts(&self) -> [Vec<u64>; 2] {
        let (mut kmers, mut blocks) = (vec![0], vec![0]);
        for &number in &self.kmers {
            kmers.push(kmers[kmers.len() - 1] + number);
            blocks.push(blocks[blocks.len() - 1] + number.div_ceil(TABLE_BLOCK as u64));
        }
        [kmers, blocks]
    }
}

/// A stream with its buffers, which encodes one group of sections at a time.
pub(crate) struct Encoding<K: GpuKmer> {
    stream: Stream,
    packed: DeviceBuffer<u8>,
    kmers: [DeviceBuffer<K::Word>; 2],
    counts: [DeviceBuffer<u32>; 2],
    scratch: DeviceBuffer<u8>,
    made: DeviceBuffer<u64>,
    /// Device copies of small tables of offsets.
    numbers: [DeviceBuffer<u64>; 2],
    ranges: DeviceBuffer<u32>,
    sizes: DeviceBuffer<u32>,
    places: DeviceBuffer<u64>,
    firsts: DeviceBuffer<K::Word>,
    encoded: DeviceBuffer<u8>,
    staging: [PinnedBuffer<u8>; 2],
    bytes: PinnedBuffer<u8>,
}

impl<K: GpuKmer> Encoding<K> {
    /// Returns the bytes of device memory for each k-mer of a batch.
    pub(crate) fn kmer_bytes(k: usize, layout: Layout) -> u64 {
        let pair = size_of::<K::Word>() + 4;
        // An eighth of the pairs' size covers the scratch memory of the sort and the data for each block.
        (layout.bytes(true) + 2 * pair + pair / 8 + 1 + block_bytes(k)) as u64
    }

    /// Returns an upper bound of the encoded bytes for each k-mer.
    pub(crate) fn table_bytes(k: usize) -> u64 {
        block_bytes(k) as u64
    }

    /// Returns buffers for batches of up to `most` k-mers of `k` bases in up to `sections` sections.
    pub(crate) fn new(
        device: &Device,
        (k, layout): (usize, Layout),
        most: usize,
        sections: usize,
    ) -> GpuResult<Self> {
        let blocks = most / TABLE_BLOCK + sections + 1;
        let sorting = primitives::sort_pairs_scratch::<K::Word>(device, most, 0..2 * k as u32)?;
        let adding = primitives::exclusive_scan_scratch::<u32>(device, blocks)?;
        Ok(Encoding {
            stream: device.stream()?,
            packed: device.alloc(most * layout.bytes(true))?,
            kmers: [device.alloc(most)?, device.alloc(most)?],
            counts: [device.alloc(most)?, device.alloc(most)?],
            scratch: device.alloc(sorting.max(adding))?,
            made: device.alloc(1)?,
            numbers: [device.alloc(0)?, device.alloc(0)?],
            ranges: device.alloc(0)?,
            sizes: device.alloc(blocks)?,
            places: device.alloc(blocks)?,
            firsts: device.alloc(blocks)?,
            encoded: device.alloc(most * block_bytes(k) + 16 * blocks)?,
            staging: [device.alloc_pinned(0)?, device.alloc_pinned(0)?],
            bytes: device.alloc_pinned(0)?,
        })
    }

    /// Sorts and encodes the k-mers of a batch; removes those on the host from the results.
    pub(crate) fn encode(
        &mut self,
        waiting: &Waiting<'_, '_, K>,
        batch: &SectionGroup,
    ) -> Result<Made<K>, Error> {
        let kmers = batch.kmers.iter().sum::<u64>() as usize;
        self.gather(waiting, &batch.ranges(), kmers)?;
        let place = self.sort(kmers, &batch.ranges(), waiting.results.scattered().records().k())?;
        Ok(self.blocks(place, batch)?)
    }

    /// Collects the k-mers of some ranges, unordered, in the first buffer.
    fn gather(
        &mut self,
        waiting: &Waiting<'_, '_, K>,
        ranges: &Range<usize>,
        kmers: usize,
    ) -> Result<(), Error> {
        let layout = waiting.layout;
        let there = self.gather_segments(waiting, ranges)?;
        let from = there.end();
        let here = self.gather_results(waiting, ranges, from)?;
        let (stream, small) = (&self.stream, from / layout.bytes(false));
        let mut room = PairsMut::<K> {
            kmers: self.kmers[0].slice_mut(..kmers),
            counts: self.counts[0].slice_mut(..kmers),
        };
        let [starts, _] = &mut self.numbers;
        if small > 0 {
            let runs = Runs {
                records: self.packed.slice(..from),
                starts: put(stream, starts, &there.starts())?,
                ranges: put(stream, &mut self.ranges, &there.ranges)?,
                layout,
            };
            runs.unpack(stream, &mut room.reborrow().slice_mut(0..small))?;
        }
        if !here.ranges.is_empty() {
            let runs = Runs {
                records: self.packed.slice(from..from + here.end()),
                starts: put(stream, starts, &here.starts())?,
                ranges: put(stream, &mut self.ranges, &here.ranges)?,
                layout,
            };
            let made = self.made.view_mut();
            let made = runs.unpack_any(stream, &mut room.slice_mut(small..kmers), made)?;
            assert_eq!(made as usize, kmers - small, "number of k-mers unpacked");
        }
        Ok(())
    }

    /// Copies the records of some ranges from the segments to `packed`.
    fn gather_segments(
        &mut self,
        waiting: &Waiting<'_, '_, K>,
        ranges: &Range<usize>,
    ) -> Result<RunTable, Error> {
        let record = waiting.layout.bytes(false);
        let mut runs = RunTable::default();
        for segment in waiting.segments {
            let bytes = segment.of(ranges);
            let bytes = bytes.start * record..bytes.end * record;
            if bytes.is_empty() {
                continue;
            }
            let at = runs.end();
            let to = self.packed.slice_mut(at..at + bytes.len());
            self.stream.copy(segment.records.view().slice(bytes), to)?;
            for range in ranges.clone() {
                // Ranges are in order, and so are their records.
                runs.add(range, segment.of(&(range..range + 1)).len() * record);
            }
        }
        Ok(runs)
    }

    /// Takes the records of some ranges from the host's results to `packed`, starting at byte `from`.
    fn gather_results(
        &mut self,
        waiting: &Waiting<'_, '_, K>,
        ranges: &Range<usize>,
        from: usize,
    ) -> Result<RunTable, Error> {
        let (mut runs, mut buffer) = (RunTable::default(), Vec::new());
        let mut staged = Staged { at: from, held: 0, buffer: 0 };
        for range in ranges.clone() {
            if waiting.results.scattered().len(range) == 0 {
                continue;
            }
            waiting.results.scattered().contents(range).read(&mut buffer, |records| {
                runs.add(range, records.len());
                Ok::<_, Error>(self.stage(&mut staged, records)?)
            })?;
        }
        self.send(&mut staged)?;
        Ok(runs)
    }

    /// Appends bytes to the staging buffers, and sends a buffer when it is full.
    fn stage(&mut self, staged: &mut Staged, mut bytes: &[u8]) -> GpuResult<()> {
        while !bytes.is_empty() {
            if staged.held == STAGING_BYTES {
                self.send(staged)?;
            }
            let buffer = &mut self.staging[staged.buffer];
            if buffer.is_empty() {
                *buffer = self.stream.device().alloc_pinned(STAGING_BYTES)?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(STAGING_BYTES - staged.held));
            buffer.as_mut_slice()?[staged.held..][..now.len()].copy_from_slice(now);
            staged.held += now.len();
            bytes = later;
        }
        Ok(())
    }

    /// Enqueues the copy of the staged bytes and switches to the other buffer.
    fn send(&mut self, staged: &mut Staged) -> GpuResult<()> {
        let Staged { at, held, buffer } = *staged;
        let to = self.packed.slice_mut(at..at + held);
        self.stream.upload(&mut self.staging[buffer], 0..held, to)?;
        *staged = Staged { at: at + held, held: 0, buffer: 1 - buffer };
        Ok(())
    }

    /// Sorts the k-mers of some ranges; returns the index of the buffer with the result.
    fn sort(&mut self, kmers: usize, ranges: &Range<usize>, k: usize) -> GpuResult<usize> {
        // The leading bits that all ranges share need no sorting.
        let differ = usize::BITS - (ranges.start ^ (ranges.end - 1)).leading_zeros();
        let bits = 0..2 * k as u32 - scattered::range_bits(k) + differ;
        let buffers = self.kmers.each_mut().map(|buffer| buffer.slice_mut(..kmers));
        let counts = self.counts.each_mut().map(|buffer| buffer.slice_mut(..kmers));
        primitives::sort_pairs(&self.stream, buffers, counts, bits, self.scratch.view_mut())
    }

    /// Encodes the sorted k-mers of a buffer and enqueues the copy of the blocks to the host.
    fn blocks(&mut self, place: usize, batch: &SectionGroup) -> GpuResult<Made<K>> {
        let [kmer_starts, block_starts] = batch.starts();
        let sections = batch.kmers.len();
        let (kmers, number) = (kmer_starts[sections] as usize, block_starts[sections] as usize);
        let (stream, [kmer_table, block_table]) = (&self.stream, &mut self.numbers);
        let blocks = Blocks::<K> {
            pairs: Pairs {
                kmers: self.kmers[place].slice(..kmers),
                counts: self.counts[place].slice(..kmers),
            },
            kmer_starts: put(stream, kmer_table, &kmer_starts)?,
            block_starts: put(stream, block_table, &block_starts)?,
            blocks: number,
        };
        blocks.sizes(stream, self.sizes.slice_mut(..number), self.firsts.slice_mut(..number))?;
        // One more item, whose position is the total.
        stream.fill(self.sizes.slice_mut(number..number + 1), 0)?;
        let (sizes, sums) = (self.sizes.slice(..number + 1), self.places.slice_mut(..number + 1));
        primitives::exclusive_scan(stream, sizes, sums, self.scratch.view_mut())?;
        let places = stream.download_vec(self.places.slice(..number + 1))?;
        let total = places[number] as usize;
        blocks.write(stream, self.places.slice(..number), self.encoded.slice_mut(..total))?;
        if self.bytes.len() < total + BEHIND {
            // The old buffer is freed first, so that both are never allocated together.
            self.bytes = stream.device().alloc_pinned(0)?;
            self.bytes = stream.device().alloc_pinned(total + total / 8 + BEHIND)?;
        }
        stream.download(self.encoded.slice(..total), &mut self.bytes, 0)?;
        let firsts = stream.download_vec(self.firsts.slice(..number))?;
        Ok(Made {
            first_section: batch.sections.start,
            kmers: batch.kmers.clone(),
            block_starts,
            places,
            firsts,
        })
    }
}

/// The state of a transfer to the device.
struct Staged {
    /// The position on the device of the staged bytes.
    at: usize,
    /// The number of staged bytes.
    held: usize,
    /// The index of the buffer that holds them.
    buffer: usize,
}

/// Runs of packed records; all records of a run are of one range.
#[derive(Default)]
struct RunTable {
    ends: Vec<u64>,
    ranges: Vec<u32>,
}

impl RunTable {
    fn add(&mut self, range: usize, bytes: usize) {
        if bytes > 0 {
            self.ends.push((self.end() + bytes) as u64);
            self.ranges.push(range as u32);
        }
    }

    /// Returns the number of bytes of all runs.
    fn end(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Returns the start of each run, and the end of the last, in bytes.
    fn starts(&self) -> Vec<u64> {
        std::iter::once(0).chain(self.ends.iter().copied()).collect()
    }
}

/// The layout of a batch's blocks among the bytes on the host.
pub(crate) struct Made<K: GpuKmer> {
    first_section: usize,
    /// The number of k-mers of each section.
    kmers: Vec<u64>,
    block_starts: Vec<u64>,
    places: Vec<u64>,
    firsts: Vec<K::Word>,
}

impl<K: GpuKmer> Made<K> {
    /// Returns the blocks of a section; their bytes are in `encoding`.
    pub(crate) fn section<'e>(
        &self,
        encoding: &'e Encoding<K>,
        section: usize,
    ) -> GpuResult<MgkBlocks<'e, K>> {
        let section = section - self.first_section;
        let [first, last] = [section, section + 1].map(|at| self.block_starts[at] as usize);
        let from = self.places[first] as usize;
        let bytes = &encoding.bytes.as_slice()?[from..self.places[last] as usize + BEHIND];
        let ends = self.places[first + 1..=last].iter().map(|&end| end as usize - from);
        let firsts = self.firsts[first..last].iter().map(|&first| K::from_key(first));
        let kmers = self.kmers[section] as usize;
        Ok(MgkBlocks { bytes, blocks: firsts.zip(ends).collect(), kmers })
    }
}

/// Returns an upper bound of the bytes that a k-mer takes in a block: the unary part of a difference takes at
/// most 3 bits on average, and a count at most 32.
fn block_bytes(k: usize) -> usize {
    (2 * k + 35).div_ceil(8)
}
