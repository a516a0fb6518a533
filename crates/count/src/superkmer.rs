//! Super-k-mers as bytes, in two encodings.
//!
//! The default is length-prefixed, because it measures faster (`docs/evidence/speed.md`): one byte for the
//! number of k-mers less 1, then the bases, 4 a byte, first base in the top bits, the last byte padded
//! with zeros. [`gkc`] is the paper's encoding (§III-B).

pub mod gkc;

use merganser_seq::packed;

/// The largest number of k-mers in a record; a longer super-k-mer is cut into several records.
pub const MAX_KMERS: usize = 256;

/// Returns the length in bytes of the length-prefixed record of `kmers` k-mers of `k` bases.
#[inline(always)]
pub fn record_bytes(kmers: usize, k: usize) -> usize {
    1 + (kmers + k - 1).div_ceil(4)
}

/// Returns the number of bytes that [`write()`] may touch for a record of `bases` bases: it writes whole words.
#[inline(always)]
pub fn room(bases: usize) -> usize {
    1 + bases.div_ceil(packed::BASES_PER_WORD) * 8
}

/// Writes the record of `kmers` k-mers (1 to [`MAX_KMERS`]) that starts at base `at` of `words`,
/// and returns its length. `out` holds at least [`room`] bytes.
#[inline(always)]
pub fn write(words: &[u64], at: usize, kmers: usize, k: usize, out: &mut [u8]) -> usize {
    let bases = kmers + k - 1;
    out[0] = (kmers - 1) as u8;
    let mut word = 0;
    while word * packed::BASES_PER_WORD < bases {
        let left = bases - word * packed::BASES_PER_WORD;
        let value = packed::window(words, at + word * packed::BASES_PER_WORD) & first(left);
        out[1 + 8 * word..9 + 8 * word].copy_from_slice(&value.to_be_bytes());
        word += 1;
    }
    record_bytes(kmers, k)
}

/// A record of a block.
#[derive(Clone, Copy)]
pub(crate) struct Record<'b> {
    /// The rest of the block, from the record on.
    pub(crate) rest: &'b [u8],
    /// The length of the record in bytes.
    pub(crate) len: usize,
    pub(crate) kmers: usize,
}

impl<'b> Record<'b> {
    /// Returns the rest of the block, from the bases of the record on, and the number of bytes that they take.
    #[inline(always)]
    pub(crate) fn bases(self) -> (&'b [u8], usize) {
        (&self.rest[1..], self.len - 1)
    }
}

/// Iterates over the records of a block of k-mers of `k` bases.
#[inline(always)]
pub(crate) fn records(block: &[u8], k: usize) -> impl Iterator<Item = Record<'_>> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let kmers = usize::from(*rest.first()?) + 1;
        let record = Record { rest, len: record_bytes(kmers, k), kmers };
        rest = &rest[record.len..];
        Some(record)
    })
}

/// Returns a mask of the first `bases` bases (at least 1) of a word.
#[inline(always)]
fn first(bases: usize) -> u64 {
    u64::MAX << (64 - 2 * bases.min(packed::BASES_PER_WORD))
}

/// Returns whether the sequence of `bases` bases at `at` of `words` is greater than the one at
/// `other_at` of `other`.
///
/// A super-k-mer is stored as the lesser of itself and its reverse complement, so that super-k-mers that
/// are equal up to strand become equal records.
#[inline(always)]
pub fn is_greater(words: &[u64], at: usize, other: &[u64], other_at: usize, bases: usize) -> bool {
    let mut done = 0;
    loop {
        let mask = first(bases - done);
        let (a, b) = (
            packed::window(words, at + done) & mask,
            packed::window(other, other_at + done) & mask,
        );
        done += packed::BASES_PER_WORD;
        if a != b || done >= bases {
            return a > b;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_seq::simd::Level;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_hold_the_bases_that_were_written(
            codes in proptest::collection::vec(0u8..4, 400..500), at in 0usize..16,
            kmers in 1usize..=MAX_KMERS, k in 1usize..=128,
        ) {
            let mut words = Vec::new();
            packed::pack(Level::best(), &codes, &mut words);
            let mut block = vec![0xff; room(kmers + k - 1)];
            let len = write(&words, at, kmers, k, &mut block);
            block.truncate(len);
            let all: Vec<_> = records(&block, k).collect();
            prop_assert_eq!(all.len(), 1);
            prop_assert_eq!((all[0].kmers, all[0].len), (kmers, len));
            let (bases, _) = all[0].bases();
            for (i, &code) in codes[at..at + kmers + k - 1].iter().enumerate() {
                prop_assert_eq!(bases[i / 4] >> (6 - 2 * (i % 4)) & 3, code);
            }
        }

        #[test]
        fn order_is_that_of_the_bases(
            a in proptest::collection::vec(0u8..4, 1..150), flip in any::<usize>(), equal in any::<bool>(),
        ) {
            let mut b = a.clone();
            if !equal { b[flip % a.len()] ^= 1; }
            let (mut wa, mut wb) = (Vec::new(), Vec::new());
            packed::pack(Level::best(), &a, &mut wa);
            packed::pack(Level::best(), &b, &mut wb);
            prop_assert_eq!(is_greater(&wa, 0, &wb, 0, a.len()), a > b);
        }
    }
}
