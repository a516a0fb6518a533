//! Looking minimizers up: in an order in which cells that lie near are asked for at nearly the same time, and ahead of it.

use merganser_seq::dispatch;
use merganser_seq::simd::{Level, prefetch};
use merganser_store::distribute;

use super::{HEADER, Table, hash};
use crate::Error;

/// How many searches ahead a cell is asked for: about as many as a core keeps requests to memory in
/// flight, and again.
pub(super) const AHEAD: usize = 32;
/// Bits of a cell's place that choose the place of its search in the order. A table is far larger than
/// the caches, and the tables of its pages are, too: what lies near is looked at at nearly the same
/// time.
const ORDER_BITS: u32 = 8;
const PLACES: usize = 1 << ORDER_BITS;
/// Bits of a minimizer's number: keys have the other 40.
pub(super) const NUMBER_BITS: u32 = 24;
/// Minimizers that are looked up together at most.
const MAX: usize = 1 << NUMBER_BITS;
/// Cells that are looked at together.
const TOGETHER: usize = 8;
/// A search of so many cells goes through a table that is as good as full.
const FAR: u64 = 1 << 20;

/// A search that is to be made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Where it begins.
    pub(super) at: u64,
    /// The key above the number of its minimizer.
    pub(super) rest: u64,
}

impl Entry {
    #[inline(always)]
    fn key(self) -> u64 {
        self.rest >> NUMBER_BITS
    }

    #[inline(always)]
    fn number(self) -> usize {
        self.rest as usize % MAX
    }
}

/// Searches in the order in which they are made; for their memory.
#[derive(Debug, Default)]
pub(in super::super) struct Searches {
    entries: Vec<Entry>,
}

impl Table {
    /// Replaces `taxa` by the taxon of each minimizer, 0 where there is none.
    ///
    /// # Errors
    /// If a cell has a value that is no node of the taxonomy.
    pub(in super::super) fn look_up(
        &self,
        minimizers: &[u64],
        searches: &mut Searches,
        taxa: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let cells = &self.file.bytes()[HEADER..];
        taxa.clear();
        taxa.resize(minimizers.len(), 0);
        for (minimizers, taxa) in minimizers.chunks(MAX).zip(taxa.chunks_mut(MAX)) {
            order(Level::best(), self, minimizers, searches);
            let entries = &searches.entries;
            match bytemuck::try_cast_slice::<u8, u32>(cells) {
                Ok(cells) if self.cell_bytes == 4 => {
                    search_words(Level::best(), Words { table: self, cells }, entries, taxa);
                }
                _ => search(&Bytes { table: self, cells }, entries, taxa),
            }
        }
        self.check_value(taxa.iter().copied().max().unwrap_or(0))
    }

    /// Goes from cell to cell to one that has the key, or none.
    #[inline(always)]
    fn walk(&self, entry: Entry, cell: impl Fn(u64) -> (u64, u32)) -> u32 {
        let (key, mut at) = (entry.key(), entry.at);
        // A full table ends the search where it began.
        for step in 1..=self.homes.capacity {
            let (found, value) = cell(at);
            if value == 0 || found == key {
                return value;
            }
            at += 1;
            if at == self.homes.capacity {
                at = 0;
            }
            if step.is_multiple_of(FAR) {
                self.leave(at);
            }
        }
        0
    }

    /// Takes the cells that a search has come through out of the process's memory: one that goes
    /// through all of a table must not have all of it there.
    #[cold]
    fn leave(&self, at: u64) {
        self.file.release(self.bytes_of(at.saturating_sub(FAR)..at));
    }
}

/// The cells of a table. (Closures would be calls: they lack the vector instructions of who calls.)
pub(super) trait Cells {
    /// Asks for a cell ahead.
    fn ask(&self, at: u64);

    /// The value that a search comes to.
    fn value(&self, entry: Entry) -> u32;
}

dispatch! {
    /// Puts the searches for minimizers in the order of where they begin, roughly.
    fn order(table: &Table, minimizers: &[u64], searches: &mut Searches) = order_body
}

#[inline(always)]
fn order_body(table: &Table, minimizers: &[u64], searches: &mut Searches) {
    let above = (64 - table.homes.capacity.leading_zeros()).saturating_sub(ORDER_BITS);
    let hashes = minimizers.iter().map(|&minimizer| hash(minimizer)).enumerate();
    let entry = |(number, hash): (usize, u64)| {
        let (at, key) = (table.homes.of(hash), hash >> (64 - table.key_bits));
        ((at >> above) as usize % PLACES, Entry { at, rest: key << NUMBER_BITS | number as u64 })
    };
    let looked_up = hashes.filter(|&(_, hash)| hash >= table.minimum_hash);
    distribute(looked_up.map(entry), &mut [0; PLACES], &mut searches.entries);
}

/// Makes all searches, each some steps after its cell was asked for.
#[inline(always)]
fn search(cells: &impl Cells, entries: &[Entry], taxa: &mut [u32]) {
    for (number, entry) in entries.iter().enumerate() {
        if let Some(later) = entries.get(number + AHEAD) {
            cells.ask(later.at);
        }
        taxa[entry.number()] = cells.value(*entry);
    }
}

dispatch! {
    /// [`search`] in cells of 32 bits.
    fn search_words(words: Words<'_>, entries: &[Entry], taxa: &mut [u32]) = search_words_body
}

#[inline(always)]
fn search_words_body(words: Words<'_>, entries: &[Entry], taxa: &mut [u32]) {
    search(&words, entries, taxa);
}

/// Cells of 32 bits.
pub(super) struct Words<'a> {
    pub(super) table: &'a Table,
    pub(super) cells: &'a [u32],
}

impl Cells for Words<'_> {
    #[inline(always)]
    fn ask(&self, at: u64) {
        prefetch(self.cells, at as usize);
        prefetch(self.cells, at as usize + TOGETHER - 1);
    }

    /// Most searches end within some cells: looked at all at once they need no branch that depends on
    /// where.
    #[inline(always)]
    fn value(&self, entry: Entry) -> u32 {
        let values = (1 << self.table.value_bits) - 1;
        let near = self.cells.get(entry.at as usize..).and_then(<[u32]>::first_chunk);
        if let Some(near) = near {
            let near: &[u32; TOGETHER] = near;
            let mut ends = 0u32;
            for (place, cell) in near.iter().map(|&cell| u32::from_le(cell)).enumerate() {
                let key = u64::from(cell >> self.table.value_bits);
                ends |= u32::from((cell & values == 0) | (key == entry.key())) << place;
            }
            if ends != 0 {
                let place = ends.trailing_zeros() as usize % TOGETHER;
                return u32::from_le(near[place]) & values;
            }
        }
        self.table.walk(entry, |at| self.table.parts(u32::from_le(self.cells[at as usize]), 0))
    }
}

/// Cells of any width.
pub(super) struct Bytes<'a> {
    pub(super) table: &'a Table,
    pub(super) cells: &'a [u8],
}

impl Bytes<'_> {
    fn first(&self, at: u64) -> usize {
        at as usize * self.table.cell_bytes
    }
}

impl Cells for Bytes<'_> {
    fn ask(&self, at: u64) {
        prefetch(self.cells, self.first(at));
    }

    fn value(&self, entry: Entry) -> u32 {
        self.table.walk(entry, |at| {
            let (mut cell, first) = ([0; 8], self.first(at));
            let width = self.table.cell_bytes;
            cell[..width].copy_from_slice(&self.cells[first..first + width]);
            let cell = u64::from_le_bytes(cell);
            self.table.parts(cell as u32, (cell >> 32) as u32)
        })
    }
}
