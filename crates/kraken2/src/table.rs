//! The Kraken table hash.k2d, which maps minimizers to taxa.

mod ranges;
mod search;

pub(crate) use ranges::WaitingSearch;
pub(super) use ranges::{Ranges, WaitingSearches};

use std::path::Path;

use merganser_io::MappedFile;
use merganser_run::{Cancel, Context, each};

use crate::Error;
use merganser_seq::hash::murmur_finalizer;
use merganser_store::ByteReader;

/// The size of the header in bytes.
const HEADER: usize = 32;
/// The number of cells that a thread verifies at a time.
const VERIFIED_CELLS: usize = 1 << 20;
/// The maximum number of threads that count values.
const COUNTING_THREADS: usize = 4;

/// Returns the hash of a minimizer: MurmurHash3's 64-bit finalizer.
#[inline(always)]
pub(super) fn hash(minimizer: u64) -> u64 {
    murmur_finalizer(minimizer)
}

/// Returns the minimizer with this hash: undoes the steps of [`hash`] in reverse order.
pub(super) fn unhash(hash: u64) -> u64 {
    let x = (hash ^ (hash >> 33)).wrapping_mul(0x9cb4_b2f8_1293_37db);
    let x = (x ^ (x >> 33)).wrapping_mul(0x4f74_430c_22a5_4005);
    x ^ (x >> 33)
}

/// A memory-mapped compact hash table of Kraken 2. A cell has a key (the upper bits of a hash) and a value
/// (a node of the taxonomy; 0 in empty cells). A search begins at the cell with the number hash mod cells and
/// continues cell by cell.
#[derive(Debug)]
pub(crate) struct Table {
    file: MappedFile,
    homes: Homes,
    /// The number of cells in use, as stated in the header.
    filled: u64,
    key_bits: u32,
    value_bits: u32,
    /// The size of a cell in bytes: 4, or 5 in tables of 40 bits per cell.
    cell_bytes: usize,
    minimum_hash: u64,
    /// Values must be less than this.
    nodes: u32,
}

/// Computes the cell at which the search for a hash begins: the hash modulo the number of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Homes {
    /// The number of cells of the table, at least 1.
    pub(super) capacity: u64,
    /// ⌊(2⁶⁴ − 1) / capacity⌋.
    reciprocal: u64,
}

impl Homes {
    pub(super) fn new(capacity: u64) -> Homes {
        Homes { capacity, reciprocal: u64::MAX / capacity }
    }

    #[inline(always)]
    pub(super) fn of(self, hash: u64) -> u64 {
        // The exact quotient, or one less.
        let quotient = ((u128::from(hash) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = hash - quotient * self.capacity;
        if rest >= self.capacity { rest - self.capacity } else { rest }
    }
}

/// Returns the header of a table with cells of 32 bits: the number of cells, the number in use, and the bits
/// of keys and of values.
pub(super) fn header(capacity: u64, size: u64, value_bits: u32) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let fields = [capacity, size, u64::from(32 - value_bits), u64::from(value_bits)];
    for (bytes, field) in header.chunks_exact_mut(8).zip(fields) {
        bytes.copy_from_slice(&field.to_le_bytes());
    }
    header
}

/// The cells of a table as in the file, and their layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableCells<'t> {
    pub(crate) bytes: &'t [u8],
    /// The number of cells.
    pub(crate) capacity: u64,
    /// The value ⌊(2⁶⁴ − 1) / capacity⌋.
    pub(crate) reciprocal: u64,
    pub(crate) key_bits: u32,
    pub(crate) value_bits: u32,
    /// The size of a cell in bytes: 4 or 5.
    pub(crate) cell_bytes: u32,
    /// Values must be less than this.
    pub(crate) nodes: u32,
}

