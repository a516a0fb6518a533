//! Reads `.mgk` tables.

use std::fs::File;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use merganser_seq::kmer::Kmer;

use super::block::{self, Coded};
use super::header::{self, HISTOGRAM_ROW, Header};
use super::index::{Entry, entry_bytes, key};
use crate::{Error, Histogram};

/// The number of bytes of blocks that a scan reads at a time.
const SCAN_BYTES: u64 = 1 << 20;

/// An open table. Its index is in memory (about 0.1 bytes per k-mer); blocks are read when needed, and each is
/// verified by its checksum.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    header: Header,
    index: Vec<u8>,
    sections: Vec<u64>,
    histogram: Histogram,
}

impl Table {
    /// Opens a table and checks its header and index.
    ///
    /// # Errors
    /// If the file cannot be read, is not a table, is truncated or damaged, or has a newer format.
    pub fn open(path: impl AsRef<Path>) -> Result<Table, Error> {
        let path = path.as_ref();
        let file = merganser_io::open_file(path);
        Table::of_file(file.map_err(|source| Error::File { path: path.to_owned(), source })?, path)
    }

    /// Opens the table once more; its file may have been unlinked.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does.
    pub(crate) fn reopen(&self) -> Result<Table, Error> {
        let file = self.file.try_clone();
        let failed = |source| Error::File { path: self.path.clone(), source };
        Table::of_file(file.map_err(failed)?, &self.path)
    }

