//! All records, and the parts of them in which they are written.

use super::cuts::{Stretch, cut};
use super::entry::{Entry, record_of};
use super::held::Held;
use super::key::KeyRange;
use super::spill::{Sorting, SpilledBlocks, Unpacker};
use crate::Error;
use merganser_run::side_by_side;

/// All records, in sorted lists.
pub(super) enum Lists<'s> {
    /// In memory, each record in one of the slabs.
    Held { slabs: Vec<Vec<u8>>, lists: Vec<Vec<Entry>> },
    /// On disk.
    Spilled { sorting: &'s Sorting, runs: Vec<SpilledBlocks> },
}

/// Entries of a list in memory from one place to cut to the next.
const STRETCH: usize = 128;

impl<'s> Lists<'s> {
    /// Of what the threads of a run hold: sorted in memory, or, if anything went to disk, there too.
    ///
    /// # Errors
    /// If it cannot be written to disk, or if cancelled.
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

    /// How many lists are read from disk.
    pub(super) fn runs(&self) -> usize {
        match self {
            Lists::Held { .. } => 0,
            Lists::Spilled { runs, .. } => runs.len(),
        }
    }

    /// Cuts them into parts of about so many bytes.
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

/// A thread's memory, which has a part at a time.
pub(super) struct StretchSorter<'l> {
    lists: &'l Lists<'l>,
    unpacker: Option<Unpacker<'l>>,
    /// Blocks that were on disk.
    blocks: Vec<Vec<u8>>,
    /// In order.
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

    /// Takes the records of a range from all lists.
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
                    // The block before the first may reach into the range.
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
        // Lists in order one behind the other: what this sort is fast at.
        self.entries.sort_by_key(|entry| entry.key);
        Ok(())
    }

    /// The records in their order.
    pub(super) fn records(&self) -> impl Iterator<Item = &[u8]> {
        let slabs = match self.lists {
            Lists::Held { slabs, .. } => slabs,
            Lists::Spilled { .. } => &self.blocks,
        };
        self.entries.iter().map(move |&entry| record_of(slabs, entry))
    }
}
