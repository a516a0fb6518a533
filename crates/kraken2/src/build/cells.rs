//! Filling of a table by several threads, with the result that one thread would produce.
//!
//! The cell of a key depends on the keys that were stored before it. The table is cut into ranges of cells.
//! Each range stores its keys in the order of the library, independently of the other ranges. Ranges
//! depend on each other only through keys whose search leaves the range in which it begins; these keys are
//! set aside until the whole library is read. Then the first cells of the next range are filled again in
//! the order of the library, up to a cell that stays empty, because no search goes past it. For this, each
//! range lists the keys whose search begins in its first cells, its margin. If a margin has too few empty
//! cells, the whole table is filled again as a single range.

use std::collections::HashSet;
use std::ops::Range;

use merganser_run::{ConfigError, InOrderSink};
use merganser_seq::simd::prefetch;

use super::super::table::{Homes, unhash};
use super::super::taxonomy::Kraken2Taxonomy;
use super::blocks::ZONES;
use crate::Error;

/// Cells of a range's margin. At a load of 0.7, only about one cell in 10²⁴ begins a run of this many full cells.
const MARGIN: usize = 1024;
/// The minimum number of cells of a range.
const MIN: u64 = 1 << 20;
/// The maximum number of ranges.
const MAX: u64 = 64;
/// How many keys ahead a cell is prefetched.
const AHEAD: usize = 24;

/// The parameters for filling cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule<'t> {
    pub(super) tree: &'t Kraken2Taxonomy,
    pub(super) homes: Homes,
    pub(super) value_bits: u32,
}

/// The division of a table into ranges of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Cells per range; the last range may have fewer.
    range: u64,
    /// Cells of the margin; 0 if there is only one range.
    margin: usize,
}

impl Cut {
    /// Divides a table into as many ranges as are useful.
    pub(super) fn of(capacity: u64) -> Cut {
        let ranges = (capacity / MIN).clamp(1, MAX);
        if ranges == 1 {
            Cut::whole(capacity)
        } else {
            Cut { range: capacity.div_ceil(ranges), margin: MARGIN }
        }
    }

    /// Keeps the table as a single range.
    pub(super) fn whole(capacity: u64) -> Cut {
        Cut { range: capacity, margin: 0 }
    }

    /// Returns the number of the range that a cell belongs to.
    #[inline(always)]
    pub(super) fn range_of(self, cell: u64) -> usize {
        (cell / self.range) as usize
    }

    fn range(self) -> usize {
        self.range as usize
    }
}

/// The keys that one batch of the library has for one range, in order.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) part: u64,
    pub(super) hashes: Vec<u64>,
    pub(super) runs: Vec<BlockKeys>,
}

/// The keys of one block.
#[derive(Clone, Debug)]
pub(super) struct BlockKeys {
    /// The number of the block in its batch.
    pub(super) block: u32,
    pub(super) node: u32,
    /// The end of the block's keys in [`Keys::hashes`].
    pub(super) end: u32,
}

impl Keys {
    pub(super) fn clear(&mut self) {
        self.hashes.clear();
        self.runs.clear();
    }
}

/// A key and its position in the library.
#[derive(Clone, Copy, Debug)]
struct Placed {
    part: u64,
    block: u32,
    node: u32,
    hash: u64,
}

impl Placed {
    /// Returns the sort key that restores the order of the library.
    fn order(&self) -> (u64, u32, usize, u64) {
        (self.part, self.block, self.hash as usize % ZONES, unhash(self.hash))
    }
}

/// A range of cells that is being filled.
#[derive(Debug)]
pub(super) struct Filling<'t> {
    rule: Rule<'t>,
    /// The number of the range's first cell.
    first: u64,
    cells: &'t mut [u32],
    margin: usize,
    filled: Filled,
    /// The (hash, node) pairs that are already in the lists; listing one again would change nothing.
    known: HashSet<(u64, u32)>,
}

/// The outcome of filling one range.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// The number of cells in use.
    size: u64,
    /// Keys whose search begins in the margin, in the order of the library.
    margin: Vec<Placed>,
    /// Keys whose search left the range, in the order of the library.
    beyond: Vec<Placed>,
}

/// Splits a table into its ranges.
pub(super) fn cut<'t>(cells: &'t mut [u32], cut: Cut, rule: Rule<'t>) -> Vec<Filling<'t>> {
    let ranges = cells.chunks_mut(cut.range()).enumerate();
    let range = |(number, cells): (usize, &'t mut [u32])| Filling {
        rule,
        first: number as u64 * cut.range,
        cells,
        margin: cut.margin,
        filled: Filled::default(),
        known: HashSet::new(),
    };
    ranges.map(range).collect()
}

impl<'t> InOrderSink<Keys> for Filling<'t> {
    type Error = Error;

