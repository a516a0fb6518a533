//! The records that a thread holds in memory.

use super::Fields;
use super::entry::Entry;
use super::key::Key;
use super::spill::Sorting;
use crate::Error;

/// The records of one thread in a sorting.
pub struct Held<'s> {
    sorting: &'s Sorting,
    /// The bytes of the records. The slabs after `current` are empty. No slab grows beyond its capacity.
    pub(super) slabs: Vec<Vec<u8>>,
    current: usize,
    pub(super) entries: Vec<Entry>,
    /// The turn of the next record (see [`Key`]).
    turn: u64,
    bytes: u64,
}

impl<'s> Held<'s> {
    /// Returns an empty list of records for a sorting.
    pub fn new(sorting: &'s Sorting) -> Held<'s> {
        Held { sorting, slabs: Vec::new(), current: 0, entries: Vec::new(), turn: 0, bytes: 0 }
    }

    /// Starts a batch: the records that are added next belong to the batch with this number.
    pub fn begin(&mut self, batch: u64) {
        self.turn = Key::first_turn(batch);
    }

    /// Adds the next records of the batch. Writes all held records to disk if they exceed the thread's share of the
    /// memory.
    ///
    /// # Errors
    /// If writing to disk fails, or if cancelled.
    pub fn take(&mut self, mut records: &[u8]) -> Result<(), Error> {
        self.sorting.count(records.len() as u64);
        while !records.is_empty() {
            let (record, rest) = records.split_at(Fields(records).len());
            records = rest;
            let slab = self.slab_for(record.len());
            let at = self.slabs[slab].len() as u32;
            self.slabs[slab].extend_from_slice(record);
            let key = Key::new(record, self.turn);
            self.entries.push(Entry { key, slab: slab as u32, at });
            self.turn += 1;
            self.bytes += (record.len() + size_of::<Entry>()) as u64;
        }
        if self.bytes >= self.sorting.share() { self.spill() } else { Ok(()) }
    }

    /// Returns the index of a slab with room for `len` bytes.
    fn slab_for(&mut self, len: usize) -> usize {
        let has_room = |slab: &Vec<u8>| slab.capacity() - slab.len() >= len;
        while self.slabs.get(self.current).is_some_and(|slab| !has_room(slab)) {
            self.current += 1;
        }
        if self.current == self.slabs.len() {
            self.slabs.push(Vec::with_capacity(self.sorting.slab().max(len)));
        }
        self.current
    }

    /// Writes all held records to disk, sorted.
    pub(super) fn spill(&mut self) -> Result<(), Error> {
        self.sort();
        self.sorting.add_run(&self.slabs, &self.entries)?;
        self.entries.clear();
        self.slabs.iter_mut().for_each(Vec::clear);
        (self.current, self.bytes) = (0, 0);
        Ok(())
    }

    pub(super) fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.key);
    }
}
