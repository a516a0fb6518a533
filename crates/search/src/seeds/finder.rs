//! All ends of all queries in pieces of texts: by seeds, and by the bit-sliced kernels.

use merganser_seq::simd::Level;

use super::Seeds;
use super::seeker::Seeker;
use crate::queries::Queries;
use crate::scan::{Part, Piece, PieceEnd, Scanner, is_anchored};

/// A finder with its working memory.
#[derive(Debug)]
pub(crate) struct Finder<'q> {
    queries: &'q Queries,
    seeds: Option<&'q Seeds>,
    /// The numbers of the queries of each direction that are not found by seeds.
    others: [Vec<u32>; 2],
    scanner: Scanner,
    seeker: Seeker,
}

impl<'q> Finder<'q> {
    pub(crate) fn new(level: Level, queries: &'q Queries, seeds: Option<&'q Seeds>) -> Finder<'q> {
        let others = [false, true].map(|in_complement| {
            let set = seeds.and_then(|seeds| seeds.set(in_complement));
            let by_seeds = |number: &u32| set.is_some_and(|set| set.queries.contains(number));
            queries.numbers(in_complement).filter(|number| !by_seeds(number)).collect()
        });
        let seeker = Seeker::new(level, queries.n_matches());
        Finder { queries, seeds, others, scanner: Scanner::new(level), seeker }
    }

    /// Appends the ends in some pieces of all queries that are scanned in the complement of the text, or of the others.
    /// Returns `false`, with some of the ends, if there are more than `most`.
    pub(crate) fn find(
        &mut self,
        pieces: &[Piece<'_>],
        in_complement: bool,
        most: usize,
        ends: &mut Vec<PieceEnd>,
    ) -> bool {
        let others = &self.others[usize::from(in_complement)];
        let first = ends.len();
        if !self.scanner.scan(pieces, &Part::all(pieces), self.queries, others, most, ends) {
            return false;
        }
        let Some(set) = self.seeds.and_then(|seeds| seeds.set(in_complement)) else { return true };
        let mut parts = Vec::new();
        for (number, piece) in pieces.iter().enumerate() {
            let (found, left) = self.seeker.scan(set, self.queries, piece);
            let end = |&(query, end)| PieceEnd { piece: number as u32, query, end };
            let found = found.iter().map(end);
            ends.extend(found.filter(|end| is_anchored(self.queries, pieces, end)));
            let part = |ends| Part { piece: number, ends };
            parts.extend(left.iter().cloned().map(part));
            if ends.len() - first > most {
                return false;
            }
        }
        let most = most - (ends.len() - first);
        parts.is_empty()
            || self.scanner.scan(pieces, &parts, self.queries, &set.queries, most, ends)
    }
}