impl Table {
    /// Maps hash.k2d. Minimizers with a hash below `minimum_hash` are not looked up; values are nodes of a
    /// taxonomy with `nodes` nodes.
    ///
    /// # Errors
    /// If the file cannot be mapped, or if its header is inconsistent or does not match its length.
    pub(super) fn open(path: &Path, minimum_hash: u64, nodes: u32) -> Result<Table, Error> {
        let file = merganser_io::open_file(path).and_then(|file| MappedFile::of_file(&file, path));
        let file = file.map_err(|source| Error::File { path: path.to_owned(), source })?;
        let wrong = |reason: String| Error::content(path, reason);
        let mut fields = ByteReader(file.bytes());
        let header = (fields.u64(), fields.u64(), fields.u64(), fields.u64());
        let (Some(capacity), Some(size), Some(key_bits), Some(value_bits)) = header else {
            return Err(wrong("it ends within its header: damaged".to_owned()));
        };
        let cell_bytes = match key_bits.checked_add(value_bits) {
            Some(32) => 4,
            Some(40) => 5,
            _ => 0,
        };
        if cell_bytes == 0 || key_bits == 0 || !(1..32).contains(&value_bits) {
            return Err(wrong(format!(
                "cells of {key_bits} and {value_bits} bits, not 32 or 40 together: damaged, or of a \
                 newer version"
            )));
        }
        let cells = capacity.checked_mul(cell_bytes);
        if capacity == 0 || cells != Some((file.bytes().len() - HEADER) as u64) || size > capacity {
            return Err(wrong(format!(
                "{} bytes, but the header states {capacity} cells of {cell_bytes} bytes, {size} of them in \
                 use: damaged or cut short",
                file.bytes().len()
            )));
        }
        Ok(Table {
            file,
            homes: Homes::new(capacity),
            filled: size,
            key_bits: key_bits as u32,
            value_bits: value_bits as u32,
            cell_bytes: cell_bytes as usize,
            minimum_hash,
            nodes,
        })
    }

    /// Returns the CRC-32 of the file.
    ///
    /// # Errors
    /// If the file cannot be read; if cancelled.
    pub(super) fn checksum(&self, cancel: &Cancel) -> Result<u32, Error> {
        self.file.checksum(cancel)
    }

    /// Prepares for look-ups of the minimizers of `text` bytes of reads; see
    /// [`MappedFile::prepare_for_random_accesses`].
    pub(super) fn prepare_for_random_accesses(&self, text: Option<u64>, context: &Context) {
        self.file.prepare_for_random_accesses(text, context);
    }

