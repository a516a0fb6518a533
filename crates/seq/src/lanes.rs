//! Vectors with one bit for each of 512 lanes, for algorithms that process 512 problems at once (bit slicing).
//!
//! A sequence per lane is turned into one vector per base by transposing blocks of 64 words: word k of group g is
//! that of lane 64g + k before, and bit k of group g of vector b is base b of lane 64g + k after.

mod part;
mod transpose;

use std::ops::{Index, IndexMut, Range};

#[cfg(target_arch = "aarch64")]
pub use part::Quarter;
pub use part::{Part, Words};
pub use transpose::transpose;

/// The number of lanes of a vector.
pub const LANES: usize = 512;

/// A bit for every lane: bit k of word g is that of lane 64g + k. Aligned so that it never crosses a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub struct Bits(pub [u64; LANES / 64]);

impl Bits {
    /// No lane.
    pub const NONE: Bits = Bits([0; LANES / 64]);

    /// Returns the bits of a range of lanes.
    pub fn of_lanes(lanes: Range<usize>) -> Bits {
        each(|g| {
            let (first, end) = (lanes.start.max(64 * g), lanes.end.min(64 * g + 64));
            if first < end { u64::MAX >> (64 - (end - first)) << (first % 64) } else { 0 }
        })
    }

    /// Whether any lane's bit is set.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) != 0
    }

    /// Returns the lanes whose bits are set, in increasing order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..).zip(self.0).flat_map(|(g, word)| {
            let next = |word: &u64| Some(word & (word - 1)).filter(|&word| word != 0);
            let first = Some(word).filter(|&word| word != 0);
            std::iter::successors(first, next)
                .map(move |word: u64| 64 * g + word.trailing_zeros() as usize)
        })
    }

    /// Whether the bit of a lane is set.
    #[inline]
    pub fn has(&self, lane: usize) -> bool {
        self[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// Sets the bit of a lane.
    #[inline]
    pub fn insert(&mut self, lane: usize) {
        self[lane / 64] |= 1 << (lane % 64);
    }
}

impl Index<usize> for Bits {
    type Output = u64;

    #[inline(always)]
    fn index(&self, g: usize) -> &u64 {
        &self.0[g]
    }
}

impl IndexMut<usize> for Bits {
    #[inline(always)]
    fn index_mut(&mut self, g: usize) -> &mut u64 {
        &mut self.0[g]
    }
}

/// Returns the vector of the words that `of` returns for each group of 64 lanes.
#[inline(always)]
pub fn each(of: impl FnMut(usize) -> u64) -> Bits {
    Bits(std::array::from_fn(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn turned_twice_is_as_before(rows in proptest::collection::vec(any::<[u64; 8]>(), 64)) {
            for level in Level::available() {
                let mut transposed: [Bits; 64] = std::array::from_fn(|k| Bits(rows[k]));
                transpose(level, &mut transposed);
                for (b, g, k) in [(0, 0, 0), (1, 0, 0), (0, 0, 1), (63, 7, 5), (17, 3, 40), (40, 3, 17)] {
                    prop_assert_eq!(transposed[b][g] >> k & 1, rows[k][g] >> b & 1);
                }
                transpose(level, &mut transposed);
                prop_assert!(transposed.iter().zip(&rows).all(|(transposed, row)| transposed.0 == *row));
            }
        }

        #[test]
        fn lanes_are_those_that_were_set(lanes in proptest::collection::btree_set(0..LANES, 0..40)) {
            let mut bits = Bits::NONE;
            lanes.iter().for_each(|&lane| bits.insert(lane));
            prop_assert!(bits.iter().eq(lanes.iter().copied()));
            prop_assert!((0..LANES).all(|lane| bits.has(lane) == lanes.contains(&lane)));
            prop_assert_eq!(bits.any(), !lanes.is_empty());
        }

        #[test]
        fn a_range_of_lanes_has_its_bits(from in 0..LANES, len in 0..LANES) {
            let range = from..(from + len).min(LANES);
            prop_assert!(Bits::of_lanes(range.clone()).iter().eq(range));
        }
    }
}
