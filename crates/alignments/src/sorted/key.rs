//! The sort keys of records.

use std::ops::Range;

use super::Fields;

/// The sort key of a record: its position, then its turn. The turn makes it unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The contig, the first base and the strand. Records without a contig come last.
    pub(super) place: u64,
    /// The number of the record in input order: the number of its batch in the high bits, its number in the batch in
    /// the low [`RECORD_BITS`] bits.
    pub(super) turn: u64,
}

/// The number of bits of a turn that count the records of a batch.
const RECORD_BITS: u32 = 40;

impl Key {
    /// Returns the turn of the first record of a batch.
    pub(super) fn first_turn(batch: u64) -> u64 {
        batch << RECORD_BITS
    }

    /// Returns the key of the BAM record at the start of `record`.
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

/// The keys from `from` (inclusive) to `to` (exclusive). `None` means unbounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyRange {
    pub(super) from: Option<Key>,
    pub(super) to: Option<Key>,
}

impl KeyRange {
    pub(super) fn has(&self, key: Key) -> bool {
        self.from.is_none_or(|from| from <= key) && self.to.is_none_or(|to| key < to)
    }

    /// Returns the indices of the elements of a sorted list whose keys are in the range.
    pub(super) fn of<T>(&self, list: &[T], key: impl Fn(&T) -> Key) -> Range<usize> {
        let from = self.from.map_or(0, |from| list.partition_point(|at| key(at) < from));
        let to = self.to.map_or(list.len(), |to| list.partition_point(|at| key(at) < to));
        from..to
    }
}
