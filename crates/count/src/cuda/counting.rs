//! Phase 2 on a device: groups of bins become k-mers with counts.

use std::ops::Range;

use merganser_gpu::primitives::{self, SortKey};
use merganser_gpu::{Device, DeviceBuffer, DeviceSliceMut, Result as GpuResult, Stream};
use merganser_kmers::Histogram;
use merganser_run::{Cancel, Share, neighbours, side_by_side};

use super::chunks::{Chunk, Load};
use super::gathering::Gathering;
use super::host_bins::{Block, HostBins, Room as HostRoom, Staging, Taken};
use super::kernels::{
    BinSubset, COUNTERS, GpuKmer, RUN_TILE, Runs, TOTAL_WORDS, count_runs, sorted_bits,
};
use super::packing::{Packing, Sink};
use super::plan::Room;
use super::table_kernels::Layout;
use crate::config::Format;
use crate::{Config, Error};

/// The largest number of parts in which a bin with records on the host is counted: every part transfers all its
/// records again, and with more parts the CPU is faster.
const MAX_PARTS_FROM_HOST: u64 = 2;
/// The number of times that the number of parts is doubled for a bin that is too large for a workspace.
const SPLITS: u32 = 4;

/// Groups neighbouring bins such that each group fits in a workspace; a bin that is too large for that
/// is a group of its own.
pub(crate) fn groups(loads: &[Load], room: Room, words: usize) -> Vec<Range<usize>> {
    let add = |one: &Load, other: &Load| {
        let mut both = *one;
        both.add(*other);
        both
    };
    neighbours(loads.iter().copied(), add, |load| {
        load.kmers <= room.kmers as u64 && load.records * words as u64 <= room.words as u64
    })
}

/// The records of all bins, on devices and on the host.
pub(crate) struct Bins<'b, 'p> {
    pub(crate) chunks: &'b [Chunk],
    pub(crate) host: &'b HostBins<'p>,
}

impl Bins<'_, '_> {
    pub(crate) fn load(&self, bins: &Range<usize>) -> Load {
        let mut sum = self.host.load(bins);
        self.chunks.iter().for_each(|chunk| sum.add(chunk.load(bins)));
        sum
    }
}

/// Bins that are counted together, with their records taken from the host.
struct Group<'g, 'p> {
    bins: &'g Range<usize>,
    taken: Taken<'g, 'p>,
}

/// A stream with its buffers, which counts one group of bins at a time.
pub(crate) struct Workspace<'l, K: GpuKmer> {
    config: &'l Config,
    device: Device,
    pub(crate) stream: Stream,
    records: DeviceBuffer<u64>,
    keys: [DeviceBuffer<K::Word>; 2],
    counts: DeviceBuffer<u32>,
    changes: DeviceBuffer<u8>,
    left: DeviceBuffer<u64>,
    large: DeviceBuffer<u32>,
    totals: DeviceBuffer<u64>,
    scratch: DeviceBuffer<u8>,
    /// The addresses of pieces of records, and their positions in `records`.
    tables: [DeviceBuffer<u64>; 2],
    packing: Packing<K>,
    /// A staging buffer for each thread that transfers records from the host.
    staging: Vec<Staging>,
    histogram: Histogram,
}

impl<'l, K: GpuKmer> Workspace<'l, K> {
    pub(crate) fn new(
        config: &'l Config,
        device: &Device,
        layout: Layout,
        (room, gatherers): (Room, usize),
    ) -> GpuResult<Self> {
        let bits = 0..sorted_bits(config.k).max(2 * config.k as u32);
        let scratch = primitives::sort_keys_scratch::<K::Word>(device, room.kmers, bits)?;
        let max_kept = match config.format {
            Format::None => 0,
            _ => room.kmers / config.least().max(1) as usize + 1,
        };
        Ok(Workspace {
            config,
            device: device.clone(),
            stream: device.stream()?,
            records: device.alloc(room.words)?,
            keys: [device.alloc(room.kmers)?, device.alloc(room.kmers)?],
            counts: device.alloc(max_kept)?,
            changes: device.alloc(room.kmers.div_ceil(RUN_TILE))?,
            left: device.alloc(room.kmers / 256 + 1024)?,
            large: device.alloc(room.kmers / COUNTERS + 1)?,
            totals: device.alloc(TOTAL_WORDS)?,
            scratch: device.alloc(scratch)?,
            tables: [device.alloc(0)?, device.alloc(0)?],
            packing: Packing::new(device, max_kept, config.k, layout)?,
            staging: (0..gatherers).map(|_| Staging::default()).collect(),
            histogram: Histogram::default(),
        })
    }

