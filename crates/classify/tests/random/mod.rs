//! Letters at random, the same in every run; candidates that can be compared.

use merganser_classify::Candidate;

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

/// The candidates of a read without the nodes of those that others are as good as.
pub(crate) fn comparable(found: &[Candidate]) -> Vec<Candidate> {
    let alone = found.get(1).is_none_or(|second| second.hits < found[0].hits);
    let one = |(at, &one): (usize, &Candidate)| match at {
        0 if alone => one,
        _ => Candidate { nodes: [0; 2], ..one },
    };
    found.iter().enumerate().map(one).collect()
}
