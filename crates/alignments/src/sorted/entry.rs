//! Where the records of slabs lie.

use super::Fields;
use super::key::Key;

/// Where a record lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    /// The slab that it is in,
    pub(super) slab: u32,
    /// and where it begins there.
    pub(super) at: u32,
}

/// The record of an entry.
pub(super) fn record_of(slabs: &[Vec<u8>], entry: Entry) -> &[u8] {
    let record = &slabs[entry.slab as usize][entry.at as usize..];
    &record[..Fields(record).len()]
}
