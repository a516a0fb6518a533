//! The positions of records in slabs.

use super::Fields;
use super::key::Key;

/// The key and the position of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    /// The index of the slab that contains the record.
    pub(super) slab: u32,
    /// The offset of the record in the slab, in bytes.
    pub(super) at: u32,
}

/// Returns the bytes of an entry's record.
pub(super) fn record_of(slabs: &[Vec<u8>], entry: Entry) -> &[u8] {
    let record = &slabs[entry.slab as usize][entry.at as usize..];
    &record[..Fields(record).len()]
}
