//! Reads the k-mers of a table by ranges, independently of its format.

use merganser_seq::kmer::Kmer;

use crate::Error;

/// The k-mers of a table by ranges, for any number of workers.
pub(crate) trait Ranges<K>: Sync {
    /// Returns an upper bound of the number of distinct k-mers.
    fn kmers(&self) -> u64;
    /// Returns an upper bound of the counts.
    fn largest_count(&self) -> u32;
    /// Returns the number of first bits by which k-mers are read together, even if a finer range is requested.
    fn together(&self) -> u32 {
        u32::MAX
    }
    /// Returns a reader for one worker. Each range must be requested once, by one worker.
    fn reader(&self) -> Box<dyn RangeReader<K> + '_>;
}

/// Reads ranges: the k-mers whose first `bits` bits (at most 2k) are `prefix`. Ranges must be requested in ascending
/// order.
pub(crate) trait RangeReader<K> {
    /// Returns an upper bound of the number of k-mers in the range.
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error>;
    /// Replaces `kmers` by the k-mers of the range, in ascending order.
    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error>;
}

/// Returns the first and the last possible k-mer of a range.
pub(crate) fn ends<K: Kmer>(k: usize, prefix: K, bits: u32) -> (K, K) {
    let rest = 2 * k as u32 - bits;
    let first = prefix.shl(rest);
    // All ones below the prefix.
    let low = K::mask(k).and(K::from_low(1).shl(rest).sub(K::from_low(1)));
    (first, first.or(low))
}

/// Returns the half-open range of prefixes of `own` bits that contains a range of k-mers.
pub(crate) fn prefixes<K: Kmer>(own: u32, prefix: K, bits: u32) -> (u64, u64) {
    if bits <= own {
        let finer = own - bits;
        (prefix.low() << finer, (prefix.low() + 1) << finer)
    } else {
        let one = prefix.shr(bits - own).low();
        (one, one + 1)
    }
}

/// Removes the k-mers outside a range from sorted `kmers`.
pub(crate) fn keep_range<K: Kmer>(kmers: &mut Vec<(K, u32)>, k: usize, prefix: K, bits: u32) {
    let (first, last) = ends::<K>(k, prefix, bits);
    kmers.truncate(kmers.partition_point(|&(kmer, _)| kmer <= last));
    let before = kmers.partition_point(|&(kmer, _)| kmer < first);
    kmers.drain(..before);
}
