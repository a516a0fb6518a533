//! Building an index: positions are distributed by their first four bases, and each part is sorted
//! by a radix pass over the next eight and comparisons within what then is equal.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_io::AtomicFile;
use merganser_run::locks::lock;
use merganser_run::{Cancel, Progress, Shortage, Unit, run_workers_collect};

use super::{Data, Index, SHORTEST, file, interleave, k_of};
use crate::Error;
use crate::cuda::{self, Sorting};
use crate::reference::{Reference, Text};

/// How an index is built.
#[derive(Clone, Copy, Debug)]
pub struct Building {
    /// Threads in all.
    pub threads: usize,
    /// Bytes that the process may use.
    pub memory: u64,
    /// The GPU that sorts, by CUDA's number; `None`: the threads do.
    pub device: Option<u32>,
    /// Bytes of the GPU's memory that may be used; `None`: what is free.
    pub gpu_memory: Option<u64>,
}

/// What a device has sorted: the next positions, or where the next k-mers begin.
pub(crate) enum Part<'d> {
    Positions(&'d [u32]),
    Table(&'d [u32]),
}

/// Bases by which positions are distributed.
const PART_BASES: usize = 4;
const PARTS: usize = 1 << (2 * PART_BASES);
/// Positions that are looked at in one step.
const PIECE: u32 = 1 << 20;

/// Builds the index of a reference, in memory or, given one, as a file, which appears as its set does
/// and is mapped already; its bytes depend on the reference alone. Calls `progress` with one stage, in positions.
///
/// # Errors
/// If there is too little memory, the file cannot be written, or the run was cancelled.
pub fn build(
    reference: Reference,
    how: &Building,
    output: Option<AtomicFile>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Index, Error> {
    let text = reference.text();
    let bases: u64 = text.contigs.iter().map(|contig| u64::from(contig.len)).sum();
    let k = k_of(bases);
    let pieces = pieces(text);
    progress.stage("index", Unit::Bases, Some(bases));
    let counts = count(text, &pieces, how.threads)?;
    let totals: Vec<u64> =
        (0..PARTS).map(|part| counts.iter().map(|piece| u64::from(piece[part])).sum()).collect();
    let groups = match how.device {
        None => groups(&totals, &reference, k, how, output.is_none())?,
        // The device has groups of its own.
        Some(_) => Vec::new(),
    };
    let mut sorted = Sorted { table: Vec::with_capacity((1 << (2 * k)) + 1), k, positions: 0 };
    let mut sink = match output {
        Some(file) => Sink::File(Box::new(file::Writer::new(file, &reference, k)?)),
        None => Sink::Memory(Vec::with_capacity(totals.iter().sum::<u64>() as usize)),
    };
    if let Some(device) = how.device {
        let memory = how.gpu_memory;
        let sorting = Sorting { text, pieces: &pieces, totals: &totals, k, device, memory };
        cuda::sort_positions(&sorting, progress, cancel, |part| match part {
            Part::Positions(positions) => {
                sorted.positions += positions.len() as u32;
                sink.push(positions)
            }
            Part::Table(kmers) => {
                sorted.table.extend_from_slice(kmers);
                Ok(())
            }
        })?;
    }
    for group in groups {
        let scattered = scatter(text, &pieces, &group, how.threads)?;
        sorted.sort(text, group, &scattered, how.threads, &mut sink, progress, cancel)?;
    }
    sorted.table.push(sorted.positions);
    progress.finish();
    match sink {
        Sink::File(writer) => writer.finish(&reference, &sorted.table),
        Sink::Memory(positions) => {
            let contigs = reference.contigs.clone();
            let data = Data::Owned { reference, positions, table: sorted.table };
            Ok(Index { contigs, k, data })
        }
    }
}

/// Where sorted positions go.
enum Sink {
    Memory(Vec<u32>),
    File(Box<file::Writer>),
}

impl Sink {
    fn push(&mut self, positions: &[u32]) -> Result<(), Error> {
        match self {
            Sink::Memory(all) => {
                all.extend_from_slice(positions);
                Ok(())
            }
            Sink::File(writer) => writer.positions(positions),
        }
    }
}

/// Stretches of contigs without other letters, long enough for a seed: [first position, position
/// behind the last one, end of the bases].
fn pieces(text: Text<'_>) -> Vec<[u32; 3]> {
    let gaps = text.gaps();
    let mut pieces = Vec::new();
    let mut gap = 0;
    for contig in text.contigs {
        let mut at = contig.start;
        while at < contig.end() {
            while gap < gaps.len() && gaps[gap][1] <= at {
                gap += 1;
            }
            let next = gaps.get(gap).filter(|gap| gap[0] < contig.end());
            let end = next.map_or(contig.end(), |gap| gap[0]);
            let seeds = end.saturating_sub(SHORTEST as u32 - 1);
            while at < seeds {
                let to = seeds.min(at + PIECE);
                pieces.push([at, to, end]);
                at = to;
            }
            at = next.map_or(contig.end(), |gap| gap[1]);
        }
    }
    pieces
}

/// Runs `work` on all pieces by all threads and gives the results in their order.
fn by_piece<T: Send>(
    pieces: &[[u32; 3]],
    threads: usize,
    work: impl Fn(&[u32; 3]) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let next = AtomicUsize::new(0);
    let done = run_workers_collect::<_, Error, _>(threads, |_| {
        let mut own = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(at) else { return Ok(own) };
            own.push((at, work(piece)));
        }
    })?;
    let mut all: Vec<(usize, T)> = done.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, value)| value).collect())
}

