//! Anchored patterns: guides next to a PAM, which must match exactly, and seed regions with a limit of their own.
//!
//! A guide is scanned in the direction in which its PAM follows it, so the PAM fixes the end of its alignment: the
//! reverse complement of the text is scanned as well, with the same letters. Where the PAM comes first (Cas12a), the
//! reverse complements of guide and PAM are scanned, and the strands change places.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::align::{Aligner, Alignment, Begin, append, diagonal};
use crate::letters::{bases, letter, reverse_complement};

/// The maximum number of letters of a PAM.
const MAX_PAM: usize = 16;

/// A protospacer adjacent motif: IUPAC letters that a text must have next to a guide. Several ones of the same length may
/// be given, separated by commas; the text must have one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pam {
    letters: String,
    /// The sets of bases of each PAM.
    all: Vec<Vec<u8>>,
}

impl Pam {
    /// Returns the sets of bases of each PAM in the direction in which it follows the guide.
    pub(crate) fn sets_after(&self, comes_first: bool) -> Vec<Vec<u8>> {
        match comes_first {
            true => self.all.iter().map(|sets| reverse_complement(sets)).collect(),
            false => self.all.clone(),
        }
    }

    /// Returns the number of letters of each PAM.
    pub(crate) fn length(&self) -> usize {
        self.all.first().map_or(0, Vec::len)
    }

    /// Whether a pattern ends with a PAM, or begins with one if it `comes_first`.
    pub(crate) fn is_in(&self, pattern: &[u8], comes_first: bool) -> bool {
        let Some(rest) = pattern.len().checked_sub(self.length()) else { return false };
        let own = if comes_first { &pattern[..self.length()] } else { &pattern[rest..] };
        let is = |pam: &Vec<u8>| own.iter().zip(pam).all(|(letter, bases)| letter & !bases == 0);
        self.all.iter().any(is)
    }

    /// Returns the chance that random bases are a PAM, at most.
    pub(crate) fn chance(&self) -> f64 {
        let of = |bases: &u8| f64::from(bases.count_ones()) / 4.0;
        self.all.iter().map(|pam| pam.iter().map(of).product::<f64>()).sum()
    }

    /// Returns the letters that include all PAMs, such as NRG for NGG and NAG.
    pub(crate) fn common_letters(&self) -> Vec<u8> {
        union(&self.all).into_iter().map(letter).collect()
    }
}

/// Returns the union of the sets of bases at each position.
fn union(all: &[Vec<u8>]) -> Vec<u8> {
    let mut union = all.first().cloned().unwrap_or_default();
    for sets in all {
        union.iter_mut().zip(sets).for_each(|(union, bases)| *union |= bases);
    }
    union
}

impl FromStr for Pam {
    type Err = String;

    fn from_str(text: &str) -> Result<Pam, String> {
        let sets = |pam: &str| pam.bytes().map(bases).collect::<Vec<u8>>();
        let all: Vec<Vec<u8>> = text.split(',').map(sets).collect();
        if all.iter().any(|sets| sets.is_empty() || sets.len() > MAX_PAM || sets.contains(&0)) {
            return Err(format!("give 1 to {MAX_PAM} IUPAC letters, e.g. NGG"));
        }
        if all.iter().any(|sets| sets.len() != all[0].len()) {
            return Err("give PAMs of the same length, e.g. NGG,NAG".to_owned());
        }
        Ok(Pam { letters: text.to_ascii_uppercase(), all })
    }
}

impl fmt::Display for Pam {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.letters)
    }
}

impl Serialize for Pam {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A seed region: the letters of a pattern next to its PAM (or at its end) that may have only a few of the edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The number of letters.
    pub letters: usize,
    /// The maximum number of edits in them.
    pub edits: usize,
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Seed, String> {
        let parts = text.split_once(':');
        let numbers =
            parts.and_then(|(letters, edits)| Some((letters.parse().ok()?, edits.parse().ok()?)));
        match numbers {
            Some((letters, edits)) if letters > 0 => Ok(Seed { letters, edits }),
            _ => Err("give LETTERS:EDITS, e.g. 12:1".to_owned()),
        }
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.letters, self.edits)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The anchor of all patterns of a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Anchor {
    /// The sets of the letters that must follow a pattern; of several PAMs, the union of their sets.
    pub(crate) pam: Vec<u8>,
    /// The PAMs if there are several, one of which must follow a pattern.
    several: Vec<Vec<u8>>,
    pub(crate) seed: Option<Seed>,
}

impl Anchor {
    /// Makes the anchor of PAMs, given as sets of bases, and a seed region.
    pub(crate) fn new(pams: Vec<Vec<u8>>, seed: Option<Seed>) -> Anchor {
        let pam = union(&pams);
        Anchor { pam, several: if pams.len() > 1 { pams } else { Vec::new() }, seed }
    }