    pub(crate) fn finish(self) -> Histogram {
        self.histogram
    }

    /// Counts a group of bins. Returns false, with nothing counted, if the group is a bin that a device cannot
    /// count: one with more copies of a k-mer than there is room for, or one too large to transfer repeatedly.
    pub(crate) fn count(
        &mut self,
        bins: &Bins<'_, '_>,
        group: &Range<usize>,
        sink: &mut Sink<'_>,
    ) -> Result<bool, Error> {
        let load = bins.load(group);
        if load.kmers == 0 {
            return Ok(true);
        }
        let room = self.keys[0].len() as u64;
        let from_host = bins.host.load(group).records > 0;
        if from_host && load.kmers > MAX_PARTS_FROM_HOST * room {
            return Ok(false);
        }
        let group = Group { bins: group, taken: Taken::new(bins.host, group) };
        let Some(parts) = self.parts(bins.chunks, &group, load.kmers, room)? else {
            group.taken.put_back(group.bins)?;
            return Ok(false);
        };
        for part in 0..parts {
            let made =
                self.expand(bins.chunks, &group, BinSubset { parts, part }, room as usize)?;
            self.count_keys(made as usize, sink)?;
        }
        Ok(true)
    }

    /// Returns the number of parts, by a hash of the k-mer, in which the bins must be counted; `None` if too many.
    fn parts(
        &mut self,
        chunks: &[Chunk],
        group: &Group<'_, '_>,
        kmers: u64,
        room: u64,
    ) -> Result<Option<u32>, Error> {
        if kmers <= room {
            return Ok(Some(1));
        }
        let mut parts = (kmers * 5 / 4).div_ceil(room) as u32;
        for _ in 0..SPLITS {
            let mut largest = 0;
            for part in 0..parts {
                largest = largest.max(self.expand(chunks, group, BinSubset { parts, part }, 0)?);
            }
            if largest <= room {
                return Ok(Some(parts));
            }
            parts *= 2;
        }
        Ok(None)
    }

    /// Expands the group's super-k-mers into `keys[0]`; returns the number of k-mers.
    fn expand(
        &mut self,
        chunks: &[Chunk],
        group: &Group<'_, '_>,
        part: BinSubset,
        room: usize,
    ) -> Result<u64, Error> {
        self.stream.fill(self.totals.view_mut(), 0)?;
        let mut filled = self.gather(chunks, group, part, room)?;
        let blocks = group.taken.blocks();
        let mut blocks = &blocks[..];
        while let Some(first) = blocks.first() {
            filled = self.make_room(filled, first.max_words, part, room)?;
            let (mut number, mut most) = (0, filled);
            while let Some(block) = blocks.get(number)
                && most + block.max_words <= self.records.len()
            {
                most += block.max_words;
                number += 1;
            }
            let (now, later) = blocks.split_at(number);
            filled = self.bring(&group.taken, now, filled)?;
            blocks = later;
        }
        self.expand_records(filled, part, room)?;
        let mut made = [0];
        self.stream.download_now(self.totals.slice(..1), &mut made)?;
        Ok(made[0])
    }

    /// Copies the group's records from the chunks to `records`; returns the number of words filled.
    fn gather(
        &mut self,
        chunks: &[Chunk],
        group: &Group<'_, '_>,
        part: BinSubset,
        room: usize,
    ) -> Result<usize, Error> {
        let mut pieces = Gathering::from(0);
        for chunk in chunks {
            let records = chunk.records(group.bins, K::WORDS);
            if pieces.end() + records.len() > self.records.len() {
                self.gather_pieces(&pieces)?;
                let filled = self.make_room(pieces.end(), records.len(), part, room)?;
                pieces = Gathering::from(filled);
            }
            if self.device.reaches(chunk.device()) {
                pieces.add(records);
            } else {
                let place = self.records.slice_mut(pieces.leave_out(records.len()));
                self.stream.copy(records, place)?;
            }
        }
        self.gather_pieces(&pieces)?;
        Ok(pieces.end())
    }

    fn gather_pieces(&mut self, pieces: &Gathering<'_>) -> GpuResult<()> {
        pieces.gather(&self.stream, &mut self.tables, self.records.view_mut())
    }