    /// Opens the table in an open file; error messages name it `path`.
    pub(crate) fn of_file(file: File, path: &Path) -> Result<Table, Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let bad = |reason: String| Error::Table { path: path.to_owned(), reason };
        let metadata = file.metadata().map_err(at)?;
        if metadata.is_dir() {
            return Err(bad("is a directory, not a table".into()));
        }
        let mut start = vec![0; (metadata.len() as usize).min(header::BYTES)];
        file.read_exact_at(&mut start, 0).map_err(at)?;
        let header = Header::from_bytes(&start).map_err(bad)?;
        header::FORMAT.check_length(metadata.len(), header.file_bytes).map_err(bad)?;
        let mut index = vec![0; (header.file_bytes - header.index_offset) as usize];
        file.read_exact_at(&mut index, header.index_offset).map_err(at)?;
        if crc32fast::hash(&index) != header.index_crc {
            return Err(bad("the index is damaged (checksum): count again".into()));
        }
        let mut sections = index.split_off((header.sections_offset - header.index_offset) as usize);
        let rows = sections.split_off(8 * ((1 << header.section_bits) + 1));
        let sections: Vec<u64> = sections.chunks_exact(8).map(u64::load).collect();
        if !sections.is_sorted()
            || sections.first() != Some(&0)
            || sections.last() != Some(&header.blocks)
        {
            return Err(bad("the section table is inconsistent: count again".into()));
        }
        let mut histogram = Histogram::default();
        for row in rows.chunks_exact(HISTOGRAM_ROW as usize) {
            histogram.add_many(u32::load(row), u64::load(&row[4..]));
        }
        Ok(Table { path: path.to_owned(), file, header, index, sections, histogram })
    }

    /// Returns the header of the table.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the histogram of a range before any cut; empty for other tables.
    pub(crate) fn uncut_histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// Returns all k-mers in ascending order, a number of blocks at a time.
    ///
    /// # Panics
    /// If `K` is too narrow for the table's k.
    pub fn blocks<K: Kmer>(&self) -> Blocks<'_, K> {
        assert!(self.header.k <= K::MAX_K, "k {} in {} bytes", self.header.k, K::BYTES);
        Blocks { table: self, next: 0, bytes: Vec::new(), kmers: Vec::new(), width: PhantomData }
    }

    /// Returns the count of a k-mer, which must be canonical if the table is; 0 if the table does not have it.
    /// `kmers` is working space.
    ///
    /// # Errors
    /// If its block cannot be read or is damaged.
    pub fn get<K: Kmer>(&self, kmer: K, kmers: &mut Vec<(K, u32)>) -> Result<u32, Error> {
        let section = kmer.prefix(self.header.k, self.header.section_bits) as usize;
        let behind = self.block_of(kmer);
        if behind == self.sections[section] {
            return Ok(0);
        }
        let mut bytes = Vec::new();
        kmers.clear();
        self.read_blocks(behind - 1, behind, &mut bytes, kmers)?;
        let found = kmers.binary_search_by_key(&kmer, |&(kmer, _)| kmer);
        Ok(found.map_or(0, |at| kmers[at].1))
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks_in_all(&self) -> u64 {
        self.header.blocks
    }

    /// Returns the number of blocks whose first k-mer is not greater than `kmer`: the blocks before `kmer`, and
    /// the one that contains it, if any.
    pub(crate) fn block_of<K: Kmer>(&self, kmer: K) -> u64 {
        let k = self.header.k;
        let section = kmer.prefix(k, self.header.section_bits) as usize;
        let (wanted, bytes) = key(kmer, k);
        let (mut low, mut high) = (self.sections[section], self.sections[section + 1]);
        while low < high {
            let middle = (low + high) / 2;
            if self.entry_slice(middle)[..bytes] <= wanted[..bytes] {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the half-open range of blocks that contains all k-mers from `first` to `last`.
    pub(crate) fn blocks_between<K: Kmer>(&self, first: K, last: K) -> (u64, u64) {
        let section = first.prefix(self.header.k, self.header.section_bits) as usize;
        let from = self.block_of(first);
        // No block spans two sections, so the block before this section contains none of its k-mers.
        let from = if from == self.sections[section] { from } else { from - 1 };
        (from, self.block_of(last).max(from))
    }

    fn entry_slice(&self, block: u64) -> &[u8] {
        let size = entry_bytes(self.header.k);
        &self.index[block as usize * size..][..size]
    }

    fn entry<K: Kmer>(&self, block: u64) -> Entry<K> {
        Entry::load(self.entry_slice(block), self.header.k)
    }

    /// Returns the offset of a block; after the last block, that of the index.
    fn offset(&self, block: u64) -> u64 {
        if block == self.header.blocks {
            self.header.index_offset
        } else {
            self.entry::<merganser_seq::kmer::Wide>(block).offset
        }
    }

    /// Appends the k-mers of blocks `from` to `to` (exclusive).
    pub(crate) fn read_blocks<K: Kmer>(
        &self,
        from: u64,
        to: u64,
        bytes: &mut Vec<u8>,
        kmers: &mut Vec<(K, u32)>,
    ) -> Result<(), Error> {
        let (start, end) = (self.offset(from), self.offset(to));
        let damaged = |block: u64| Error::Table {
            path: self.path.clone(),
            reason: format!("block {block} is damaged (checksum): count again"),
        };
        if start > end || end > self.header.index_offset {
            return Err(damaged(from));
        }
        let number = (end - start) as usize;
        // Whole words are loaded, also at the end of the last block.
        bytes.resize(number + 8, 0);
        self.file
            .read_exact_at(&mut bytes[..number], start)
            .map_err(|source| Error::File { path: self.path.clone(), source })?;
        // Two blocks are decoded at a time: see `block::decode`.
        let coded = |block| self.coded::<K>(block, start, bytes).ok_or_else(|| damaged(block));
        let mut next = from;
        while next < to {
            let sound = match to - next {
                1 => block::decode([coded(next)?], kmers),
                _ => block::decode([coded(next)?, coded(next + 1)?], kmers),
            };
            if !sound {
                return Err(damaged(next));
            }
            next += (to - next).min(2);
        }
        Ok(())
    }

    /// Returns a block within `bytes`, which begin at offset `start` and extend 8 bytes beyond the last block;
    /// `None` if the block is damaged.
    fn coded<'b, K: Kmer>(&self, block: u64, start: u64, bytes: &'b [u8]) -> Option<Coded<'b, K>> {
        let Entry { first, offset, len, crc } = self.entry::<K>(block);
        let (at, end) = (offset.checked_sub(start)?, self.offset(block + 1).checked_sub(start)?);
        let (at, end) = (at as usize, end as usize);
        let sound = (1..=block::MAX).contains(&usize::from(len))
            && end + 8 <= bytes.len()
            && crc32fast::hash(bytes.get(at..end)?) == crc;
        let (bytes, kmers) = (&bytes[at.min(end)..], usize::from(len));
        sound.then_some(Coded { bytes, len: end.checked_sub(at)?, first, kmers })
    }

    /// Reads every block and checks all checksums, that k-mers are valid, ascending and in their section, the
    /// bounds of counts, and the numbers of the header.
    ///
    /// # Errors
    /// If a check fails; reports the first problem.
    pub fn verify(&self) -> Result<(), Error> {
        merganser_seq::with_kmer!(self.header.k, K => self.verify_as::<K>())
    }

    fn verify_as<K: Kmer>(&self) -> Result<(), Error> {
        let bad = |reason: &str| self.damaged(reason);
        let (mut last, mut number, mut sum) = (None, 0u64, 0u64);
        let (mut bytes, mut kmers) = (Vec::new(), Vec::new());
        for block in 0..self.header.blocks {
            kmers.clear();
            self.read_blocks::<K>(block, block + 1, &mut bytes, &mut kmers)?;
            for &(kmer, count) in &kmers {
                if last.is_some_and(|last| last >= kmer) {
                    return Err(bad("k-mers are out of order"));
                }
                if !self.belongs(kmer, block) {
                    return Err(bad("a k-mer is not in its section"));
                }
                if !(self.header.min_count..=self.header.max_count).contains(&count) {
                    return Err(bad("a count is outside the table's bounds"));
                }
                last = Some(kmer);
                number += 1;
                sum += u64::from(count);
            }
        }
        if (number, sum) != (self.header.kmers, self.header.occurrences) {
            return Err(bad("the numbers of the header do not match the k-mers"));
        }
        Ok(())
    }

    /// Returns the error for content that no writer produces.
    pub(crate) fn damaged(&self, what: &str) -> Error {
        Error::Table { path: self.path.clone(), reason: format!("{what}: count again") }
    }

    /// Whether a k-mer has no bits beyond its bases, and the block is in the k-mer's section.
    fn belongs<K: Kmer>(&self, kmer: K, block: u64) -> bool {
        let Header { k, section_bits, .. } = self.header;
        kmer <= K::mask(k) && {
            let section = kmer.prefix(k, section_bits) as usize;
            (self.sections[section]..self.sections[section + 1]).contains(&block)
        }
    }
}

/// The k-mers of a table in ascending order, returned by [`Table::blocks`].
#[derive(Debug)]
pub struct Blocks<'t, K> {
    table: &'t Table,
    next: u64,
    bytes: Vec<u8>,
    kmers: Vec<(K, u32)>,
    width: PhantomData<K>,
}

impl<K: Kmer> Blocks<'_, K> {
    /// Returns the next k-mers with their counts, at least one; `None` at the end.
    ///
    /// # Errors
    /// If a block cannot be read or is damaged.
    #[allow(clippy::should_implement_trait, reason = "lends its buffer, which an Iterator cannot")]
    pub fn next(&mut self) -> Result<Option<&[(K, u32)]>, Error> {
        if self.next == self.table.header.blocks {
            return Ok(None);
        }
        let (from, start) = (self.next, self.table.offset(self.next));
        while self.next < self.table.header.blocks
            && self.table.offset(self.next).saturating_sub(start) < SCAN_BYTES
        {
            self.next += 1;
        }
        self.kmers.clear();
        self.table.read_blocks(from, self.next, &mut self.bytes, &mut self.kmers)?;
        Ok(Some(&self.kmers))
    }
}
