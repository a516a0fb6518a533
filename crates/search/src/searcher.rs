//! The search of one thread: from texts to places, in both directions if patterns are anchored.

use merganser_seq::simd::Level;

use crate::letters::{complement_letter, text_bases};
use crate::overhang::ends_after;
use crate::places::{Decider, Overlap, Places};
use crate::queries::{Queries, Query};
use crate::scan::{Piece, PieceEnd};
use crate::seeds::{Finder, Seeds};
use crate::select::End;

/// A text, or a stretch of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'t> {
    pub(crate) letters: &'t [u8],
    /// Whether the sequence has letters before the text, and after it.
    pub(crate) goes_on: [bool; 2],
}

/// The working memory of a search.
#[derive(Debug)]
pub(crate) struct Searcher<'q> {
    queries: &'q Queries,
    overlap: Overlap,
    finder: Finder<'q>,
    decider: Decider,
    ends: Vec<PieceEnd>,
}

impl<'q> Searcher<'q> {
    /// Returns a searcher of queries, some of which may be found by seeds.
    pub(crate) fn new(queries: &'q Queries, seeds: Option<&'q Seeds>) -> Searcher<'q> {
        Searcher {
            queries,
            overlap: Overlap::of(queries),
            finder: Finder::new(Level::best(), queries, seeds),
            decider: Decider::default(),
            ends: Vec::new(),
        }
    }

    /// Returns the places of all queries in each text; `None` if there are more than `most` ends.
    pub(crate) fn places(&mut self, texts: &[Text<'_>], most: usize) -> Option<Vec<Places>> {
        self.ends.clear();
        let complements = self.complements(texts);
        let pieces = self.pieces(texts, &complements);
        for in_complement in [false, true] {
            let ends = &mut self.ends;
            let pieces = &pieces[usize::from(in_complement)];
            if self.queries.scans(in_complement)
                && !self.finder.find(pieces, in_complement, most, ends)
            {
                return None;
            }
        }
        self.add_overhangs(texts);
        Some(self.decide(texts, &pieces))
    }

    /// Returns the same as [`places`](Self::places), from the ends with edits of each direction, which a device has found.
    pub(crate) fn places_of(
        &mut self,
        texts: &[Text<'_>],
        ends: [&[PieceEnd]; 2],
        most: usize,
    ) -> Option<Vec<Places>> {
        self.ends.clear();
        let complements = self.complements(texts);
        let pieces = self.pieces(texts, &complements);
        for (ends, pieces) in ends.into_iter().zip(&pieces) {
            let first = self.ends.len();
            match self.queries.hamming() {
                false => self.ends.extend_from_slice(ends),
                true => {
                    let ends = ends.iter();
                    self.ends.extend(ends.filter_map(|end| on_diagonal(self.queries, pieces, end)));
                }
            }
            if self.ends.len() - first > most {
                return None;
            }
        }
        Some(self.decide(texts, &pieces))
    }

    /// Returns the reverse complements of texts, if any query is scanned in them.
    pub(crate) fn complements(&self, texts: &[Text<'_>]) -> Vec<Vec<u8>> {
        match self.queries.scans(true) {
            true => texts.iter().map(|text| reverse_complement(text.letters)).collect(),
            false => Vec::new(),
        }
    }

    /// Returns the pieces of texts, and those of their reverse complements.
    pub(crate) fn pieces<'t>(
        &self,
        texts: &[Text<'t>],
        complements: &'t [Vec<u8>],
    ) -> [Vec<Piece<'t>>; 2] {
        let overlap = self.overlap;
        let backward = texts.iter().zip(complements);
        [
            texts.iter().map(|text| overlap.forward(text)).collect(),
            backward.map(|(text, letters)| overlap.backward(text, letters)).collect(),
        ]
    }

    /// Decides the ends of all texts.
    fn decide(&mut self, texts: &[Text<'_>], pieces: &[Vec<Piece<'_>>; 2]) -> Vec<Places> {
        self.ends.sort_unstable();
        let mut rest = &self.ends[..];
        let places = texts.iter().enumerate().map(|(at, text)| {
            let count = rest.partition_point(|end| end.piece as usize <= at);
            let (ends, others) = rest.split_at(count);
            rest = others;
            let directions = [pieces[0].get(at), pieces[1].get(at)];
            self.decider.decide(self.queries, directions, ends, text.goes_on)
        });
        places.collect()
    }
}

/// Returns an end with its mismatches instead of its edits, unless these are more than its query may have.
fn on_diagonal(queries: &Queries, pieces: &[Piece<'_>], end: &PieceEnd) -> Option<PieceEnd> {
    let Query { sets, edits: most, .. } = &queries.all()[end.query as usize];
    let position = end.end.position;
    let start = position.checked_sub(sets.len())?;
    let letters = &pieces[end.piece as usize].letters[start..position];
    let is_mismatch =
        |(set, &letter): (&u8, &u8)| set & text_bases(letter, queries.n_matches()) == 0;
    let edits = sets.iter().zip(letters).filter(|&pair| is_mismatch(pair)).count();
    (edits <= *most).then_some(PieceEnd { end: End { position, edits }, ..*end })
}

impl Searcher<'_> {
    /// Adds the ends after the last letters of texts, if patterns may extend beyond them.
    fn add_overhangs(&mut self, texts: &[Text<'_>]) {
        let queries = self.queries;
        let Some(overhang) = queries.overhang() else { return };
        for text in (0..).zip(texts).filter(|(_, text)| !text.goes_on[1]) {
            for query in (0..).zip(queries.all()) {
                ends_after(queries, overhang, query, text, &mut self.ends);
            }
        }
    }
}

/// Returns the letters of the reverse complement, in upper case.
pub(crate) fn reverse_complement(letters: &[u8]) -> Vec<u8> {
    letters.iter().rev().map(|&letter| complement_letter(letter)).collect()
}
