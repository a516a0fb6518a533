//! Reads `.mgk` tables by ranges.

use merganser_seq::kmer::Kmer;

use super::{MAX_PER_BLOCK, Table};
use crate::Error;
use crate::ranges::{RangeReader, Ranges, ends, keep_range};

/// A table whose blocks are found by their index.
pub(crate) struct MgkRanges<'t>(pub(crate) &'t Table);

impl<K: Kmer> Ranges<K> for MgkRanges<'_> {
    fn kmers(&self) -> u64 {
        self.0.header().kmers
    }

    fn largest_count(&self) -> u32 {
        self.0.header().largest_count
    }

    fn reader(&self) -> Box<dyn RangeReader<K> + '_> {
        Box::new(MgkReader { table: self.0, bytes: Vec::new() })
    }
}

struct MgkReader<'t> {
    table: &'t Table,
    bytes: Vec<u8>,
}

impl MgkReader<'_> {
    /// Returns the half-open range of blocks that contains a range of k-mers.
    fn blocks<K: Kmer>(&self, prefix: K, bits: u32) -> (u64, u64) {
        let (first, last) = ends::<K>(self.table.header().k, prefix, bits);
        self.table.blocks_between(first, last)
    }
}

impl<K: Kmer> RangeReader<K> for MgkReader<'_> {
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error> {
        let (from, to) = self.blocks::<K>(prefix, bits);
        Ok((to - from) * MAX_PER_BLOCK as u64)
    }

    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        kmers.clear();
        let (from, to) = self.blocks::<K>(prefix, bits);
        if from == to {
            return Ok(());
        }
        self.table.read_blocks(from, to, &mut self.bytes, kmers)?;
        let k = self.table.header().k;
        keep_range(kmers, k, prefix, bits);
        // If k-mers are out of order, `keep_range` may have kept wrong ones. The checksums do not exclude this:
        // they only show that the blocks are as they were written.
        let (first, last) = ends::<K>(k, prefix, bits);
        let within = kmers.first().is_none_or(|entry| first <= entry.0)
            && kmers.last().is_none_or(|entry| entry.0 <= last);
        if !within || !kmers.is_sorted_by(|one, other| one.0 < other.0) {
            return Err(self.table.damaged("k-mers are out of order"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::encode;
    use super::super::header::{BYTES, Header};
    use super::super::index::Entry;
    use super::*;

    /// Returns a table with one k-mer in each block, with valid checksums.
    fn table(kmers: &[u64]) -> Vec<u8> {
        let (mut blocks, mut index) = (Vec::new(), Vec::new());
        for &first in kmers {
            let from = blocks.len();
            encode(&[(first, 1)], &mut blocks);
            let crc = crc32fast::hash(&blocks[from..]);
            let entry = Entry { first, offset: (BYTES + from) as u64, len: 1, crc };
            entry.store(21, &mut index);
        }
        let index_offset = (BYTES + blocks.len()) as u64;
        let sections_offset = index_offset + index.len() as u64;
        let number = kmers.len() as u64;
        index.extend([0, number].map(u64::to_le_bytes).concat());
        let header = Header {
            min_count: 1,
            max_count: u32::MAX,
            occurrences: number,
            blocks: number,
            index_offset,
            sections_offset,
            file_bytes: index_offset + index.len() as u64,
            index_crc: crc32fast::hash(&index),
            ..Header::new(21, number)
        };
        [&header.to_bytes()[..], &blocks, &index].concat()
    }

    #[test]
    fn disorder_is_an_error_though_checksums_are_right() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.mgk");
        let read = |kmers: &[u64]| {
            std::fs::write(&path, table(kmers)).unwrap();
            let (table, mut found) = (Table::open(&path).unwrap(), Vec::new());
            let ranges = MgkRanges(&table);
            let mut reader = Ranges::<u64>::reader(&ranges);
            reader.read(0, 0, &mut found).map(|()| found)
        };
        assert_eq!(read(&[5, 9]).unwrap(), [(5, 1), (9, 1)]);
        for kmers in [[9, 5], [7, 7]] {
            let error = read(&kmers).unwrap_err().to_string();
            assert!(error.ends_with("t.mgk: k-mers are out of order: count again"), "{error}");
        }
    }
}
