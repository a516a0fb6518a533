//! Look-up of minimizers, with prefetching.

use merganser_seq::dispatch;
use merganser_seq::simd::{Level, prefetch};

use super::{HEADER, Table, hash};
use crate::Error;

/// How many searches ahead a cell is prefetched: about twice as many as a core can have memory requests in
/// flight.
pub(super) const AHEAD: usize = 32;
/// The number of minimizers whose searches are prepared together: few enough for the first-level cache.
const PREPARED: usize = 1024;
/// Cells that are compared at once.
const TOGETHER: usize = 8;
/// Steps of a search after which it releases the cells behind it; a search this long means that the table is
/// practically full.
const FAR: u64 = 1 << 20;

/// A search to be performed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    /// The cell at which the search begins.
    at: u64,
    /// The key to find: at most 32 bits.
    key: u32,
    /// The number of the minimizer.
    number: u32,
}

impl Table {
    /// Replaces `taxa` with the taxon of each minimizer; 0 for minimizers that are not in the table.
    ///
    /// # Errors
    /// If a cell has a value that is not a node of the taxonomy.
    pub(in super::super) fn look_up(
        &self,
        minimizers: &[u64],
        taxa: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let cells = &self.file.bytes()[HEADER..];
        taxa.clear();
        taxa.resize(minimizers.len(), 0);
        match bytemuck::try_cast_slice::<u8, u32>(cells) {
            Ok(cells) if self.cell_bytes == 4 => {
                search_words(
                    Level::best(),
                    Words { table: self, cells, first: 0 },
                    minimizers,
                    taxa,
                );
            }
            _ => search(self, &Bytes { table: self, cells, first: 0 }, minimizers, taxa),
        }
        self.check_value(taxa.iter().copied().max().unwrap_or(0))
    }

    /// Whether minimizers with this hash are looked up. In cells of 40 bits with long keys, Kraken 2 never finds a key of
    /// more than 32 bits.
    #[inline(always)]
    pub(super) fn is_looked_up(&self, hash: u64) -> bool {
        hash >= self.minimum_hash && hash >> (64 - self.key_bits) <= u64::from(u32::MAX)
    }

    /// Returns the search for a minimizer with this hash and number.
    #[inline(always)]
    pub(super) fn search_for(&self, hash: u64, number: u32) -> Search {
        Search { at: self.homes.of(hash), key: (hash >> (64 - self.key_bits)) as u32, number }
    }

    /// Goes from cell to cell until one has the key or is empty, and returns its value.
    #[inline(always)]
    fn walk(&self, search: Search, cell: impl Fn(u64) -> (u32, u32)) -> u32 {
        let (key, mut at) = (search.key, search.at);
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
    fn value(&self, search: Search) -> u32;
}

/// Performs the searches for minimizers; a cell is prefetched several searches ahead.
///
/// The order is that of the minimizers: sorting the searches by cell, so that pages are accessed in order, takes more
/// time than it saves.
#[inline(always)]
fn search(table: &Table, cells: &impl Cells, minimizers: &[u64], taxa: &mut [u32]) {
    let mut searches = [Search::default(); PREPARED];
    for (minimizers, taxa) in minimizers.chunks(PREPARED).zip(taxa.chunks_mut(PREPARED)) {
        let mut count = 0;
        for (number, &minimizer) in minimizers.iter().enumerate() {
            let hash = hash(minimizer);
            searches[count] = table.search_for(hash, number as u32);
            count += usize::from(table.is_looked_up(hash));
        }
        let searches = &searches[..count];
        for (at, search) in searches.iter().enumerate() {
            if let Some(later) = searches.get(at + AHEAD) {
                cells.ask(later.at);
            }
            taxa[search.number as usize] = cells.value(*search);
        }
    }
}

dispatch! {
    /// Performs [`search`] for cells of 32 bits.
    fn search_words(words: Words<'_>, minimizers: &[u64], taxa: &mut [u32]) = search_words_body
}

#[inline(always)]
fn search_words_body(words: Words<'_>, minimizers: &[u64], taxa: &mut [u32]) {
    search(words.table, &words, minimizers, taxa);
}

/// The value of a search that leaves the cells that are there.
pub(crate) const UNFINISHED: u32 = u32::MAX;

/// Cells of 32 bits.
pub(super) struct Words<'a> {
    pub(super) table: &'a Table,
    pub(super) cells: &'a [u32],
    /// The number of the first cell.
    pub(super) first: u64,
}

impl Cells for Words<'_> {
    #[inline(always)]
    fn ask(&self, at: u64) {
        let at = at.wrapping_sub(self.first) as usize;
        prefetch(self.cells, at);
        prefetch(self.cells, at.wrapping_add(TOGETHER - 1));
    }

    /// Most searches end within a few cells, so these are compared all at once, without a branch that depends
    /// on the cell.
    #[inline(always)]
    fn value(&self, search: Search) -> u32 {
        let values = (1 << self.table.value_bits) - 1;
        let at = search.at.wrapping_sub(self.first) as usize;
        let near = self.cells.get(at..).and_then(<[u32]>::first_chunk);
        if let Some(near) = near {
            let near: &[u32; TOGETHER] = near;
            let mut ends = 0u32;
            for (place, cell) in near.iter().map(|&cell| u32::from_le(cell)).enumerate() {
                let key = cell >> self.table.value_bits;
                ends |= u32::from((cell & values == 0) | (key == search.key)) << place;
            }
            if ends != 0 {
                let place = ends.trailing_zeros() as usize % TOGETHER;
                return u32::from_le(near[place]) & values;
            }
        }
        self.table.walk(search, |at| match self.cells.get(at.wrapping_sub(self.first) as usize) {
            Some(&cell) => self.table.parts(u32::from_le(cell), 0),
            None => (search.key, UNFINISHED),
        })
    }
}

/// Cells of any width.
pub(super) struct Bytes<'a> {
    pub(super) table: &'a Table,
    pub(super) cells: &'a [u8],
    /// The number of the first cell.
    pub(super) first: u64,
}

impl Bytes<'_> {
    /// Returns the offset of a cell.
    fn offset(&self, at: u64) -> usize {
        (at.wrapping_sub(self.first) as usize).wrapping_mul(self.table.cell_bytes)
    }
}

impl Cells for Bytes<'_> {
    fn ask(&self, at: u64) {
        prefetch(self.cells, self.offset(at));
    }

    fn value(&self, search: Search) -> u32 {
        self.table.walk(search, |at| {
            let (mut cell, width) = ([0; 8], self.table.cell_bytes);
            let bytes = self.cells.get(self.offset(at)..).and_then(|rest| rest.get(..width));
            let Some(bytes) = bytes else { return (search.key, UNFINISHED) };
            cell[..width].copy_from_slice(bytes);
            let cell = u64::from_le_bytes(cell);
            self.table.parts(cell as u32, (cell >> 32) as u32)
        })
    }
}
