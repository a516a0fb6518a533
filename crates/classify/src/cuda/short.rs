//! Reads of few windows: one block finds all candidates of a read.

use merganser_gpu::{Device, DeviceBuffer, DeviceSlice, PinnedBuffer, Result, Stream};

use super::answers::Answers;
use super::kernels::pool::{self, FoundThere, Near, NearRule, Reads};
use super::kernels::{
    self, Asked, Out, RawCandidate, ReadEntry, SketchRule, TOO_MANY, Targets, Working,
};
use super::table::DeviceTable;
use super::times::{BatchClock, DeviceClock, PHASES};
use crate::candidates::{Candidate, MergedCandidates};

/// Maximum number of windows of a read that one block processes, one after the other.
pub(super) const SHORT_WINDOWS: u64 = 32;

/// Maximum number of reads in a batch. Such a batch keeps an H100 busy for about as long as it takes to start five;
/// larger ones need more pinned memory, which takes long to allocate, and leave devices idle for longer at the start.
const BATCH_READS: usize = 1 << 14;
/// Maximum number of letters in a batch.
const BATCH_LETTERS: usize = 6 << 20;

/// The capacity of a workspace.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortSizes {
    pub(super) letters: usize,
    pub(super) reads: usize,
    /// The maximum number of candidates of a read.
    pub(super) most: usize,
    /// Whether candidates are pooled when they are found.
    pub(super) pools: bool,
}

impl ShortSizes {
    /// Returns sizes for up to `most` candidates per read, within about `bytes`.
    pub(super) fn new(most: usize, pools: bool, bytes: u64) -> ShortSizes {
        let letters = (bytes / 4).clamp(1 << 16, BATCH_LETTERS as u64) as usize;
        let reads = (bytes / 4 / (24 * most as u64 + 24)).clamp(16, BATCH_READS as u64) as usize;
        ShortSizes { letters, reads, most, pools }
    }

    /// Returns the sizes of whole batches, with up to `most` candidates per read.
    pub(super) fn whole(most: usize, pools: bool) -> ShortSizes {
        ShortSizes { letters: BATCH_LETTERS, reads: BATCH_READS, most, pools }
    }

    /// Returns the bytes of device memory.
    pub(super) fn bytes(&self) -> u64 {
        let pooling = if self.pools { 4 + 4 * self.most } else { 0 };
        (self.letters + self.reads * (16 + 24 * self.most + 8 + pooling) + 4096) as u64
    }
}

impl ShortSizes {
    /// Converts the candidates of a read, given its index and their number; with the pooled features of their taxa,
    /// if available.
    #[inline]
    fn candidates<'o>(
        &self,
        (read, count): (usize, u32),
        answers: Answers<'o>,
        out: &'o [RawCandidate],
        pooled: Option<&'o [u32]>,
    ) -> impl Iterator<Item = Candidate> + 'o {
        let own = read * self.most..read * self.most + count as usize;
        own.map(move |at| match pooled {
            Some(pooled) => answers.pooled(out[at], pooled[at]),
            None => answers.candidate(out[at]),
        })
    }
}

/// A stream with its buffers.
pub(super) struct ShortWorkspace {
    pub(super) sizes: ShortSizes,
    stream: Stream,
    letters: PinnedBuffer<u8>,
    entries: PinnedBuffer<ReadEntry>,
    filled: usize,
    /// The read of each entry.
    numbers: Vec<usize>,
    letters_there: DeviceBuffer<u8>,
    entries_there: DeviceBuffer<ReadEntry>,
    out: DeviceBuffer<RawCandidate>,
    counts: DeviceBuffer<u32>,
    over: DeviceBuffer<u32>,
    clock: BatchClock,
    phases_there: DeviceBuffer<u64>,
    phases_here: PinnedBuffer<u64>,
    /// The candidates from each part on the device.
    out_here: Vec<PinnedBuffer<RawCandidate>>,
    /// The numbers of candidates from each part on the device.
    counts_here: Vec<PinnedBuffer<u32>>,
    pooled: Option<Pooled>,
}

