//! Reproducible random numbers and letters for tests. The crate has no dependencies, so that the unit tests of every
//! crate can use it.

/// A random number generator (SplitMix64), created from its seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns a random 64-bit number.
    #[allow(clippy::should_implement_trait, reason = "not an iterator: it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// Returns a random number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns `number` random bases, uniformly distributed.
    pub fn bases(&mut self, number: usize) -> Vec<u8> {
        (0..number).map(|_| b"ACGT"[self.below(4)]).collect()
    }

    /// Returns a copy of the letters in which about one letter in `one_in` is changed, a few of these to N.
    pub fn mutated(&mut self, letters: &[u8], one_in: usize) -> Vec<u8> {
        let change = |letter: &u8| match self.below(one_in) {
            0 => b"ACGTacgtN"[self.below(9)],
            _ => *letter,
        };
        letters.iter().map(change).collect()
    }
}