    fn write(&mut self, keys: Keys) -> Result<Option<Keys>, Error> {
        let mut start = 0;
        for run in &keys.runs {
            let end = run.end as usize;
            for at in start..end {
                if let Some(&ahead) = keys.hashes.get(at + AHEAD) {
                    prefetch(self.cells, (self.rule.homes.of(ahead) - self.first) as usize);
                }
                self.insert(keys.part, run, keys.hashes[at])?;
            }
            start = end;
        }
        Ok(Some(keys))
    }
}

impl<'t> Filling<'t> {
    #[inline(always)]
    fn insert(&mut self, part: u64, run: &BlockKeys, hash: u64) -> Result<(), Error> {
        if self.margin == 0 {
            self.filled.size += u64::from(store(self.rule, self.cells, hash, run.node)?);
            return Ok(());
        }
        let (home, end) = ((self.rule.homes.of(hash) - self.first) as usize, self.cells.len());
        let stored = store_within(self.rule, self.cells, home..end, hash, run.node);
        self.filled.size += u64::from(stored == Some(true));
        if home < self.margin || stored.is_none() {
            self.list(part, run, hash, stored.is_none());
        }
        Ok(())
    }

    #[cold]
    fn list(&mut self, part: u64, run: &BlockKeys, hash: u64, is_beyond: bool) {
        let BlockKeys { block, node, .. } = *run;
        if self.known.insert((hash, node)) {
            let Filled { margin, beyond, .. } = &mut self.filled;
            let list = if is_beyond { beyond } else { margin };
            list.push(Placed { part, block, node, hash });
        }
    }

    pub(super) fn end(self) -> Filled {
        self.filled
    }
}

/// Stores the keys whose search left their range and returns the number of cells in use, or `None` if a
/// margin was too small for this, so that the table has to be filled again.
pub(super) fn finish(
    cells: &mut [u32],
    cut: Cut,
    rule: Rule<'_>,
    filled: Vec<Filled>,
) -> Option<u64> {
    let mut size: u64 = filled.iter().map(|range| range.size).sum();
    // The range after the last one is the first.
    let before = filled.iter().cycle().skip(filled.len() - 1);
    for (number, (range, before)) in filled.iter().zip(before).enumerate() {
        if !before.beyond.is_empty() {
            let first = number * cut.range();
            let (old, new) = refill(cells, (first, cut.margin), rule, range, &before.beyond)?;
            size = size + new - old;
        }
    }
    Some(size)
}

/// Fills the first cells of a range again, together with the keys that left the range before it. Returns
/// how many of these cells were in use before and after.
fn refill(
    cells: &mut [u32],
    (first, margin): (usize, usize),
    rule: Rule<'_>,
    range: &Filled,
    beyond: &[Placed],
) -> Option<(u64, u64)> {
    // Each of the keys fills at most one empty cell, so no search goes past the next empty one.
    let empty = |at: &usize| cells[*at] == 0;
    let end = (first..cells.len().min(first + margin)).filter(empty).nth(beyond.len())?;
    let place = first..end;
    let home = |key: &Placed| rule.homes.of(key.hash) as usize;
    let own = range.margin.iter().filter(|key| home(key) < end);
    let mut keys: Vec<(&Placed, usize)> = own.map(|key| (key, home(key))).collect();
    keys.extend(beyond.iter().map(|key| (key, first)));
    keys.sort_unstable_by_key(|(key, _)| key.order());
    let used = |cells: &[u32]| cells.iter().filter(|&&cell| cell != 0).count() as u64;
    let before = used(&cells[place.clone()]);
    cells[place.clone()].fill(0);
    for (key, start) in keys {
        store_within(rule, cells, start..end, key.hash, key.node)?;
    }
    Some((before, used(&cells[place])))
}

/// Stores a key in the whole table and returns whether it is new.
///
/// # Errors
/// If the table is full.
#[inline(always)]
fn store(rule: Rule<'_>, cells: &mut [u32], hash: u64, node: u32) -> Result<bool, Error> {
    let (home, end) = (rule.homes.of(hash) as usize, cells.len());
    let found = store_within(rule, cells, home..end, hash, node);
    found.or_else(|| store_within(rule, cells, 0..home, hash, node)).ok_or_else(|| {
        Error::Config(ConfigError::new(format!(
            "all {end} cells of the table are full: lower `load_factor`, or raise `max_db_size`"
        )))
    })
}

/// Stores a key in the first cell of `place` that is empty or already has it. Returns whether the key is new,
/// or `None` if there is no such cell.
#[inline(always)]
fn store_within(
    rule: Rule<'_>,
    cells: &mut [u32],
    place: Range<usize>,
    hash: u64,
    node: u32,
) -> Option<bool> {
    let key = (hash >> (32 + rule.value_bits)) as u32;
    let found = |cell: &&mut u32| **cell == 0 || **cell >> rule.value_bits == key;
    let cell = cells[place].iter_mut().find(found)?;
    let new = *cell == 0;
    let old = *cell & ((1 << rule.value_bits) - 1);
    let value = if new || old == node { node } else { lca(rule.tree, old, node) };
    *cell = key << rule.value_bits | value;
    Some(new)
}

