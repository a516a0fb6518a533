//! Sorting of an index's positions: they are divided by their first four bases, and each part is sorted by a
//! radix pass over the next six bases and by comparisons among equal ones.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use merganser_run::locks::lock;
use merganser_run::{Budget, Cancel, Context, Progress, Shortage, each, each_in_order};
use merganser_store::distribute;

use crate::Error;
use crate::index::{Growing, Unsorted, grouped, interleave, k_of, pieces};
use crate::reference::Text;

/// The number of first bases by which positions are divided into parts.
const PART_BASES: usize = 4;
const PARTS: usize = 1 << (2 * PART_BASES);

/// Calls `work` for all pieces, on all threads, and returns the results in the order of the pieces.
fn by_piece<T: Send>(
    pieces: &[[u32; 3]],
    threads: usize,
    work: impl Fn(&[u32; 3]) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let never = Cancel::default();
    each_in_order(threads, 0..pieces.len(), &never, || (), |(), at| Ok(work(&pieces[at])))
}

/// Calls `take` with each position of a piece and the number of its part.
#[inline(always)]
fn parts(text: Text<'_>, piece: &[u32; 3], mut take: impl FnMut(u32, usize)) {
    let [from, to, _] = *piece;
    let mut at = from as usize;
    let to = to as usize;
    // A window of 64 bases holds the first four bases of 61 positions.
    while at < to {
        let [low, high] = text.window(at);
        for i in 0..(to - at).min(61) {
            let four = |plane: u64| (plane >> i & 15) as usize;
            take((at + i) as u32, PART[four(low)] | PART[four(high)] << 1);
        }
        at += 61;
    }
}

/// Spreads four bits, the first one lowest, to the low bits of four 2-bit bases, the first base on top.
const PART: [usize; 16] = {
    let mut table = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        table[bits] = (bits & 1) << 6 | (bits >> 1 & 1) << 4 | (bits >> 2 & 1) << 2 | bits >> 3 & 1;
        bits += 1;
    }
    table
};

/// Finds the positions of a text to sort, and counts those of each part.
///
/// # Errors
/// If a thread cannot be started.
pub(crate) fn unsorted(text: Text<'_>, threads: usize) -> Result<Unsorted<'_>, Error> {
    let pieces = pieces(text);
    let totals = totals(text, &pieces, threads)?;
    Ok(Unsorted { text, k: k_of(text.bases()), pieces, totals })
}

/// Counts the positions of each part in all pieces.
fn totals(text: Text<'_>, pieces: &[[u32; 3]], threads: usize) -> Result<Vec<u64>, Error> {
    let counts = by_piece(pieces, threads, |piece| {
        let mut counts = vec![0u32; PARTS];
        parts(text, piece, |_, part| counts[part] += 1);
        counts
    })?;
    let total = |part: usize| counts.iter().map(|piece| u64::from(piece[part])).sum();
    Ok((0..PARTS).map(total).collect())
}

/// Memory for reading and for threads, apart from positions.
const OWN_BYTES: u64 = 40 << 20;

/// Returns a budget for indexing a reference whose planes have this many bytes, with only what any index needs.
pub(crate) fn least_memory(context: &Context, planes: u64, k: usize) -> Budget {
    Budget::new(context.budget()).with_files(1).with(OWN_BYTES).with(planes).with(4 << (2 * k))
}

/// Returns the beginning of a message about missing memory, including the verb.
pub(crate) fn indexing(threads: usize) -> String {
    format!("indexing with {threads} threads needs")
}

/// Groups consecutive parts that are scattered and sorted together within the memory.
///
/// # Errors
/// If there is too little memory.
pub(crate) fn groups(
    unsorted: &Unsorted<'_>,
    context: &Context,
    in_memory: bool,
) -> Result<Vec<Range<usize>>, Error> {
    let (fixed, largest) = fixed_memory(unsorted, context, in_memory);
    // A growing vector may allocate twice what it holds.
    let room = fixed.left() / 8;
    if room < largest.min(SMALLEST_ROOM) {
        let budget = fixed.with(8 * largest.max(SMALLEST_ROOM));
        let what = indexing(context.threads);
        return Err(budget.shortage(what, Shortage::FEWER_THREADS).into());
    }
    Ok(grouped(&unsorted.totals, room))
}

/// Returns the least memory with which [`groups`] succeeds, in bytes.
pub(crate) fn needed(unsorted: &Unsorted<'_>, context: &Context, in_memory: bool) -> u64 {
    let (fixed, largest) = fixed_memory(unsorted, context, in_memory);
    fixed.with(8 * largest.min(SMALLEST_ROOM)).needed()
}

/// The number of positions of a group that always suffices.
const SMALLEST_ROOM: u64 = 1 << 16;

/// Returns the memory that does not depend on groups, and the number of positions of the largest part.
fn fixed_memory(unsorted: &Unsorted<'_>, context: &Context, in_memory: bool) -> (Budget, u64) {
    let largest = unsorted.totals.iter().copied().max().unwrap_or(0);
    let kept = if in_memory { 4 * unsorted.positions() } else { 0 };
    // For each thread two lists of keys with positions, and a sorted part that waits for its turn.
    let threads = context.threads as u64 * 44 * largest;
    let planes = unsorted.text.plane_bytes();
    (least_memory(context, planes, unsorted.k).with(kept).with(threads), largest)
}

/// The parameters of sorting an index's positions.
pub(crate) struct Sorting<'s> {
    pub(crate) unsorted: &'s Unsorted<'s>,
    pub(crate) threads: usize,
    pub(crate) progress: &'s dyn Progress,
    pub(crate) cancel: &'s Cancel,
}

