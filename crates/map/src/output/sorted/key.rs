//! What records are sorted by.

use std::ops::Range;

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

/// The fields of a record of BAM (SAM specification, section 4.2).
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    /// Bytes of the record, its length's own among them.
    pub(super) fn len(&self) -> usize {
        self.number(0) as usize + 4
    }

    /// The contig's number, -1 if there is none.
    pub(super) fn contig(&self) -> i32 {
        self.number(4)
    }

    /// The first base, from 0.
    pub(super) fn at(&self) -> i32 {
        self.number(8)
    }

    pub(super) fn flags(&self) -> u16 {
        self.short(18)
    }

    /// The bases of the reference that it covers; 1 without an alignment.
    pub(super) fn span(&self) -> u32 {
        let from = 36 + usize::from(self.0[12]);
        let operations = self.0[from..].chunks_exact(4).take(usize::from(self.short(16)));
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        // M, D, N, = and X.
        let on_reference = |operation: u32| 0b1_1000_1101 >> (operation & 15) & 1 == 1;
        let bases = operations.map(number).filter(|&operation| on_reference(operation));
        bases.map(|operation| operation >> 4).sum::<u32>().max(1)
    }

    fn number(&self, from: usize) -> i32 {
        let bytes = &self.0[from..from + 4];
        i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    fn short(&self, from: usize) -> u16 {
        u16::from_le_bytes([self.0[from], self.0[from + 1]])
    }
}
