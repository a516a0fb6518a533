//! The records that a thread holds.

use super::Fields;
use super::entry::Entry;
use super::key::Key;
use super::spill::Sorting;
use crate::Error;

/// Records in memory, and the sorting that they are part of.
pub struct Held<'s> {
    sorting: &'s Sorting,
    /// Bytes of records; those from `current` on are empty. None grows beyond its capacity.
    pub(super) slabs: Vec<Vec<u8>>,
    current: usize,
    pub(super) entries: Vec<Entry>,
    /// The turn of the next record.
    turn: u64,
    bytes: u64,
}

impl<'s> Held<'s> {
    /// Makes an empty list of a sorting.
    pub fn new(sorting: &'s Sorting) -> Held<'s> {
        Held { sorting, slabs: Vec::new(), current: 0, entries: Vec::new(), turn: 0, bytes: 0 }
    }

    /// Begins the records of this batch: those that are taken from now on.
    pub fn begin(&mut self, batch: u64) {
        self.turn = Key::first_turn(batch);
    }

    /// Takes the next records of the batch; those that are held go to disk if they are too many.
    ///
    /// # Errors
    /// If they cannot be written there, or if cancelled.
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

    /// A slab with room for so many bytes.
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

    /// Moves all to disk, in order.
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
