//! The search of one thread: from texts to places, in both directions if patterns are anchored.

use merganser_seq::simd::Level;

use crate::letters::complement_letter;
use crate::overhang::ends_after;
use crate::places::{Decider, Overlap, Places};
use crate::queries::Queries;
use crate::scan::{Piece, PieceEnd, Scanner};

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
    scanner: Scanner,
    decider: Decider,
    ends: Vec<PieceEnd>,
}

impl<'q> Searcher<'q> {
    pub(crate) fn new(queries: &'q Queries) -> Searcher<'q> {
        Searcher {
            queries,
            overlap: Overlap::of(queries),
            scanner: Scanner::new(Level::best()),
            decider: Decider::default(),
            ends: Vec::new(),
        }
    }

    /// Returns the places of all queries in each text; `None` if there are more than `most` ends.
    pub(crate) fn places(&mut self, texts: &[Text<'_>], most: usize) -> Option<Vec<Places>> {
        self.ends.clear();
        let complements: Vec<Vec<u8>> = match self.queries.scans(true) {
            true => texts.iter().map(|text| reverse_complement(text.letters)).collect(),
            false => Vec::new(),
        };
        let forward = texts.iter().map(|text| self.overlap.forward(text));
        let forward: Vec<Piece<'_>> = forward.collect();
        let backward = texts.iter().zip(&complements);
        let backward: Vec<Piece<'_>> =
            backward.map(|(text, letters)| self.overlap.backward(text, letters)).collect();
        for (pieces, in_complement) in [(&forward, false), (&backward, true)] {
            let (queries, ends) = (self.queries, &mut self.ends);
            if queries.scans(in_complement)
                && !self.scanner.scan(pieces, queries, in_complement, most, ends)
            {
                return None;
            }
        }
        self.add_overhangs(texts);
        self.ends.sort_unstable();
        let mut rest = &self.ends[..];
        let places = texts.iter().enumerate().map(|(at, text)| {
            let count = rest.partition_point(|end| end.piece as usize <= at);
            let (ends, others) = rest.split_at(count);
            rest = others;
            let directions = [Some(&forward[at]), backward.get(at)];
            self.decider.decide(self.queries, directions, ends, text.goes_on)
        });
        Some(places.collect())
    }
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
