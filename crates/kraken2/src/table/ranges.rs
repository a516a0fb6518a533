//! Tables larger than memory: searches wait until the range of cells that they begin in has its turn.

use super::search::{AHEAD, Bytes, Cells, Entry, NUMBER_BITS, Words};
use super::{HEADER, Table, hash, unhash};
use merganser_seq::dispatch;
use merganser_seq::simd::Level;
use merganser_store::distribute;

/// Stretches of cells by which searches are put in order are this many at most; a range is some of
/// them.
const STRETCH_BITS: u32 = 14;
/// Bytes that the system reads from a disk around one that somebody looks at.
const AROUND: u64 = 128 << 10;

/// A table's ranges, each with the number of the first stretch behind it.
#[derive(Debug)]
pub(in super::super) struct Ranges {
    ends: Vec<u64>,
}

/// A search that waits, or what it came to.
#[derive(Clone, Copy, Debug, Default)]
struct Search {
    hash: u64,
    /// Of the minimizer among those that it was looked up with.
    number: u32,
    node: u32,
}

/// The searches for some minimizers, in the order of the table.
#[derive(Debug, Default)]
pub(in super::super) struct WaitingSearches {
    searches: Vec<Search>,
    /// Those that were made.
    done: usize,
    /// Minimizers, with those that are not looked up.
    minimizers: usize,
}

impl Ranges {
    /// How many there are.
    pub(in super::super) fn len(&self) -> usize {
        self.ends.len()
    }
}

impl WaitingSearches {
    /// How many there are.
    pub(in super::super) fn len(&self) -> usize {
        self.searches.len()
    }

    /// Bytes of memory that they take.
    pub(in super::super) fn bytes(&self) -> usize {
        self.searches.capacity() * size_of::<Search>()
    }

    /// Replaces `nodes` by the node of each minimizer, and `minimizers` by those that have one, 0 in
    /// the place of the others.
    pub(in super::super) fn found(&self, nodes: &mut Vec<u32>, minimizers: &mut Vec<u64>) {
        debug_assert_eq!(self.done, self.searches.len());
        nodes.clear();
        nodes.resize(self.minimizers, 0);
        minimizers.clear();
        minimizers.resize(self.minimizers, 0);
        for search in self.searches.iter().filter(|search| search.node != 0) {
            nodes[search.number as usize] = search.node;
            minimizers[search.number as usize] = unhash(search.hash);
        }
    }
}

impl Table {
    /// Cuts the table into ranges of about so many bytes.
    pub(in super::super) fn ranges(&self, bytes: u64) -> Ranges {
        let stretches = ((self.homes.capacity - 1) >> self.stretch_shift()) + 1;
        let stretch = (self.cell_bytes as u64) << self.stretch_shift();
        let each = (bytes / stretch).max(1);
        let ends = (1..=stretches.div_ceil(each)).map(|range| (range * each).min(stretches));
        Ranges { ends: ends.collect() }
    }

    /// The bits of a cell's number below those of its stretch.
    fn stretch_shift(&self) -> u32 {
        (64 - self.homes.capacity.leading_zeros()).saturating_sub(STRETCH_BITS)
    }

    /// The stretch in which the search for a hash begins.
    fn stretch(&self, hash: u64) -> u64 {
        self.homes.of(hash) >> self.stretch_shift()
    }

    /// Puts the searches for minimizers, at most 2³² of them, in order, roughly.
    pub(in super::super) fn wait(&self, minimizers: &[u64]) -> WaitingSearches {
        let hashes = minimizers.iter().map(|&minimizer| hash(minimizer)).enumerate();
        let looked_up = hashes.filter(|&(_, hash)| hash >= self.minimum_hash);
        let search = |(number, hash)| {
            (self.stretch(hash) as usize, Search { hash, number: number as u32, node: 0 })
        };
        let mut searches = Vec::new();
        distribute(looked_up.map(search), &mut vec![0; 1 << STRETCH_BITS], &mut searches);
        WaitingSearches { searches, done: 0, minimizers: minimizers.len() }
    }

    /// Makes the searches that begin in a range, after those of the ranges before it.
    ///
    /// # Errors
    /// If a cell has a value that is no node of the taxonomy.
    pub(in super::super) fn look_up_range(
        &self,
        ranges: &Ranges,
        range: usize,
        waiting: &mut WaitingSearches,
    ) -> Result<(), crate::Error> {
        let (end, rest) = (ranges.ends[range], &mut waiting.searches[waiting.done..]);
        let count = rest.partition_point(|search| self.stretch(search.hash) < end);
        let searches = &mut rest[..count];
        waiting.done += count;
        let cells = &self.file.bytes()[HEADER..];
        match bytemuck::try_cast_slice::<u8, u32>(cells) {
            Ok(cells) if self.cell_bytes == 4 => {
                search_words(Level::best(), self, Words { table: self, cells }, searches);
            }
            _ => search_body(self, &Bytes { table: self, cells }, searches),
        }
        self.check_value(searches.iter().map(|search| search.node).max().unwrap_or(0))
    }

    /// Has the system read a range ahead where `searches` in the whole table look at most of it anyway.
    pub(in super::super) fn read_ahead(&self, ranges: &Ranges, range: usize, searches: u64) {
        if range < ranges.len() && searches >= self.bytes() / AROUND {
            let start = if range == 0 { 0 } else { self.end_of(ranges, range - 1) };
            self.file.read_ahead(self.bytes_of(start..self.end_of(ranges, range)));
        }
    }

    /// Takes the cells up to the end of a range out of the process's memory.
    pub(in super::super) fn release(&self, ranges: &Ranges, range: usize) {
        let last = range + 1 == ranges.len();
        // Searches of the last range may go on from the first cell, others behind their range.
        let end = if last { self.homes.capacity } else { self.end_of(ranges, range) };
        self.file.release(self.bytes_of(0..end));
    }

    /// The cell behind a range.
    fn end_of(&self, ranges: &Ranges, range: usize) -> u64 {
        (ranges.ends[range] << self.stretch_shift()).min(self.homes.capacity)
    }
}

dispatch! {
    /// [`search_body`] in cells of 32 bits.
    fn search_words(table: &Table, words: Words<'_>, searches: &mut [Search]) = search_words_body
}

#[inline(always)]
fn search_words_body(table: &Table, words: Words<'_>, searches: &mut [Search]) {
    search_body(table, &words, searches);
}

/// Makes all searches, each some steps after its cell was asked for.
#[inline(always)]
fn search_body(table: &Table, cells: &impl Cells, searches: &mut [Search]) {
    for at in 0..searches.len() {
        if let Some(later) = searches.get(at + AHEAD) {
            cells.ask(table.homes.of(later.hash));
        }
        let hash = searches[at].hash;
        let rest = (hash >> (64 - table.key_bits)) << NUMBER_BITS;
        searches[at].node = cells.value(Entry { at: table.homes.of(hash), rest });
    }
}
