//! The contigs of an assembly: its sequences, divided at runs of N.

/// Collects the lengths of contigs.
#[derive(Debug, Default)]
pub(crate) struct Contigs {
    /// The lengths in bases, in the order of the sequences.
    pub(crate) lengths: Vec<u64>,
    /// The length of the contig that is not ended.
    open: u64,
}

impl Contigs {
    /// Adds consecutive letters of a sequence; `ends` tells whether they are its last ones.
    pub(crate) fn add(&mut self, letters: &[u8], ends: bool) {
        let mut pieces = letters.split(|letter| letter.eq_ignore_ascii_case(&b'N'));
        self.open += pieces.next().map_or(0, |piece| piece.len() as u64);
        for piece in pieces {
            self.close();
            self.open = piece.len() as u64;
        }
        if ends {
            self.close();
        }
    }

    fn close(&mut self) {
        self.lengths.extend((self.open > 0).then_some(self.open));
        self.open = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn contigs_are_the_pieces_between_runs_of_n(
            sequences in proptest::collection::vec("[ACNRn]{0,20}", 0..5),
            piece in 1usize..9,
        ) {
            let mut contigs = Contigs::default();
            for sequence in &sequences {
                let mut left = sequence.as_bytes();
                while left.len() > piece {
                    contigs.add(&left[..piece], false);
                    left = &left[piece..];
                }
                contigs.add(left, true);
            }
            let joined = sequences.join("N").replace('n', "N");
            let pieces = joined.split('N').filter(|piece| !piece.is_empty());
            let expected: Vec<u64> = pieces.map(|piece| piece.len() as u64).collect();
            prop_assert_eq!(contigs.lengths, expected);
        }
    }
}
