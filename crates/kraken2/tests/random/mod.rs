//! Letters at random, the same in every run.

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn letters(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| b"ACGT"[self.below(4) as usize]).collect()
    }

    /// A copy with some letters changed, a few of them to N.
    pub(crate) fn mutated(&mut self, letters: &[u8], one_in: u64) -> Vec<u8> {
        let change = |letter: &u8| match self.below(one_in) {
            0 => b"ACGTacgtN"[self.below(9) as usize],
            _ => *letter,
        };
        letters.iter().map(change).collect()
    }
}