/// Returns the lowest common ancestor of two nodes; parents have smaller numbers than their children.
fn lca(tree: &Kraken2Taxonomy, mut one: u32, mut other: u32) -> u32 {
    while one != other {
        if one > other {
            one = tree.parent(one);
        } else {
            other = tree.parent(other);
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use super::super::super::table::hash;
    use super::super::super::taxonomy::tests::tree;
    use super::*;
    use proptest::prelude::*;

    /// Fills a table range by range; a batch of the library consists of three blocks.
    fn fill(rule: Rule<'_>, cut_: Cut, blocks: &[(u32, Vec<u64>)]) -> Option<(Vec<u32>, u64)> {
        let mut cells = vec![0; rule.homes.capacity as usize];
        let mut ranges = cut(&mut cells, cut_, rule);
        for (part, blocks) in blocks.chunks(3).enumerate() {
            for (number, range) in ranges.iter_mut().enumerate() {
                let mut keys = Keys { part: part as u64, ..Keys::default() };
                for (block, (node, hashes)) in blocks.iter().enumerate() {
                    let own = |hash: &&u64| cut_.range_of(rule.homes.of(**hash)) == number;
                    keys.hashes.extend(hashes.iter().filter(own));
                    let end = keys.hashes.len() as u32;
                    keys.runs.push(BlockKeys { block: block as u32, node: *node, end });
                }
                range.write(keys).unwrap();
            }
        }
        let filled = ranges.into_iter().map(Filling::end).collect();
        let size = finish(&mut cells, cut_, rule, filled)?;
        Some((cells, size))
    }

    /// Fills a table key by key, by the definition.
    fn naive(rule: Rule<'_>, blocks: &[(u32, Vec<u64>)]) -> (Vec<u32>, u64) {
        let capacity = rule.homes.capacity as usize;
        let (mut cells, mut size) = (vec![(0u64, 0u32); capacity], 0);
        for (node, hashes) in blocks {
            for hash in hashes {
                let key = hash >> (32 + rule.value_bits);
                let mut at = (hash % capacity as u64) as usize;
                while cells[at].1 != 0 && cells[at].0 != key {
                    at = (at + 1) % capacity;
                }
                size += u64::from(cells[at].1 == 0);
                let value =
                    if cells[at].1 == 0 { *node } else { rule.tree.lca(cells[at].1, *node) };
                cells[at] = (key, value);
            }
        }
        let cell = |(key, value): (u64, u32)| (key as u32) << rule.value_bits | value;
        (cells.into_iter().map(cell).collect(), size)
    }

    proptest! {
        #[test]
        fn ranges_make_what_one_thread_makes(
            keys in proptest::collection::vec(proptest::collection::vec(0u64..400, 0..12), 0..40),
            capacity in 250u64..600,
            range in 40u64..200,
            margin in 1usize..30,
            // With few bits for keys, different keys collide.
            value_bits in prop_oneof![Just(3u32), Just(24), Just(28)],
            nodes in proptest::collection::vec(1u32..7, 40),
        ) {
            let tree = tree(&[1, 1, 2, 2, 4], &[]);
            let rule = Rule { tree: &tree, homes: Homes::new(capacity), value_bits };
            let sorted = |keys: &Vec<u64>| {
                let mut keys = keys.clone();
                keys.sort_unstable_by_key(|&key| (hash(key) % 256, key));
                keys.into_iter().map(hash).collect()
            };
            let blocks: Vec<(u32, Vec<u64>)> =
                nodes.iter().copied().zip(keys.iter().map(sorted)).collect();
            let expected = naive(rule, &blocks);
            let whole = fill(rule, Cut::whole(capacity), &blocks);
            prop_assert_eq!(whole.as_ref(), Some(&expected));
            if let Some(filled) = fill(rule, Cut { range, margin }, &blocks) {
                prop_assert_eq!(filled, expected);
            }
        }
    }

    #[test]
    fn ranges_that_depend_on_each_other_are_seen() {
        let tree = tree(&[], &[]);
        let rule = Rule { tree: &tree, homes: Homes::new(100), value_bits: 1 };
        let many = |count: u64| vec![(1, (0..count).map(hash).collect::<Vec<u64>>())];
        assert!(fill(rule, Cut { range: 50, margin: 20 }, &many(99)).is_none());
        let filled = fill(rule, Cut { range: 50, margin: 20 }, &many(30));
        assert!(filled.is_some_and(|(cells, size)| size == 30 && cells.contains(&0)));
    }

    #[test]
    fn a_full_table_is_an_error() {
        let tree = tree(&[], &[]);
        let rule = Rule { tree: &tree, homes: Homes::new(5), value_bits: 1 };
        let mut cells = vec![0; 5];
        let stored: Vec<bool> =
            (0..6).map(|key| store(rule, &mut cells, hash(key), 1).is_ok()).collect();
        assert_eq!(stored, [true, true, true, true, true, false]);
    }
}