/// Buffers for the pooled features of near candidates, if the database has a single part.
struct Pooled {
    values: DeviceBuffer<u32>,
    counts: DeviceBuffer<u32>,
    values_here: PinnedBuffer<u32>,
}

impl Pooled {
    fn new(device: &Device, ShortSizes { reads, most, .. }: ShortSizes) -> Result<Pooled> {
        Ok(Pooled {
            values: device.alloc(reads * most)?,
            counts: device.alloc(reads)?,
            values_here: device.alloc_pinned(reads * most)?,
        })
    }
}

/// The data of the database that a batch needs: the targets, whether the taxon of each has further targets (if
/// candidates are pooled), and the difference of hits below which candidates are near.
#[derive(Clone, Copy)]
pub(super) struct Known<'t> {
    pub(super) targets: Targets<'t>,
    pub(super) several: DeviceSlice<'t, u8>,
    pub(super) near: u32,
}

impl ShortWorkspace {
    pub(super) fn new(device: &Device, sizes: ShortSizes, parts: usize) -> Result<ShortWorkspace> {
        let ShortSizes { letters, reads, most, pools } = sizes;
        let out_here = || device.alloc_pinned(reads * most);
        let counts_here = || device.alloc_pinned(reads);
        Ok(ShortWorkspace {
            sizes,
            stream: device.stream()?,
            letters: device.alloc_pinned(letters)?,
            entries: device.alloc_pinned(reads)?,
            filled: 0,
            numbers: Vec::with_capacity(reads),
            letters_there: device.alloc(letters)?,
            entries_there: device.alloc(reads)?,
            out: device.alloc(reads * most)?,
            counts: device.alloc(reads)?,
            over: device.alloc(reads + 1)?,
            clock: BatchClock::new(device)?,
            phases_there: device.alloc(PHASES)?,
            phases_here: device.alloc_pinned(PHASES)?,
            out_here: (0..parts).map(|_| out_here()).collect::<Result<_>>()?,
            counts_here: (0..parts).map(|_| counts_here()).collect::<Result<_>>()?,
            pooled: pools.then(|| Pooled::new(device, sizes)).transpose()?,
        })
    }

    /// Loads the reads numbered `numbers`, which must fit. `range` returns the maximum number of windows of a run for
    /// a number of bases.
    pub(super) fn load(
        &mut self,
        numbers: &[usize],
        reads: &[[&[u8]; 2]],
        range: impl Fn(u64) -> u32,
    ) -> Result<()> {
        self.numbers.clear();
        self.numbers.extend_from_slice(numbers);
        // Only once for all reads, as it asks CUDA whether copies are done.
        let (letters, entries) = (self.letters.as_mut_slice()?, self.entries.as_mut_slice()?);
        let mut at = 0;
        for (entry, &number) in entries.iter_mut().zip(numbers) {
            let [first, second] = reads[number];
            letters[at..at + first.len()].copy_from_slice(first);
            letters[at + first.len()..][..second.len()].copy_from_slice(second);
            let bases = first.len() + second.len();
            *entry = [at as u32, first.len() as u32, second.len() as u32, range(bases as u64)];
            at += bases;
        }
        self.filled = at;
        Ok(())
    }

