//! What records are sorted by.

use std::ops::Range;

use super::Fields;

/// A record's key: its place, then its turn among all records, so that no two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// Contig, first base, strand; behind all others without a contig.
    pub(super) place: u64,
    /// Batch, and record of it.
    pub(super) turn: u64,
}

/// Bits of a turn that count the records of a batch.
const RECORD_BITS: u32 = 40;

impl Key {
    /// The turn of the first record of a batch; those of the next ones follow.
    pub(super) fn first_turn(batch: u64) -> u64 {
        batch << RECORD_BITS
    }

    /// The key of a record of BAM, which `record` begins with.
    pub(super) fn new(record: &[u8], turn: u64) -> Key {
        let fields = Fields(record);
        let (contig, at) = (fields.contig(), fields.at());
        let place = match contig {
            0.. => {
                let base = (i64::from(at) + 1) as u64;
                (contig as u64) << 32 | base << 1 | u64::from(fields.flags() >> 4 & 1)
            }
            _ => u64::MAX,
        };
        Key { place, turn }
    }
}

/// Keys from one on, and up to another one, which is not among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyRange {
    pub(super) from: Option<Key>,
    pub(super) to: Option<Key>,
}

impl KeyRange {
    pub(super) fn has(&self, key: Key) -> bool {
        self.from.is_none_or(|from| from <= key) && self.to.is_none_or(|to| key < to)
    }

    /// Of a sorted list, the elements whose keys are in the range.
    pub(super) fn of<T>(&self, list: &[T], key: impl Fn(&T) -> Key) -> Range<usize> {
        let from = self.from.map_or(0, |from| list.partition_point(|at| key(at) < from));
        let to = self.to.map_or(list.len(), |to| list.partition_point(|at| key(at) < to));
        from..to
    }
}
