//! Ranges of our own tables.

use merganser_seq::kmer::Kmer;

use super::{MOST_OF_A_BLOCK, Table};
use crate::Error;
use crate::tables::ranges::{RangeReader, Ranges, ends, keep_range};

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
    /// The blocks in which the k-mers of a range lie.
    fn blocks<K: Kmer>(&self, prefix: K, bits: u32) -> (u64, u64) {
        let (first, last) = ends::<K>(self.table.header().k, prefix, bits);
        self.table.blocks_between(first, last)
    }
}

impl<K: Kmer> RangeReader<K> for MgkReader<'_> {
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error> {
        let (from, to) = self.blocks::<K>(prefix, bits);
        Ok((to - from) * MOST_OF_A_BLOCK as u64)
    }

    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        kmers.clear();
        let (from, to) = self.blocks::<K>(prefix, bits);
        if from == to {
            return Ok(());
        }
        self.table.read_blocks(from, to, &mut self.bytes, kmers)?;
        keep_range(kmers, self.table.header().k, prefix, bits);
        Ok(())
    }
}
