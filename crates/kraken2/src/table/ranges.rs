//! Searches in tables larger than memory: each waits until the range of cells in which it begins is in memory.

use std::ops::Range;

use super::search::{AHEAD, Bytes, Cells, UNFINISHED, Words};
use super::{HEADER, Table, hash, unhash};
use merganser_seq::dispatch;
use merganser_seq::simd::Level;
use merganser_store::distribute;

/// Searches are sorted by the stretch of cells in which they begin. There are at most 2^`STRETCH_BITS`
/// stretches, and a range consists of several.
const STRETCH_BITS: u32 = 14;

/// The ranges of a table.
#[derive(Debug)]
pub(in super::super) struct Ranges {
    /// The number of the first stretch after each range.
    ends: Vec<u64>,
}

/// A search that waits, or its result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WaitingSearch {
    pub(crate) hash: u64,
    /// The index of the minimizer among those that are looked up together.
    number: u32,
    pub(crate) node: u32,
}

/// The searches for some minimizers, in the order of the table.
#[derive(Debug, Default)]
pub(in super::super) struct WaitingSearches {
    searches: Vec<WaitingSearch>,
    /// The number of searches that are done.
    done: usize,
    /// The number of minimizers, including those that are not looked up.
    minimizers: usize,
}

impl Ranges {
    /// Returns the number of ranges.
    pub(in super::super) fn len(&self) -> usize {
        self.ends.len()
    }
}

impl WaitingSearches {
    /// Returns the number of searches.
    pub(in super::super) fn len(&self) -> usize {
        self.searches.len()
    }

    /// Returns the memory of the searches in bytes.
    pub(in super::super) fn bytes(&self) -> usize {
        self.searches.capacity() * size_of::<WaitingSearch>()
    }

    /// Replaces `nodes` with the node of each minimizer, and `minimizers` with the minimizers that have a
    /// node; those without are 0 in both.
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

impl WaitingSearches {
    /// Returns the number of minimizers, including those that are not looked up.
    pub(in super::super) fn minimizers(&self) -> usize {
        self.minimizers
    }

    /// Calls `found` with the number of each minimizer that was found.
    pub(in super::super) fn each_found(&self, mut found: impl FnMut(usize)) {
        let with = self.searches.iter().filter(|search| search.node != 0);
        with.for_each(|search| found(search.number as usize));
    }
}

impl Table {
    /// Divides the table into ranges of about `bytes` bytes.
    pub(in super::super) fn ranges(&self, bytes: u64) -> Ranges {
        let stretches = ((self.homes.capacity - 1) >> self.stretch_shift()) + 1;
        let stretch = self.stretch_bytes();
        let each = (bytes / stretch).max(1);
        let ends = (1..=stretches.div_ceil(each)).map(|range| (range * each).min(stretches));
        Ranges { ends: ends.collect() }
    }

    /// Returns the size of a stretch in bytes: a range has at least one.
    pub(in super::super) fn stretch_bytes(&self) -> u64 {
        (self.cell_bytes as u64) << self.stretch_shift()
    }

    /// Returns the number of lower bits of a cell's number that do not select its stretch.
    fn stretch_shift(&self) -> u32 {
        (64 - self.homes.capacity.leading_zeros()).saturating_sub(STRETCH_BITS)
    }

    /// Returns the stretch in which the search for a hash begins.
    fn stretch(&self, hash: u64) -> u64 {
        self.homes.of(hash) >> self.stretch_shift()
    }

    /// Sorts the searches for minimizers, at most 2³², by stretch; they wait for the ranges of the table.
    pub(in super::super) fn wait(&self, minimizers: &[u64]) -> WaitingSearches {
        let hashes = minimizers.iter().map(|&minimizer| hash(minimizer)).enumerate();
        let looked_up = hashes.filter(|&(_, hash)| self.is_looked_up(hash));
        let search = |(number, hash)| {
            (self.stretch(hash) as usize, WaitingSearch { hash, number: number as u32, node: 0 })
        };
        let mut searches = Vec::new();
        distribute(looked_up.map(search), &mut vec![0; 1 << STRETCH_BITS], &mut searches);
        WaitingSearches { searches, done: 0, minimizers: minimizers.len() }
    }

