//! Ranges of our own tables.

use merganser_seq::kmer::Kmer;

use super::{RangeReader, Ranges};
use crate::{Error, Table};

/// A table whose blocks are found by their index.
pub(super) struct MgkRanges<'t>(pub(super) &'t Table);

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
        Ok((to - from) * crate::table::MOST_OF_A_BLOCK as u64)
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

/// The first and the last k-mer that a range may hold.
pub(super) fn ends<K: Kmer>(k: usize, prefix: K, bits: u32) -> (K, K) {
    let rest = 2 * k as u32 - bits;
    let first = prefix.shl(rest);
    // All ones below the prefix.
    let low = K::mask(k).and(K::from_low(1).shl(rest).sub(K::from_low(1)));
    (first, first.or(low))
}

/// Drops what of sorted `kmers` lies before or behind a range.
pub(super) fn keep_range<K: Kmer>(kmers: &mut Vec<(K, u32)>, k: usize, prefix: K, bits: u32) {
    let (first, last) = ends::<K>(k, prefix, bits);
    kmers.truncate(kmers.partition_point(|&(kmer, _)| kmer <= last));
    let before = kmers.partition_point(|&(kmer, _)| kmer < first);
    kmers.drain(..before);
}
