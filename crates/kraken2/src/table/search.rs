//! Look-up of minimizers: sorted so that nearby cells are read at nearly the same time, with prefetching.

use merganser_seq::dispatch;
use merganser_seq::simd::{Level, prefetch};
use merganser_store::distribute;

use super::{HEADER, Table, hash};
use crate::Error;

/// How many searches ahead a cell is prefetched: about twice as many as a core can have memory requests in
/// flight.
pub(super) const AHEAD: usize = 32;
/// The number of upper bits of a cell's position that searches are sorted by. Neither the table nor its page
/// tables fit in the caches, so nearby cells should be read at nearly the same time.
const ORDER_BITS: u32 = 8;
const PLACES: usize = 1 << ORDER_BITS;
/// Bits of a minimizer's number in an entry; the key has the other 40.
pub(super) const NUMBER_BITS: u32 = 24;
/// The maximum number of minimizers that are sorted and looked up together.
const MAX: usize = 1 << NUMBER_BITS;
/// Cells that are compared at once.
const TOGETHER: usize = 8;
/// Steps of a search after which it releases the cells behind it; a search this long means that the table is
/// practically full.
const FAR: u64 = 1 << 20;

/// A search to be performed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// The cell at which the search begins.
    pub(super) at: u64,
    /// The key in the upper bits, the number of the minimizer in the lower bits.
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

/// Searches in the order in which they are performed; kept to reuse its memory.
#[derive(Debug, Default)]
pub(in super::super) struct Searches {
    entries: Vec<Entry>,
}

impl Table {
    /// Replaces `taxa` with the taxon of each minimizer; 0 for minimizers that are not in the table.
    ///
    /// # Errors
    /// If a cell has a value that is not a node of the taxonomy.
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

    /// Goes from cell to cell until one has the key or is empty, and returns its value.
    #[inline(always)]
    fn walk(&self, entry: Entry, cell: impl Fn(u64) -> (u64, u32)) -> u32 {
        let (key, mut at) = (entry.key(), entry.at);
        // In a full table, the search ends where it began.
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

    /// Releases the memory of the cells that a search has visited: a search through a whole table must not keep
    /// all of it in memory.
    #[cold]
    fn leave(&self, at: u64) {
        self.file.release(self.bytes_of(at.saturating_sub(FAR)..at));
    }
}

/// The cells of a table. (A trait, because closures would not inherit the caller's SIMD target features.)
pub(super) trait Cells {
    /// Prefetches a cell.
    fn ask(&self, at: u64);

    /// Performs a search and returns the value that it finds.
    fn value(&self, entry: Entry) -> u32;
}

dispatch! {
    /// Sorts the searches for minimizers roughly by the cell at which they begin.
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

/// Performs all searches; a cell is prefetched several searches ahead.
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
    /// Performs [`search`] for cells of 32 bits.
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

    /// Most searches end within a few cells, so these are compared all at once, without a branch that depends
    /// on the cell.
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