    /// Returns the size of the file in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.file.bytes().len() as u64
    }

    /// Whether the file is stored only in memory, as on tmpfs.
    pub(super) fn is_in_memory(&self) -> bool {
        self.file.is_in_memory()
    }

    /// Returns the hash below which minimizers are not looked up.
    pub(super) fn minimum_hash(&self) -> u64 {
        self.minimum_hash
    }

    /// Sets the hash below which minimizers are not looked up.
    pub(super) fn set_minimum_hash(&mut self, minimum_hash: u64) {
        self.minimum_hash = minimum_hash;
    }

    /// Returns the number of cells.
    pub(super) fn cells(&self) -> u64 {
        self.homes.capacity
    }

    /// Returns the number of cells in use, as stated in the header.
    pub(super) fn filled(&self) -> u64 {
        self.filled
    }

    /// Checks all cells: as many must be in use as the header states, and their values must be nodes.
    ///
    /// # Errors
    /// If a check fails, or [`Error::Cancelled`].
    pub(super) fn verify(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        let stretches = self.file.bytes()[HEADER..].chunks(VERIFIED_CELLS * self.cell_bytes);
        let stretches: Vec<&[u8]> = stretches.collect();
        let filled = each(threads, 0..stretches.len(), cancel, |numbers| {
            let mut filled = 0;
            for cells in numbers.map(|number| stretches[number]) {
                let values = cells.chunks_exact(self.cell_bytes).map(|cell| self.value(cell));
                let mut most = 0;
                for value in values {
                    filled += u64::from(value != 0);
                    most = most.max(value);
                }
                self.check_value(most)?;
            }
            Ok::<u64, Error>(filled)
        })?;
        match filled.into_iter().sum::<u64>() {
            filled if filled == self.filled => Ok(()),
            filled => Err(Error::content(
                self.file.path(),
                format!("{filled} cells are in use, not {} as stated: damaged", self.filled),
            )),
        }
    }

    /// Returns the number of cells with each value, as stated by the cells; those of 0 are empty.
    ///
    /// # Errors
    /// If a value is not a node, or [`Error::Cancelled`].
    pub(super) fn count_values(&self, threads: usize, cancel: &Cancel) -> Result<Vec<u64>, Error> {
        let stretches = self.file.bytes()[HEADER..].chunks(VERIFIED_CELLS * self.cell_bytes);
        let stretches: Vec<&[u8]> = stretches.collect();
        // Each thread has counts of its own, and memory is the bottleneck.
        let threads = threads.min(COUNTING_THREADS);
        let counts = each(threads, 0..stretches.len(), cancel, |numbers| {
            let mut counts = vec![0u64; self.nodes as usize];
            for cells in numbers.map(|number| stretches[number]) {
                for value in cells.chunks_exact(self.cell_bytes).map(|cell| self.value(cell)) {
                    match counts.get_mut(value as usize) {
                        Some(count) => *count += 1,
                        None => self.check_value(value)?,
                    }
                }
            }
            Ok::<Vec<u64>, Error>(counts)
        })?;
        let mut sums = vec![0; self.nodes as usize];
        for counts in counts {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        Ok(sums)
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Checks that no cell has one of these values, which must be sorted.
    ///
    /// # Errors
    /// If a cell has one of the values; the error names the first.
    pub(super) fn refuse_values(&self, values: &[u32]) -> Result<(), Error> {
        for cells in self.file.bytes()[HEADER..].chunks(VERIFIED_CELLS * self.cell_bytes) {
            let found = cells.chunks_exact(self.cell_bytes).map(|cell| self.value(cell));
            if let Some(value) = found.into_iter().find(|value| values.binary_search(value).is_ok())
            {
                let reason = format!(
                    "a cell has taxon {value}, which the root of taxo.k2d does not reach: damaged, or of \
                     another database"
                );
                return Err(Error::content(self.file.path(), reason));
            }
            self.file.release(cells);
        }
        Ok(())
    }

    /// Returns the value of a cell.
    fn value(&self, cell: &[u8]) -> u32 {
        let low = cell.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        self.parts(low, 0).1
    }

    /// Reads some of the bytes of [`all_cells`](Self::all_cells) to `to` from the file: see [`MappedFile::read`].
    ///
    /// # Errors
    /// If the file cannot be read, or became shorter.
    pub(crate) fn read(&self, cells: &[u8], to: &mut [u8]) -> Result<(), Error> {
        Ok(self.file.read(cells, to)?)
    }

    /// Returns all cells with their layout.
    pub(crate) fn all_cells(&self) -> TableCells<'_> {
        TableCells {
            bytes: &self.file.bytes()[HEADER..],
            capacity: self.homes.capacity,
            reciprocal: self.homes.reciprocal,
            key_bits: self.key_bits,
            value_bits: self.value_bits,
            cell_bytes: self.cell_bytes as u32,
            nodes: self.nodes,
        }
    }

    /// Checks that the largest value of some cells is a node.
    pub(super) fn check_value(&self, most: u32) -> Result<(), Error> {
        if most < self.nodes {
            return Ok(());
        }
        let nodes = self.nodes;
        let reason = format!(
            "a cell has taxon {most}, and taxo.k2d has {nodes}: damaged, or of another database"
        );
        Err(Error::content(self.file.path(), reason))
    }

    /// Returns the key and the value of a cell, given its first 32 bits and the other 8. In a cell of 40 bits,
    /// the part of the key that does not fit into 32 bits is dropped, as in Kraken 2.
    #[inline(always)]
    fn parts(&self, low: u32, high: u32) -> (u32, u32) {
        let key = low >> self.value_bits | high << (32 - self.value_bits);
        (key, low & ((1 << self.value_bits) - 1))
    }

    /// Returns the bytes of a range of cells.
    pub(crate) fn bytes_of(&self, cells: std::ops::Range<u64>) -> &[u8] {
        let [start, end] = [cells.start, cells.end].map(|at| at as usize * self.cell_bytes);
        &self.file.bytes()[HEADER + start..HEADER + end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn open(header: [u64; 4], cells: &[u8]) -> Result<Table, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hash.k2d");
        let header = header.map(u64::to_le_bytes).concat();
        std::fs::write(&path, [&header, cells].concat()).unwrap();
        Table::open(&path, 0, 100)
    }

    /// A table that is filled and searched by the definition.
    struct Naive {
        cells: Vec<(u64, u32)>,
        key_bits: u32,
    }

    impl Naive {
        fn place(&self, minimizer: u64) -> Option<usize> {
            let hash = hash(minimizer);
            let key = hash >> (64 - self.key_bits);
            let len = self.cells.len();
            let places = (0..len).map(|step| ((hash % len as u64) as usize + step) % len);
            let found = |&at: &usize| self.cells[at].1 == 0 || self.cells[at].0 == key;
            places.clone().find(found)
        }

        fn insert(&mut self, minimizer: u64, value: u32) {
            if let Some(at) = self.place(minimizer) {
                self.cells[at] = (hash(minimizer) >> (64 - self.key_bits), value);
            }
        }

        fn bytes(&self) -> Vec<u8> {
            let value_bits =
                if self.key_bits < 25 { 32 - self.key_bits } else { 40 - self.key_bits };
            let size = (self.key_bits + value_bits) as usize / 8;
            let cell =
                |&(key, value): &(u64, u32)| (key << value_bits | u64::from(value)).to_le_bytes();
            self.cells.iter().flat_map(|one| cell(one).into_iter().take(size)).collect()
        }
    }

    proptest! {
        #[test]
        fn searches_are_those_of_the_description(
            capacity in 1usize..80,
            wide: bool,
            stored in proptest::collection::vec((any::<u64>(), 1u32..100), 0..100),
            others in proptest::collection::vec(any::<u64>(), 0..100),
        ) {
            let key_bits = if wide { 32 } else { 24 };
            let mut naive = Naive { cells: vec![(0, 0); capacity], key_bits };
            stored.iter().for_each(|&(minimizer, value)| naive.insert(minimizer, value));
            let size = naive.cells.iter().filter(|cell| cell.1 > 0).count() as u64;
            let table = open([capacity as u64, size, u64::from(key_bits), 8], &naive.bytes()).unwrap();
            let mut queries = others;
            queries.extend(stored.iter().map(|one| one.0));
            let mut taxa = vec![77];
            table.look_up(&queries, &mut taxa).unwrap();
            let expected: Vec<u32> = queries.iter().map(|&minimizer| {
                naive.place(minimizer).map_or(0, |at| naive.cells[at].1)
            }).collect();
            prop_assert_eq!(taxa, expected);
        }

        #[test]
        fn hashes_are_undone(minimizer: u64) {
            prop_assert_eq!(unhash(hash(minimizer)), minimizer);
        }

        #[test]
        fn the_place_is_the_remainder(capacity in 1u64.., minimizer: u64) {
            prop_assert_eq!(Homes::new(capacity).of(minimizer), minimizer % capacity);
        }
    }

    #[test]
    fn hashes_below_the_minimum_are_not_looked_up() {
        let mut naive = Naive { cells: vec![(0, 0); 64], key_bits: 24 };
        (0..20).for_each(|minimizer| naive.insert(minimizer, 5));
        let mut table = open([64, 20, 24, 8], &naive.bytes()).unwrap();
        table.minimum_hash = hash(7);
        let mut taxa = Vec::new();
        table.look_up(&Vec::from_iter(0..20), &mut taxa).unwrap();
        let expected: Vec<u32> =
            (0..20).map(|one| if hash(one) < hash(7) { 0 } else { 5 }).collect();
        assert_eq!(taxa, expected);
        assert!(expected.contains(&0));
    }

    #[test]
    fn damage_is_named() {
        let message = |header, cells: &[u8]| {
            let message = open(header, cells).unwrap_err().to_string();
            message.split_once("hash.k2d: ").unwrap().1.to_owned()
        };
        assert!(message([1, 0, 24, 9], &[0; 4]).starts_with("cells of 24 and 9 bits"));
        assert!(message([1, 0, 32, 0], &[0; 4]).starts_with("cells of 32 and 0 bits"));
        assert!(
            message([1, 0, u64::MAX, 33], &[0; 4]).starts_with("cells of 18446744073709551615")
        );
        assert!(message([2, 0, 24, 8], &[0; 4]).starts_with("36 bytes, but the header states 2"));
        assert!(message([1, 2, 24, 8], &[0; 4]).starts_with("36 bytes, but the header states 1"));
        assert!(message([0, 0, 24, 8], &[]).starts_with("32 bytes, but the header states 0"));
        assert!(message([1 << 62, 0, 24, 8], &[]).starts_with("32 bytes"));
        let table = open([1, 1, 24, 8], &[200, 0, 0, 0]).unwrap();
        let mut taxa = Vec::new();
        let minimizer = (0..).find(|&one| hash(one) >> 40 == 0).unwrap();
        let error = table.look_up(&[minimizer], &mut taxa).unwrap_err().to_string();
        assert!(error.contains("a cell has taxon 200, and taxo.k2d has 100"), "{error}");
    }
}
