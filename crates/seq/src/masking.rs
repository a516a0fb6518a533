//! Masks the low-complexity regions of references, so that their unspecific k-mers are kept out of a database.
//!
//! The rule is symmetric DUST (Morgulis et al., 2006) with a window of 64 bases and a threshold of 20, as in
//! `dustmasker` and in Kraken 2's `k2mask`. The score of an interval is its number of pairs of equal triplets,
//! divided by one less than its number of triplets. An interval of at most 64 bases is *perfect* if its score is
//! above 2 (the threshold is given in tenths) and no interval within it has a higher score. All perfect intervals are
//! masked.
//!
//! Whether an interval is perfect depends only on its own letters. The mask of a base therefore depends only on the
//! [`REACH`] bases before and after it. So a sequence can be masked in stretches: each stretch is extended by that
//! many letters at both ends, and only its own letters are kept. The result is the same as for the whole sequence.
//!
//! Intervals never cross letters other than A, C, G, T and U, which is also the behaviour of `k2mask`. `dustmasker`
//! replaces each N by a pseudo-random base that depends on all input before it, and reads all other letters as A; its
//! result may differ within 63 bases of such letters.

mod dust;

use std::fmt;
use std::str::FromStr;

use crate::base;

/// The number of bases before and after a base that decide whether it is masked.
pub const REACH: usize = dust::WINDOW - 1;

/// The letter that replaces masked bases.
pub const MASKED: u8 = b'N';

/// The regions of reference sequences that are masked before k-mers are taken. Reads are never masked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Masking {
    /// No masking.
    #[default]
    None,
    /// Low-complexity regions, by symmetric DUST.
    LowComplexity,
}

impl fmt::Display for Masking {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Masking {
    type Err = String;

    fn from_str(name: &str) -> Result<Masking, String> {
        let named = Masking::ALL.into_iter().find(|masking| masking.name() == name);
        named.ok_or_else(|| format!("unknown masking '{name}': use none or low-complexity"))
    }
}

impl Masking {
    /// Returns the name, as spelled by `--masked` and `db info`.
    pub fn name(self) -> &'static str {
        match self {
            Masking::None => "none",
            Masking::LowComplexity => "low-complexity",
        }
    }

    /// All values.
    pub const ALL: [Masking; 2] = [Masking::None, Masking::LowComplexity];

    /// Replaces the masked letters of a whole sequence with [`MASKED`]. Case does not matter.
    pub fn mask(self, letters: &mut [u8]) {
        if self == Masking::LowComplexity {
            mask(letters);
        }
    }

    /// Returns the number of letters by which a stretch of a sequence must be extended at each end before it is masked.
    pub fn reach(self) -> usize {
        match self {
            Masking::None => 0,
            Masking::LowComplexity => REACH,
        }
    }
}

fn mask(letters: &mut [u8]) {
    let is_base = |&letter: &u8| base::is_base(letter);
    let mut start = 0;
    while let Some(skipped) = letters[start..].iter().position(is_base) {
        start += skipped;
        let run = letters[start..].iter().position(|letter| !is_base(letter));
        let end = run.map_or(letters.len(), |run| start + run);
        dust::mask(&mut letters[start..end]);
        start = end;
    }
}

/// A literal implementation of the definition, for comparison in tests.
#[cfg(test)]
pub(crate) mod naive {
    use std::collections::HashMap;

    use crate::base;

    use super::MASKED;

    /// Returns the number of pairs of equal triplets and the number of triplets minus 1; `None` if there are fewer
    /// than two triplets or a letter is not a base.
    fn score(letters: &[u8]) -> Option<(usize, usize)> {
        let codes: Vec<u8> =
            letters.iter().map(|&letter| base::code(letter)).collect::<Option<_>>()?;
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        codes.windows(3).for_each(|triplet| *counts.entry(triplet).or_default() += 1);
        let pairs = counts.values().map(|count| count * (count - 1) / 2).sum();
        (codes.len() >= 4).then(|| (pairs, codes.len() - 3))
    }

    /// Masks all perfect intervals of at most `window` letters.
    pub(crate) fn mask(letters: &[u8], window: usize) -> Vec<u8> {
        let mut masked = letters.to_vec();
        // The highest score within each interval. Shorter intervals are computed first.
        let mut highest: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
        for length in 4..=window {
            for start in 0..(letters.len() + 1).saturating_sub(length) {
                let end = start + length;
                let Some((pairs, triplets)) = score(&letters[start..end]) else { continue };
                let within = [(start + 1, end), (start, end - 1)];
                let mut best = (0, 1);
                for other in within.iter().filter_map(|interval| highest.get(interval)) {
                    if other.0 * best.1 > best.0 * other.1 {
                        best = *other;
                    }
                }
                let is_highest = pairs * best.1 >= best.0 * triplets;
                if is_highest && pairs > 2 * triplets {
                    masked[start..end].fill(MASKED);
                }
                let own = if is_highest { (pairs, triplets) } else { best };
                highest.insert((start, end), own);
            }
        }
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masked(letters: &[u8]) -> Vec<u8> {
        let mut letters = letters.to_vec();
        Masking::LowComplexity.mask(&mut letters);
        letters
    }

    /// Sequences of repeated units, random stretches and letters that are not bases.
    fn sequence() -> impl Strategy<Value = Vec<u8>> {
        let letter = |letters: &'static [u8]| proptest::sample::select(letters);
        let some = |letters| proptest::collection::vec(letter(letters), 1..40);
        let unit = proptest::collection::vec(letter(b"ACGT"), 1..7);
        let piece = prop_oneof![
            4 => some(b"ACGT"),
            4 => (unit, 1usize..30).prop_map(|(unit, times)| unit.repeat(times)),
            2 => some(b"AAAAAAC"),
            1 => some(b"acgtuU"),
            1 => some(b"ACGTN-Rx"),
        ];
        proptest::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn masks_what_the_definition_does(letters in sequence()) {
            let text = |letters: Vec<u8>| String::from_utf8(letters).unwrap();
            prop_assert_eq!(text(masked(&letters)), text(naive::mask(&letters, dust::WINDOW)));
        }

        #[test]
        fn is_the_same_in_both_directions(letters in sequence()) {
            let backwards = |letters: &[u8]| letters.iter().rev().copied().collect::<Vec<u8>>();
            prop_assert_eq!(backwards(&masked(&backwards(&letters))), masked(&letters));
        }

        #[test]
        fn stretches_give_what_the_whole_gives(letters in sequence(), new in 1usize..300) {
            let whole = masked(&letters);
            for start in (0..letters.len()).step_by(new) {
                let end = (start + new).min(letters.len());
                let from = start.saturating_sub(REACH);
                let to = (end + REACH).min(letters.len());
                let stretch = masked(&letters[from..to]);
                prop_assert_eq!(&stretch[start - from..end - from], &whole[start..end]);
            }
        }
    }

    #[test]
    fn long_repeats_are_masked_whole() {
        for unit in ["A", "AC", "ACG", "AACCGGTT"] {
            let repeat = unit.repeat(5000);
            assert!(masked(repeat.as_bytes()).iter().all(|&letter| letter == MASKED), "{unit}");
        }
        assert_eq!(masked(b""), b"");
        assert_eq!(masked(b"AAAAAAA"), b"NNNNNNN");
        assert_eq!(masked(b"AAAAAA"), b"AAAAAA");
        let mut letters = b"AAAAAAAAAAAAAAAAAAA".to_vec();
        Masking::None.mask(&mut letters);
        assert_eq!(letters, b"AAAAAAAAAAAAAAAAAAA");
    }
}
