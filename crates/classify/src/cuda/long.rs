//! Long reads, and reads with very many hits: their windows are spread over blocks, hits are sorted by (read,
//! location) in device memory, and one block per read finds the candidates.

use std::ops::Range;

use merganser_gpu::{Device, DeviceBuffer, PinnedBuffer, Result, Stream, primitives};

use super::answers::Answers;
use super::kernels::{
    self, Asked, CountedHits, LongReads, Out, RawCandidate, WindowEntry, Windows,
};
use crate::candidates::MergedCandidates;
use crate::params::Params;

/// The capacity of a workspace for long reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongSizes {
    letters: usize,
    windows: usize,
    reads: usize,
    hits: usize,
    /// The maximum number of candidates of a read.
    most: usize,
}

/// Bytes of device memory for each hit: its key twice, taxon, sum, and space for sorting.
const HIT_BYTES: u64 = 26;

impl LongSizes {
    /// Returns sizes for up to `most` candidates per read, within about `bytes`.
    pub(super) fn new(most: usize, bytes: u64) -> LongSizes {
        let letters = (bytes / 16).clamp(1 << 16, 16 << 20);
        let windows = (bytes / 8 / 24).clamp(1 << 10, 1 << 18);
        let reads = (bytes / 8 / (24 * most as u64 + 12)).clamp(1, 1 << 14);
        let hits = (bytes / 2 / HIT_BYTES).clamp(1 << 12, 1 << 30);
        let [letters, windows, reads, hits] = [letters, windows, reads, hits].map(|n| n as usize);
        LongSizes { letters, windows, reads, hits, most }
    }

    /// Returns the approximate bytes of device memory.
    pub(super) fn bytes(&self) -> u64 {
        let (windows, reads) = (self.windows as u64, self.reads as u64);
        self.letters as u64
            + 24 * windows
            + reads * (24 * self.most as u64 + 12)
            + HIT_BYTES * self.hits as u64
            + (1 << 20)
    }
}

/// A stream with its buffers.
pub(super) struct LongWorkspace {
    sizes: LongSizes,
    stream: Stream,
    letters: PinnedBuffer<u8>,
    filled: usize,
    entries: PinnedBuffer<WindowEntry>,
    windows: usize,
    /// The first window of each read, and the end of the last read's windows.
    first_windows: PinnedBuffer<u32>,
    /// The maximum number of windows of a run, for each read.
    ranges: PinnedBuffer<u32>,
    /// The number of each read.
    numbers: Vec<usize>,
    before: PinnedBuffer<u64>,
    out: PinnedBuffer<RawCandidate>,
    counts: PinnedBuffer<u32>,
    there: There,
}

/// Buffers in device memory.
struct There {
    letters: DeviceBuffer<u8>,
    entries: DeviceBuffer<WindowEntry>,
    first_windows: DeviceBuffer<u32>,
    ranges: DeviceBuffer<u32>,
    hits: DeviceBuffer<u32>,
    before: DeviceBuffer<u64>,
    keys: [DeviceBuffer<u64>; 2],
    taxa: DeviceBuffer<u32>,
    sums: DeviceBuffer<u32>,
    out: DeviceBuffer<RawCandidate>,
    counts: DeviceBuffer<u32>,
    scratch: DeviceBuffer<u8>,
}

impl LongWorkspace {
    pub(super) fn new(device: &Device, sizes: LongSizes) -> Result<LongWorkspace> {
        let LongSizes { letters, windows, reads, hits, most } = sizes;
        let scratch = primitives::sort_keys_scratch::<u64>(device, hits, 0..64)?
            .max(primitives::exclusive_scan_scratch::<u32>(device, windows + 1)?);
        Ok(LongWorkspace {
            sizes,
            stream: device.stream()?,
            letters: device.alloc_pinned(letters)?,
            filled: 0,
            entries: device.alloc_pinned(windows)?,
            windows: 0,
            first_windows: device.alloc_pinned(reads + 1)?,
            ranges: device.alloc_pinned(reads)?,
            numbers: Vec::with_capacity(reads),
            before: device.alloc_pinned(windows + 1)?,
            out: device.alloc_pinned(reads * most)?,
            counts: device.alloc_pinned(reads)?,
            there: There {
                letters: device.alloc(letters)?,
                entries: device.alloc(windows)?,
                first_windows: device.alloc(reads + 1)?,
                ranges: device.alloc(reads)?,
                hits: device.alloc(windows + 1)?,
                before: device.alloc(windows + 1)?,
                keys: [device.alloc(hits)?, device.alloc(hits)?],
                taxa: device.alloc(hits)?,
                sums: device.alloc(hits)?,
                out: device.alloc(reads * most)?,
                counts: device.alloc(reads)?,
                scratch: device.alloc(scratch)?,
            },
        })
    }

