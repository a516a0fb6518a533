//! Anchored patterns: guides next to a PAM, which must match exactly, and seed regions with a limit of their own.
//!
//! A guide is scanned in the direction in which its PAM follows it, so the PAM fixes the end of its alignment: the
//! reverse complement of the text is scanned as well, with the same letters. Where the PAM comes first (Cas12a), the
//! reverse complements of guide and PAM are scanned, and the strands change places.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::align::{Aligner, Alignment, Begin, append, diagonal};
use crate::letters::{bases, reverse_complement};

/// The maximum number of letters of a PAM.
const MAX_PAM: usize = 16;

/// A protospacer adjacent motif: IUPAC letters that a text must have next to a guide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pam {
    letters: String,
    sets: Vec<u8>,
}

impl Pam {
    /// Returns the sets of bases in the direction in which the PAM follows the guide.
    pub(crate) fn sets_after(&self, comes_first: bool) -> Vec<u8> {
        if comes_first { reverse_complement(&self.sets) } else { self.sets.clone() }
    }
}

impl FromStr for Pam {
    type Err = String;

    fn from_str(text: &str) -> Result<Pam, String> {
        let sets: Vec<u8> = text.bytes().map(bases).collect();
        if sets.is_empty() || sets.len() > MAX_PAM || sets.contains(&0) {
            return Err(format!("give 1 to {MAX_PAM} IUPAC letters, e.g. NGG"));
        }
        Ok(Pam { letters: text.to_ascii_uppercase(), sets })
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
    /// The sets of the letters that must follow a pattern.
    pub(crate) pam: Vec<u8>,
    pub(crate) seed: Option<Seed>,
}

impl Anchor {
    /// Whether the PAM follows a pattern that ends at a position of a text, given as sets of bases.
    pub(crate) fn follows(&self, text: impl Iterator<Item = u8>) -> bool {
        let mut text = text;
        self.pam.iter().all(|bases| text.next().is_some_and(|letter| bases & letter != 0))
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