    /// Whether a PAM follows a pattern that ends at a position of a text, given as sets of bases.
    pub(crate) fn follows(&self, text: impl Iterator<Item = u8> + Clone) -> bool {
        let matches = |pam: &Vec<u8>| {
            let mut text = text.clone();
            pam.iter().all(|bases| text.next().is_some_and(|letter| bases & letter != 0))
        };
        matches(&self.pam) && (self.several.is_empty() || self.several.iter().any(matches))
    }

    /// Aligns a pattern to a text, as sets of bases, so that its last letter is at the end of the text, with the fewest
    /// edits that the seed region allows; `None` if these are more than `most`.
    pub(crate) fn align(
        &self,
        aligner: &mut Aligner,
        pattern: &[u8],
        text: &[u8],
        most: usize,
    ) -> Option<(usize, Alignment)> {
        let limit = self.seed.unwrap_or(Seed { letters: 0, edits: 0 });
        let (rest, seed) = pattern.split_at(pattern.len().saturating_sub(limit.letters));
        let longest = (seed.len() + limit.edits).min(text.len());
        let shortest = seed.len().saturating_sub(limit.edits).min(longest);
        let ways = (shortest..=longest).filter_map(|length| {
            let (before, within) = text.split_at(text.len() - length);
            let edits = aligner.edits(seed, within, Begin::Start);
            let total = edits + aligner.edits(rest, before, Begin::Anywhere);
            (edits <= limit.edits && total <= most).then_some((
                total,
                length.abs_diff(seed.len()),
                length,
            ))
        });
        let (edits, _, length) = ways.min()?;
        let (before, within) = text.split_at(text.len() - length);
        let mut alignment = aligner.align_to_end(rest, before, Begin::Anywhere);
        for (operation, count) in aligner.align_to_end(seed, within, Begin::Start).operations {
            append(&mut alignment.operations, operation, count);
        }
        alignment.end = text.len();
        Some((edits, alignment))
    }

    /// Aligns a pattern to as many letters at the end of a text; `None` if there are too many mismatches in the seed
    /// region or in all.
    pub(crate) fn align_diagonal(
        &self,
        pattern: &[u8],
        text: &[u8],
        most: usize,
    ) -> Option<(usize, Alignment)> {
        let start = text.len().checked_sub(pattern.len())?;
        let mismatches = |from: usize| {
            let pairs = pattern[from..].iter().zip(&text[start + from..]);
            pairs.filter(|(bases, letter)| *bases & *letter == 0).count()
        };
        let (all, in_seed) = (
            mismatches(0),
            self.seed
                .map(|seed| (mismatches(pattern.len().saturating_sub(seed.letters)), seed.edits)),
        );
        let is_good = all <= most && in_seed.is_none_or(|(mismatches, limit)| mismatches <= limit);
        let operations = diagonal(pattern, &text[start..]);
        is_good.then_some((all, Alignment { start, end: text.len(), operations }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_pams_are_alternatives() {
        let pam: Pam = "ngg,NAG,TTG".parse().unwrap();
        assert_eq!((pam.to_string().as_str(), pam.length()), ("NGG,NAG,TTG", 3));
        assert_eq!(pam.common_letters(), b"NDG");
        let anchor = Anchor::new(pam.sets_after(false), None);
        let follows = |text: &[u8]| anchor.follows(text.iter().map(|&letter| bases(letter)));
        for (text, expected) in [
            ("AGG", true),
            ("CAGT", true),
            ("TTG", true),
            ("CTG", false),
            ("AG", false),
            ("ACG", false),
        ] {
            assert_eq!(follows(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(pam.sets_after(true)[1], [2, 8, 15]);
        for (text, problem) in [
            ("", "give 1 to 16 IUPAC letters"),
            ("NGG,", "give 1 to 16"),
            ("NGG,XGG", "give 1 to 16"),
            ("NGG,NG", "give PAMs of the same length"),
        ] {
            let error = text.parse::<Pam>().unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