    /// Takes the searches that begin in a range, to be performed. The ranges must be processed in order.
    pub(in super::super) fn take_searches<'w>(
        &self,
        ranges: &Ranges,
        range: usize,
        waiting: &'w mut WaitingSearches,
    ) -> &'w mut [WaitingSearch] {
        let (end, rest) = (ranges.ends[range], &mut waiting.searches[waiting.done..]);
        let count = rest.partition_point(|search| self.stretch(search.hash) < end);
        waiting.done += count;
        &mut rest[..count]
    }

    /// Performs searches in the file.
    ///
    /// # Errors
    /// If a cell has a value that is not a node of the taxonomy.
    pub(crate) fn perform(&self, searches: &mut [WaitingSearch]) -> Result<(), crate::Error> {
        self.search(&self.file.bytes()[HEADER..], 0, searches);
        self.check_found(searches)
    }

    /// Performs searches in the bytes of consecutive cells, of which the first has the number `first`. Those that leave
    /// the cells continue in the file.
    ///
    /// # Errors
    /// If a cell has a value that is not a node of the taxonomy.
    pub(crate) fn perform_in(
        &self,
        cells: &[u8],
        first: u64,
        searches: &mut [WaitingSearch],
    ) -> Result<(), crate::Error> {
        self.search(cells, first, searches);
        self.complete(searches)
    }

    /// Continues the [`UNFINISHED`] searches in the file, and checks the values that all have found.
    ///
    /// # Errors
    /// If a value is not a node of the taxonomy.
    pub(crate) fn complete(&self, searches: &mut [WaitingSearch]) -> Result<(), crate::Error> {
        let unfinished = searches.iter_mut().filter(|search| search.node == UNFINISHED);
        unfinished.map(std::slice::from_mut).try_for_each(|one| self.perform(one))?;
        self.check_found(searches)
    }

    fn check_found(&self, searches: &[WaitingSearch]) -> Result<(), crate::Error> {
        self.check_value(searches.iter().map(|search| search.node).max().unwrap_or(0))
    }

    fn search(&self, cells: &[u8], first: u64, searches: &mut [WaitingSearch]) {
        let table = self;
        match bytemuck::try_cast_slice::<u8, u32>(cells) {
            Ok(cells) if self.cell_bytes == 4 => {
                search_words(Level::best(), self, Words { table, cells, first }, searches);
            }
            _ => search_body(self, &Bytes { table, cells, first }, searches),
        }
    }

    /// Returns the cells of a range.
    pub(in super::super) fn cells_of(&self, ranges: &Ranges, range: usize) -> Range<u64> {
        let start = if range == 0 { 0 } else { self.end_of(ranges, range - 1) };
        start..self.end_of(ranges, range)
    }

    /// Whether this number of searches accesses most of the table, since the system reads `around` bytes around each from
    /// the disk.
    pub(in super::super) fn is_read_by(&self, searches: u64, around: u64) -> bool {
        searches.saturating_mul(around) >= self.bytes()
    }

    /// Releases the memory of the cells up to the end of a range.
    pub(in super::super) fn release(&self, ranges: &Ranges, range: usize) {
        let last = range + 1 == ranges.len();
        // Searches of the last range may continue at the first cell, others in the range after theirs.
        let end = if last { self.homes.capacity } else { self.end_of(ranges, range) };
        self.file.release(self.bytes_of(0..end));
    }

    /// Returns the number of the first cell after a range.
    fn end_of(&self, ranges: &Ranges, range: usize) -> u64 {
        (ranges.ends[range] << self.stretch_shift()).min(self.homes.capacity)
    }
}

dispatch! {
    /// Performs [`search_body`] for cells of 32 bits.
    fn search_words(table: &Table, words: Words<'_>, searches: &mut [WaitingSearch]) = search_words_body
}

#[inline(always)]
fn search_words_body(table: &Table, words: Words<'_>, searches: &mut [WaitingSearch]) {
    search_body(table, &words, searches);
}

/// Performs all searches; a cell is prefetched several searches ahead.
#[inline(always)]
fn search_body(table: &Table, cells: &impl Cells, searches: &mut [WaitingSearch]) {
    for at in 0..searches.len() {
        if let Some(later) = searches.get(at + AHEAD) {
            cells.ask(table.homes.of(later.hash));
        }
        searches[at].node = cells.value(table.search_for(searches[at].hash, 0));
    }
}
