//! All sorted lists, and the sorter of one key range.

use super::cuts::{Stretch, cut};
use super::entry::{Entry, record_of};
use super::held::Held;
use super::key::KeyRange;
use super::spill::{Sorting, SpilledBlocks, Unpacker};
use crate::Error;
use merganser_run::side_by_side;

/// All records, in sorted lists.
pub(super) enum Lists<'s> {
    /// Lists in memory: the records are in slabs.
    Held { slabs: Vec<Vec<u8>>, lists: Vec<Vec<Entry>> },
    /// Runs on disk.
    Spilled { sorting: &'s Sorting, runs: Vec<SpilledBlocks> },
}

/// The number of entries of a list in memory between possible range borders.
const STRETCH: usize = 128;

impl<'s> Lists<'s> {
    /// Sorts the records that the threads hold. If any were written to disk, writes these there, too.
    ///
    /// # Errors
    /// If writing to disk fails, or if cancelled.
    pub(super) fn new(sorting: &'s Sorting, held: Vec<Held<'s>>) -> Result<Lists<'s>, Error> {
        let spills = sorting.spilled_bytes() > 0;
        let held = side_by_side(held, |mut own| {
            if spills {
                own.spill()?;
            } else {
                own.sort();
            }
            Ok::<_, Error>(own)
        })?;
        if spills {
            return Ok(Lists::Spilled { sorting, runs: sorting.take_runs() });
        }
        let (mut slabs, mut lists) = (Vec::new(), Vec::new());
        for own in held {
            let before = slabs.len() as u32;
            slabs.extend(own.slabs);
            let mut entries = own.entries;
            entries.iter_mut().for_each(|entry| entry.slab += before);
            lists.push(entries);
        }
        Ok(Lists::Held { slabs, lists })
    }

    /// Returns the number of lists that are on disk.
    pub(super) fn runs(&self) -> usize {
        match self {
            Lists::Held { .. } => 0,
            Lists::Spilled { runs, .. } => runs.len(),
        }
    }

    /// Divides the keys into ranges of about `most` bytes of records.
    pub(super) fn cut(&self, most: u64) -> Vec<KeyRange> {
        let stretches: Vec<Stretch> = match self {
            Lists::Spilled { runs, .. } => {
                runs.iter().flatten().map(|block| (block.first, block.bytes as u64)).collect()
            }
            Lists::Held { slabs, lists } => {
                let stretches = lists.iter().flat_map(|list| list.chunks(STRETCH));
                let bytes = |entry: &Entry| record_of(slabs, *entry).len() as u64;
                stretches.map(|some| (some[0].key, some.iter().map(bytes).sum())).collect()
            }
        };
        cut(stretches, most)
    }
}

/// A sorter of one key range at a time, with the buffers of one thread.
pub(super) struct StretchSorter<'l> {
    lists: &'l Lists<'l>,
    unpacker: Option<Unpacker<'l>>,
    /// Decompressed blocks of the runs on disk.
    blocks: Vec<Vec<u8>>,
    /// The entries of the range, sorted.
    entries: Vec<Entry>,
}

impl<'l> StretchSorter<'l> {
    pub(super) fn new(lists: &'l Lists<'l>) -> Result<StretchSorter<'l>, Error> {
        let unpacker = match lists {
            Lists::Held { .. } => None,
            Lists::Spilled { sorting, .. } => Some(sorting.unpacker()?),
        };
        Ok(StretchSorter { lists, unpacker, blocks: Vec::new(), entries: Vec::new() })
    }

    /// Loads and sorts the records of a range from all lists.
    pub(super) fn load(&mut self, range: &KeyRange) -> Result<(), Error> {
        self.entries.clear();
        match (self.lists, &mut self.unpacker) {
            (Lists::Held { lists, .. }, _) => {
                for list in lists {
                    self.entries.extend_from_slice(&list[range.of(list, |entry| entry.key)]);
                }
            }
            (Lists::Spilled { runs, .. }, Some(unpacker)) => {
                let mut number = 0;
                for run in runs {
                    let within = range.of(run, |block| block.first);
                    // The block before the first one may reach into the range.
                    for block in &run[within.start.saturating_sub(1)..within.end] {
                        if number == self.blocks.len() {
                            self.blocks.push(Vec::new());
                        }
                        let slab = &mut self.blocks[number];
                        unpacker.unpack(block, range, number as u32, slab, &mut self.entries)?;
                        number += 1;
                    }
                }
            }
            (Lists::Spilled { .. }, None) => {}
        }
        // The stable sort is fast on concatenated sorted lists.
        self.entries.sort_by_key(|entry| entry.key);
        Ok(())
    }

    /// Returns the records of the range, sorted.
    pub(super) fn records(&self) -> impl Iterator<Item = &[u8]> {
        let slabs = match self.lists {
            Lists::Held { slabs, .. } => slabs,
            Lists::Spilled { .. } => &self.blocks,
        };
        self.entries.iter().map(move |&entry| record_of(slabs, entry))
    }
}