/// The positions of a group's parts, by piece, then by part.
type Scattered = Vec<Vec<Vec<u32>>>;

/// The positions of a sorted part, and the number of positions of each of its k-mers.
type SortedPart = (Vec<u32>, Vec<u32>);

/// Sorted parts of a group that wait for the parts before them.
struct Waiting<'g> {
    parts: BTreeMap<usize, SortedPart>,
    next: usize,
    growing: &'g mut Growing,
}

impl Sorting<'_> {
    /// Passes all positions and k-mers to `growing`, group by group.
    ///
    /// # Errors
    /// If `growing` cannot take them, a thread cannot be started, or the run was cancelled.
    pub(crate) fn sort(&self, groups: &[Range<usize>], growing: &mut Growing) -> Result<(), Error> {
        for group in groups {
            let scattered = self.scatter(group)?;
            self.sort_group(group.len(), &scattered, growing)?;
        }
        Ok(())
    }

    fn scatter(&self, group: &Range<usize>) -> Result<Scattered, Error> {
        let Unsorted { text, pieces, .. } = self.unsorted;
        by_piece(pieces, self.threads, |piece| {
            let mut positions = vec![Vec::new(); group.len()];
            parts(*text, piece, |position, part| {
                if let Some(of_part) = positions.get_mut(part.wrapping_sub(group.start)) {
                    of_part.push(position);
                }
            });
            positions
        })
    }

    /// Sorts the parts of a group on all threads.
    fn sort_group(
        &self,
        parts: usize,
        scattered: &Scattered,
        growing: &mut Growing,
    ) -> Result<(), Error> {
        // Threads finish parts in any order; they are passed on in order.
        let waiting = Mutex::new(Waiting { parts: BTreeMap::new(), next: 0, growing });
        each(self.threads, 0..parts, self.cancel, |numbers| {
            let mut sorter = Sorter::default();
            for at in numbers {
                let pieces = scattered.iter().map(|piece| &piece[at][..]);
                let part = sorter.sort(self.unsorted.text, pieces, self.unsorted.k);
                self.progress.advance(part.0.len() as u64);
                lock(&waiting).hand_in(at, part)?;
            }
            Ok(())
        })
        .map(drop)
    }
}

impl Waiting<'_> {
    fn hand_in(&mut self, at: usize, part: SortedPart) -> Result<(), Error> {
        self.parts.insert(at, part);
        while let Some((positions, counts)) = self.parts.remove(&self.next) {
            self.growing.kmers(&counts, &positions)?;
            self.next += 1;
        }
        Ok(())
    }
}

/// Working space of one thread.
#[derive(Default)]
struct Sorter {
    keyed: Vec<(u64, u32)>,
    other: Vec<(u64, u32)>,
}

/// The number of bases of the radix pass.
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
        let mut ends = vec![0; 1 << (2 * RADIX_BASES)];
        let items = self.keyed.iter().map(|&item| (digit(item.0), item));
        self.other.clear();
        distribute(items, &mut ends, &mut self.other);
        let mut start = 0;
        for end in ends.into_iter().map(|end| end as usize) {
            self.other[start..end].sort_unstable();
            start = end;
        }
        let mut counts = vec![0; 1 << (2 * (k - PART_BASES))];
        for &(key, _) in &self.other {
            counts[(key << (2 * PART_BASES) >> (64 - 2 * (k - PART_BASES))) as usize] += 1;
        }
        (self.other.iter().map(|&(_, position)| position).collect(), counts)
    }
}
