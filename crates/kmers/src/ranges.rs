//! The k-mers of a table by ranges, whatever its format.

use merganser_seq::kmer::Kmer;

use crate::Error;

/// A table's k-mers by ranges, for any number of workers.
pub(crate) trait Ranges<K>: Sync {
    /// No fewer than its distinct k-mers.
    fn kmers(&self) -> u64;
    /// No less than its largest count.
    fn largest_count(&self) -> u32;
    /// First bits of which it reads the k-mers together, however little of them is asked for.
    fn together(&self) -> u32 {
        u32::MAX
    }
    /// One worker's way to them. Each range is asked for once, by one worker.
    fn reader(&self) -> Box<dyn RangeReader<K> + '_>;
}

/// Reads ranges: the k-mers whose first `bits` bits (at most 2k) are `prefix`. Ranges are asked for in
/// order.
pub(crate) trait RangeReader<K> {
    /// No fewer than the k-mers of the range.
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error>;
    /// Replaces `kmers` by those of the range, in order.
    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error>;
}

/// The first and the last k-mer that a range may hold.
pub(crate) fn ends<K: Kmer>(k: usize, prefix: K, bits: u32) -> (K, K) {
    let rest = 2 * k as u32 - bits;
    let first = prefix.shl(rest);
    // All ones below the prefix.
    let low = K::mask(k).and(K::from_low(1).shl(rest).sub(K::from_low(1)));
    (first, first.or(low))
}

/// The prefixes of `own` bits, from and up to, in which the k-mers of a range lie.
pub(crate) fn prefixes<K: Kmer>(own: u32, prefix: K, bits: u32) -> (u64, u64) {
    if bits <= own {
        let finer = own - bits;
        (prefix.low() << finer, (prefix.low() + 1) << finer)
    } else {
        let one = prefix.shr(bits - own).low();
        (one, one + 1)
    }
}

/// Drops what of sorted `kmers` lies before or behind a range.
pub(crate) fn keep_range<K: Kmer>(kmers: &mut Vec<(K, u32)>, k: usize, prefix: K, bits: u32) {
    let (first, last) = ends::<K>(k, prefix, bits);
    kmers.truncate(kmers.partition_point(|&(kmer, _)| kmer <= last));
    let before = kmers.partition_point(|&(kmer, _)| kmer < first);
    kmers.drain(..before);
}