/// Calls `take` with the part of each position of a piece.
#[inline(always)]
fn parts(text: Text<'_>, piece: &[u32; 3], mut take: impl FnMut(u32, usize)) {
    let [from, to, _] = *piece;
    let mut at = from as usize;
    let to = to as usize;
    // 61 positions have their first four bases within a word of 64.
    while at < to {
        let [low, high] = text.window(at);
        for i in 0..(to - at).min(61) {
            let four = |plane: u64| (plane >> i & 15) as usize;
            take((at + i) as u32, PART[four(low)] | PART[four(high)] << 1);
        }
        at += 61;
    }
}

/// Four bits, the first lowest, as the low bits of four bases, the first on top.
const PART: [usize; 16] = {
    let mut table = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        table[bits] = (bits & 1) << 6 | (bits >> 1 & 1) << 4 | (bits >> 2 & 1) << 2 | bits >> 3 & 1;
        bits += 1;
    }
    table
};

fn count(text: Text<'_>, pieces: &[[u32; 3]], threads: usize) -> Result<Vec<Vec<u32>>, Error> {
    by_piece(pieces, threads, |piece| {
        let mut counts = vec![0; PARTS];
        parts(text, piece, |_, part| counts[part] += 1);
        counts
    })
}

/// Neighbouring parts that are scattered and sorted together, within the memory.
fn groups(
    totals: &[u64],
    reference: &Reference,
    k: usize,
    how: &Building,
    in_memory: bool,
) -> Result<Vec<std::ops::Range<usize>>, Error> {
    let planes = 8 * (reference.low.len() + reference.high.len() + reference.others.len()) as u64;
    let largest = totals.iter().copied().max().unwrap_or(0);
    let all: u64 = totals.iter().sum();
    let kept = if in_memory { 4 * all } else { 0 };
    // Two keys with their positions for each thread's part, and the sorted ones that wait.
    let fixed = planes + kept + (4 << (2 * k)) + how.threads as u64 * 44 * largest + (64 << 20);
    // A growing vector may take twice what it holds.
    let room = how.memory.saturating_sub(fixed) / 8;
    if room < largest.min(1 << 16) {
        let needed = fixed + 8 * largest.max(1 << 16);
        let what = format!("indexing with {} threads needs", how.threads);
        let remedy = Shortage::FEWER_THREADS;
        return Err(Shortage { what, needed, budget: how.memory, remedy }.into());
    }
    Ok(grouped(totals, room))
}