    /// Makes room for `coming` words after the `filled` ones; returns the number of words that are filled then.
    fn make_room(
        &mut self,
        filled: usize,
        coming: usize,
        part: BinSubset,
        room: usize,
    ) -> GpuResult<usize> {
        if filled + coming <= self.records.len() {
            return Ok(filled);
        }
        self.expand_records(filled, part, room)?;
        if coming > self.records.len() {
            // Freeing waits for the device, so nothing uses the old buffer after that.
            self.records = self.device.alloc(0)?;
            self.records = self.device.alloc(coming)?;
        }
        Ok(0)
    }

    /// Transfers blocks from the host on several threads; returns the number of words that are filled then.
    fn bring(
        &mut self,
        taken: &Taken<'_, '_>,
        blocks: &[Block],
        filled: usize,
    ) -> Result<usize, Error> {
        let room = HostRoom::new(&self.stream, self.records.view_mut(), filled);
        // Cancellation is checked between groups.
        let never = Cancel::default();
        let share = Share::new(0..blocks.len(), &never);
        side_by_side(self.staging.iter_mut().take(blocks.len()), |staging| {
            taken.bring(blocks, &share, &room, staging)
        })?;
        Ok(room.filled())
    }

    fn expand_records(&mut self, words: usize, part: BinSubset, room: usize) -> GpuResult<()> {
        let (k, canonical) = (self.config.k, self.config.is_canonical());
        let (records, out) = (self.records.slice(..words), self.keys[0].slice_mut(..room));
        K::expand(&self.stream, records, k, canonical, part, out, self.totals.view_mut())
    }

    /// Counts the first `count` keys of `keys[0]`.
    fn count_keys(&mut self, count: usize, sink: &mut Sink<'_>) -> Result<(), Error> {
        let (k, stream) = (self.config.k, &self.stream);
        let (mut place, mut bits) = (0, sorted_bits(k));
        let found = loop {
            let [first, second] = &mut self.keys;
            let both = ordered(first, second, place, count);
            let moved = primitives::sort_keys(stream, both, 0..bits, self.scratch.view_mut())?;
            place ^= moved;
            let [first, second] = &mut self.keys;
            let [keys, out] = ordered(first, second, place, count);
            let (least, most) = match self.config.format {
                Format::None => (1, 0),
                _ => (self.config.least(), self.config.most()),
            };
            let mut runs = Runs {
                keys: keys.as_slice(),
                bits,
                k,
                least,
                most,
                kmers: out,
                counts: self.counts.view_mut(),
                changes: self.changes.view_mut(),
                left: self.left.view_mut(),
                large: self.large.view_mut(),
                totals: self.totals.view_mut(),
            };
            match count_runs(stream, &mut runs)? {
                Some(found) => break found,
                // Too many different k-mers share the sorted bits: sort by all bits instead.
                None => bits = 2 * k as u32,
            }
        };
        self.add_counts(&found)?;
        let kept = found[0] as usize;
        if kept == 0 {
            return Ok(());
        }
        let room = self.keys[0].len();
        let [first, second] = &mut self.keys;
        let [counted, kmers] = ordered(first, second, place, room);
        let counts = self.counts.slice_mut(..kept);
        self.packing.keep(&self.stream, [kmers, counted], counts, sink)
    }

    /// Adds the results of a search for runs to the histogram.
    fn add_counts(&mut self, found: &[u64]) -> GpuResult<()> {
        let large = self.stream.download_vec(self.large.slice(..found[2] as usize))?;
        large.into_iter().for_each(|count| self.histogram.add(count));
        for (count, &number) in found[3..].iter().enumerate().skip(1) {
            self.histogram.add_many(count as u32, number);
        }
        Ok(())
    }
}

/// Returns the first `count` items of two buffers, starting with buffer `place`.
fn ordered<'b, T: SortKey>(
    first: &'b mut DeviceBuffer<T>,
    second: &'b mut DeviceBuffer<T>,
    place: usize,
    count: usize,
) -> [DeviceSliceMut<'b, T>; 2] {
    let (first, second) = (first.slice_mut(..count), second.slice_mut(..count));
    if place == 0 { [first, second] } else { [second, first] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_large_as_the_room() {
        let load = |kmers, records| Load { kmers, records };
        let loads = [load(5, 1), load(5, 1), load(1, 1), load(20, 1), load(0, 0), load(4, 9)];
        let room = Room { kmers: 10, words: 16 };
        assert_eq!(groups(&loads, room, 2), [0..2, 2..3, 3..4, 4..5, 5..6]);
        let all = groups(&loads, Room { kmers: 100, words: 100 }, 2);
        assert_eq!((all.len(), all[0].clone()), (1, 0..6));
    }
}