    /// Sends the reads to the device and starts querying all `parts` there, each with its targets.
    pub(super) fn start(
        &mut self,
        rule: &SketchRule,
        parts: &[(&DeviceTable, Known<'_>)],
    ) -> Result<()> {
        let (stream, reads) = (&self.stream, self.numbers.len());
        self.clock.mark(0, stream)?;
        stream.upload(&mut self.letters, 0..self.filled, self.letters_there.view_mut())?;
        stream.upload(&mut self.entries, 0..reads, self.entries_there.view_mut())?;
        self.clock.mark(1, stream)?;
        stream.fill(self.phases_there.view_mut(), 0)?;
        let most = self.sizes.most;
        for (at, &(table, known)) in parts.iter().enumerate() {
            let stream = &self.stream;
            let out = Out { most, candidates: self.out.view_mut(), counts: self.counts.view_mut() };
            let letters = self.letters_there.view();
            let entries = self.entries_there.slice(..reads);
            let working =
                Working { over: self.over.view_mut(), phases: self.phases_there.view_mut() };
            let asked = Asked { rule, part: table.view(), targets: known.targets };
            kernels::reads(stream, asked, letters, entries, out, working)?;
            if self.pooled.is_some() {
                self.pool(asked, known)?;
            }
            let stream = &self.stream;
            if at + 1 == parts.len() {
                self.clock.mark(2, stream)?;
            }
            let (out, counts) = (self.out.slice(..reads * most), self.counts.slice(..reads));
            stream.download(out, &mut self.out_here[at], 0)?;
            stream.download(counts, &mut self.counts_here[at], 0)?;
        }
        let stream = &self.stream;
        if let Some(pooled) = &mut self.pooled {
            stream.download(pooled.values.slice(..reads * most), &mut pooled.values_here, 0)?;
        }
        stream.download(self.phases_there.view(), &mut self.phases_here, 0)?;
        self.clock.mark(3, stream)
    }

    /// Pools the candidates that were just found.
    fn pool(&mut self, asked: Asked<'_>, known: Known<'_>) -> Result<()> {
        let Some(pooled) = &mut self.pooled else { return Ok(()) };
        let entries = self.entries_there.slice(..self.numbers.len());
        let reads = Reads { letters: self.letters_there.view(), entries };
        let (candidates, counts) = (self.out.view(), self.counts.view());
        let found = FoundThere { most: self.sizes.most, candidates, counts };
        let rule = NearRule { near: known.near, several: known.several };
        let near = Near {
            values: pooled.values.view_mut(),
            counts: pooled.counts.view_mut(),
            // The kernel for larger blocks no longer needs this buffer.
            chosen: self.over.view_mut(),
            phases: self.phases_there.view_mut(),
        };
        pool::pool(&self.stream, asked, reads, found, rule, near)
    }

    /// Whether all results have arrived.
    pub(super) fn is_done(&self) -> Result<bool> {
        self.clock.is_done()
    }

    /// Waits until all results have arrived.
    pub(super) fn wait(&self) -> Result<()> {
        self.clock.wait()
    }

    /// Adds the times of the batch to the device's clock.
    pub(super) fn tell(&self, clock: &DeviceClock) -> Result<()> {
        self.clock.wait()?;
        clock.take(&self.clock, self.phases_here.as_slice()?)
    }

    /// Appends the candidates of all reads of the batch, and the end of each read's, if the only part has answered
    /// for all of them. Otherwise returns false.
    pub(super) fn collect_all(
        &mut self,
        reads: usize,
        answers: Answers<'_>,
        candidates: &mut Vec<Candidate>,
        ends: &mut Vec<usize>,
    ) -> Result<bool> {
        let counts = &self.counts_here[0].as_slice()?[..self.numbers.len()];
        if self.numbers.len() != reads || counts.contains(&TOO_MANY) {
            return Ok(false);
        }
        let (out, pooled) = (self.out_here[0].as_slice()?, self.pooled_here()?);
        for (read, &count) in counts.iter().enumerate() {
            candidates.extend(self.sizes.candidates((read, count), answers, out, pooled));
            ends.push(candidates.len());
        }
        Ok(true)
    }

    /// Merges the candidates from the part with index `at` on this device. Reads with too many hits are added to
    /// `too_many`.
    pub(super) fn collect(
        &mut self,
        at: usize,
        answers: Answers<'_>,
        found: &mut MergedCandidates,
        too_many: &mut Vec<usize>,
    ) -> Result<()> {
        let (counts, pooled) = (self.counts_here[at].as_slice()?, self.pooled_here()?);
        let out = self.out_here[at].as_slice()?;
        for (entry, &read) in self.numbers.iter().enumerate() {
            if counts[entry] == TOO_MANY {
                too_many.push(read);
                continue;
            }
            let own = (entry, counts[entry]);
            found.merge(read, self.sizes.candidates(own, answers, out, pooled));
        }
        Ok(())
    }

    /// Returns the pooled features of each candidate of each read, if candidates are pooled.
    fn pooled_here(&self) -> Result<Option<&[u32]>> {
        self.pooled.as_ref().map(|pooled| pooled.values_here.as_slice()).transpose()
    }
}