    /// Loads as many of the reads numbered `numbers` as fit. Returns how many. `range` returns the maximum number of
    /// windows of a run for a number of bases.
    pub(super) fn load(
        &mut self,
        numbers: &[usize],
        reads: &[[&[u8]; 2]],
        params: &Params,
        range: impl Fn(u64) -> u32,
    ) -> Result<usize> {
        (self.filled, self.windows) = (0, 0);
        self.numbers.clear();
        // Only once for all reads, as it asks CUDA whether copies are done.
        let letters = self.letters.as_mut_slice()?;
        let entries = self.entries.as_mut_slice()?;
        let first_windows = self.first_windows.as_mut_slice()?;
        let ranges = self.ranges.as_mut_slice()?;
        first_windows[0] = 0;
        for (read, &number) in numbers.iter().enumerate().take(self.sizes.reads) {
            let mates = &reads[number];
            let bases: usize = mates.iter().map(|mate| mate.len()).sum();
            let windows = mates.map(|mate| params.windows(mate.len() as u64) as usize);
            if self.filled + bases > self.sizes.letters
                || self.windows + windows[0] + windows[1] > self.sizes.windows
            {
                break;
            }
            for (mate, windows) in mates.iter().zip(windows) {
                letters[self.filled..][..mate.len()].copy_from_slice(mate);
                for window in 0..windows {
                    let from = window * params.stride as usize;
                    let length = (mate.len() - from).min(params.window as usize);
                    let start = (self.filled + from) as u32;
                    entries[self.windows] = [start, length as u32, read as u32];
                    self.windows += 1;
                }
                self.filled += mate.len();
            }
            first_windows[read + 1] = self.windows as u32;
            ranges[read] = range(bases as u64);
            self.numbers.push(number);
        }
        Ok(self.numbers.len())
    }

    /// Queries a part. Reads with more hits than fit are added to `too_many`.
    pub(super) fn ask(
        &mut self,
        asked: Asked<'_>,
        answers: Answers<'_>,
        found: &mut MergedCandidates,
        too_many: &mut Vec<usize>,
    ) -> Result<()> {
        let (reads, windows) = (self.numbers.len(), self.windows);
        if windows == 0 {
            return Ok(());
        }
        let (stream, there) = (&self.stream, &mut self.there);
        stream.upload(&mut self.letters, 0..self.filled, there.letters.view_mut())?;
        stream.upload(&mut self.entries, 0..windows, there.entries.view_mut())?;
        stream.upload(&mut self.first_windows, 0..reads + 1, there.first_windows.view_mut())?;
        stream.upload(&mut self.ranges, 0..reads, there.ranges.view_mut())?;
        let all =
            Windows { letters: there.letters.view(), entries: there.entries.slice(..windows) };
        kernels::count_hits(stream, asked, all, there.hits.view_mut())?;
        primitives::exclusive_scan::<u32>(
            stream,
            there.hits.slice(..windows + 1),
            there.before.slice_mut(..windows + 1),
            there.scratch.view_mut(),
        )?;
        stream.download(there.before.slice(..windows + 1), &mut self.before, 0)?;
        let (before, first_windows) = (self.before.as_slice()?, self.first_windows.as_slice()?);
        let ends: Vec<u64> = first_windows[..=reads].iter().map(|&w| before[w as usize]).collect();
        let mut first = 0;
        while first < reads {
            let fits = |end: &usize| ends[*end] - ends[first] <= self.sizes.hits as u64;
            let end = (first + 1..=reads).take_while(fits).last();
            let Some(end) = end else {
                too_many.push(self.numbers[first]);
                first += 1;
                continue;
            };
            self.ask_some(asked, first..end, &ends)?;
            let counts = self.counts.as_slice()?;
            let out = self.out.as_slice()?;
            for (at, &read) in self.numbers[first..end].iter().enumerate() {
                let own = &out[at * self.sizes.most..][..counts[at] as usize];
                found.merge(read, own.iter().map(|&raw| answers.candidate(raw)));
            }
            first = end;
        }
        Ok(())
    }

    /// Queries a part for a range of reads whose hits fit. `ends` has the number of hits before each read.
    fn ask_some(&mut self, asked: Asked<'_>, reads: Range<usize>, ends: &[u64]) -> Result<()> {
        let (skip, most) = (ends[reads.start], self.sizes.most);
        let hits = (ends[reads.end] - skip) as usize;
        let first_windows = self.first_windows.as_slice()?;
        let windows = first_windows[reads.start] as usize..first_windows[reads.end] as usize;
        let (stream, there) = (&self.stream, &mut self.there);
        let own = Windows {
            letters: there.letters.view(),
            entries: there.entries.slice(windows.clone()),
        };
        let [keys, others] = &mut there.keys;
        if !windows.is_empty() {
            let counted = CountedHits { before: there.before.slice(windows), skip, hits };
            kernels::gather_hits(stream, asked, own, counted, keys.view_mut())?;
        }
        let read_bits = usize::BITS - reads.end.leading_zeros();
        let place = primitives::sort_keys(
            stream,
            [keys.slice_mut(..hits), others.slice_mut(..hits)],
            0..32 + read_bits,
            there.scratch.view_mut(),
        )?;
        let sorted = LongReads {
            keys: [&*keys, &*others][place].slice(..hits),
            before: there.before.view(),
            skip,
            first_windows: there.first_windows.slice(reads.start..=reads.end),
            ranges: there.ranges.slice(reads.clone()),
        };
        let out = Out { most, candidates: there.out.view_mut(), counts: there.counts.view_mut() };
        kernels::long_reads(
            stream,
            asked.targets,
            &sorted,
            there.taxa.view_mut(),
            there.sums.view_mut(),
            out,
        )?;
        stream.download(there.out.slice(..reads.len() * most), &mut self.out, 0)?;
        stream.download(there.counts.slice(..reads.len()), &mut self.counts, 0)
    }
}
