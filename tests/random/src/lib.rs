//! Numbers and letters at random for tests, the same in every run. This depends on nothing, so that the unit tests of
//! all crates can use it.

/// Random numbers (SplitMix64), by their seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number of 64 bits.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Bases, each as often as others.
    pub fn bases(&mut self, number: usize) -> Vec<u8> {
        (0..number).map(|_| b"ACGT"[self.below(4)]).collect()
    }

    /// A copy of letters with one in so many changed, a few of them to N.
    pub fn mutated(&mut self, letters: &[u8], one_in: usize) -> Vec<u8> {
        let change = |letter: &u8| match self.below(one_in) {
            0 => b"ACGTacgtN"[self.below(9)],
            _ => *letter,
        };
        letters.iter().map(change).collect()
    }
}