/// Parts that follow each other, as many as there is room for at a time; a part alone if it has more.
pub(crate) fn grouped(totals: &[u64], room: u64) -> Vec<std::ops::Range<usize>> {
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    let mut held = 0;
    for (part, &total) in totals.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if held + total <= room => group.end = part + 1,
            _ => {
                groups.push(part..part + 1);
                held = 0;
            }
        }
        held += total;
    }
    groups
}

/// The positions of a group's parts, by piece, then by part.
fn scatter(
    text: Text<'_>,
    pieces: &[[u32; 3]],
    group: &std::ops::Range<usize>,
    threads: usize,
) -> Result<Vec<Vec<Vec<u32>>>, Error> {
    by_piece(pieces, threads, |piece| {
        let mut positions = vec![Vec::new(); group.len()];
        parts(text, piece, |position, part| {
            if let Some(of_part) = positions.get_mut(part.wrapping_sub(group.start)) {
                of_part.push(position);
            }
        });
        positions
    })
}

/// The table of where k-mers begin, as far as parts have been sorted.
struct Sorted {
    table: Vec<u32>,
    k: usize,
    positions: u32,
}

/// A sorted part: its positions, and how many each of its k-mers has.
type SortedPart = (Vec<u32>, Vec<u32>);

impl Sorted {
    #[allow(clippy::too_many_arguments, reason = "one step of a pipeline, called once")]
    fn sort(
        &mut self,
        text: Text<'_>,
        group: std::ops::Range<usize>,
        scattered: &[Vec<Vec<u32>>],
        threads: usize,
        sink: &mut Sink,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let (next, k) = (AtomicUsize::new(0), self.k);
        // Parts are handed to the sink in their order, whoever sorts them first.
        let state =
            Mutex::new((std::collections::BTreeMap::<usize, SortedPart>::new(), 0, self, sink));
        run_workers_collect::<_, Error, _>(threads, |_| {
            let mut sorter = Sorter::default();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= group.len() {
                    return Ok(());
                }
                if cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let part = sorter.sort(text, scattered.iter().map(|piece| &piece[at][..]), k);
                progress.advance(part.0.len() as u64);
                let mut guard = lock(&state);
                let (waiting, next, sorted, sink) = &mut *guard;
                waiting.insert(at, part);
                while let Some((positions, counts)) = waiting.remove(next) {
                    sorted.add(&counts);
                    sink.push(&positions)?;
                    *next += 1;
                }
            }
        })?;
        Ok(())
    }

    fn add(&mut self, counts: &[u32]) {
        for &count in counts {
            self.table.push(self.positions);
            self.positions += count;
        }
    }
}

/// A thread's memory.
#[derive(Default)]
struct Sorter {
    keyed: Vec<(u64, u32)>,
    other: Vec<(u64, u32)>,
}

/// Bases of the radix pass.
const RADIX_BASES: usize = 6;

impl Sorter {
    fn sort<'a>(
        &mut self,
        text: Text<'_>,
        pieces: impl Iterator<Item = &'a [u32]>,
        k: usize,
    ) -> SortedPart {
        self.keyed.clear();
        for &position in pieces.flatten() {
            self.keyed.push((interleave(text.window(position as usize)), position));
        }
        let digit = |key: u64| (key << (2 * PART_BASES) >> (64 - 2 * RADIX_BASES)) as usize;
        let mut starts = vec![0; (1 << (2 * RADIX_BASES)) + 1];
        for &(key, _) in &self.keyed {
            starts[digit(key) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        self.other.clear();
        self.other.resize(self.keyed.len(), (0, 0));
        let mut next = starts.clone();
        for &item in &self.keyed {
            let at = &mut next[digit(item.0)];
            self.other[*at] = item;
            *at += 1;
        }
        for bounds in starts.windows(2) {
            self.other[bounds[0]..bounds[1]].sort_unstable();
        }
        let mut counts = vec![0; 1 << (2 * (k - PART_BASES))];
        for &(key, _) in &self.other {
            counts[(key << (2 * PART_BASES) >> (64 - 2 * (k - PART_BASES))) as usize] += 1;
        }
        (self.other.iter().map(|&(_, position)| position).collect(), counts)
    }
}
