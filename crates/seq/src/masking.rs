//! Low-complexity regions of references: what is left out of a database because it tells nothing.
//!
//! The rule is symmetric DUST (Morgulis et al., 2006) with a window of 64 bases and a threshold of 20,
//! which `dustmasker` and Kraken 2's `k2mask` have, too. The score of an interval is the number of pairs of
//! equal triplets in it, divided by the number of its triplets less one. An interval of at most 64 bases
//! is *perfect* if its score is above 2 and no interval within it has a higher one; what is masked is all
//! perfect intervals.
//!
//! Whether an interval is perfect depends on its own letters alone, so that whether a base is masked
//! depends on the [`REACH`] bases before and behind it: sequences may be masked in stretches that have so
//! many letters more at both ends, with the result that they have as a whole.
//!
//! Letters that are no base end what is looked at: no interval goes over them. So does `k2mask`;
//! `dustmasker` draws a base by chance for each N (which one depends on all that it has read before) and
//! takes all other letters for A, so that it may differ within 63 bases of such letters.

mod dust;

use std::fmt;
use std::str::FromStr;

use crate::base;

/// Bases before and behind a base that decide whether it is masked.
pub const REACH: usize = dust::WINDOW - 1;

/// The letter that takes the place of masked bases.
pub const MASKED: u8 = b'N';

/// What is masked of reference sequences before k-mers are taken of them. Reads are never masked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Masking {
    /// Nothing.
    #[default]
    None,
    /// Regions of low complexity, by symmetric DUST.
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
        named.ok_or_else(|| format!("'{name}' is none of none, low-complexity"))
    }
}

impl Masking {
    /// The name, as `--masked` and `db info` have it.
    pub fn name(self) -> &'static str {
        match self {
            Masking::None => "none",
            Masking::LowComplexity => "low-complexity",
        }
    }

    /// Both values.
    pub const ALL: [Masking; 2] = [Masking::None, Masking::LowComplexity];

    /// Puts [`MASKED`] in the place of what is masked in a whole sequence. Lower-case letters are bases
    /// as others.
    pub fn mask(self, letters: &mut [u8]) {
        if self == Masking::LowComplexity {
            mask(letters);
        }
    }

    /// Letters that a stretch of a sequence needs at each end beyond those that are wanted of it.
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

/// The definition, word by word.
#[cfg(test)]
pub(crate) mod naive {
    use std::collections::HashMap;

    use crate::base;

    use super::MASKED;

    /// Pairs of equal triplets, and triplets less one; none if there are fewer than two triplets, or a
    /// letter is no base.
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
        // The highest score within an interval, shorter ones first.
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

    /// Sequences of repeats of some letters and of stretches without any.
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
