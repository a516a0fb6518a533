//! Queries: what a scan looks for, a pattern on one strand each.

use crate::{Config, Error, Pattern};

/// A pattern on one strand.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) pattern: usize,
    pub(crate) reverse: bool,
    /// The set of bases of each letter, in the direction of the text.
    pub(crate) sets: Vec<u8>,
    /// The maximum number of edits.
    pub(crate) edits: usize,
}

/// All queries of a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queries {
    all: Vec<Query>,
    sets: u16,
    reach: usize,
    most_edits: usize,
    hamming: bool,
    n_matches: bool,
    every_end: bool,
}

impl Queries {
    /// Makes the queries of patterns.
    ///
    /// # Errors
    /// If a pattern has no more letters than it may have edits: it would match everywhere.
    pub(crate) fn new(config: &Config, patterns: &[Pattern]) -> Result<Queries, Error> {
        let mut queries = Queries {
            hamming: config.hamming,
            n_matches: config.n_matches,
            every_end: config.all_ends || config.hamming,
            ..Queries::default()
        };
        for (number, pattern) in patterns.iter().enumerate() {
            let edits = config.threshold.edits(pattern.letters().len());
            if edits >= pattern.letters().len() {
                let length = pattern.letters().len();
                let problem = format!(
                    "with {edits} edits its {length} letters match everywhere: give fewer edits (-e)"
                );
                return Err(Error::Pattern { name: pattern.name().to_owned(), problem });
            }
            for reverse in [false, true] {
                if config.strand.searches(reverse) {
                    queries.push(number, pattern, reverse, edits);
                }
            }
        }
        Ok(queries)
    }

    fn push(&mut self, number: usize, pattern: &Pattern, reverse: bool, edits: usize) {
        let sets = if reverse { pattern.reverse_sets() } else { pattern.sets().to_vec() };
        sets.iter().for_each(|&bases| self.sets |= 1 << bases);
        self.reach = self.reach.max(sets.len() + edits);
        self.most_edits = self.most_edits.max(edits);
        self.all.push(Query { pattern: number, reverse, sets, edits });
    }

    pub(crate) fn all(&self) -> &[Query] {
        &self.all
    }

    /// Returns the sets of bases that occur in any query: bit s for set s.
    pub(crate) fn sets(&self) -> u16 {
        self.sets
    }

    /// Returns the maximum number of letters of an alignment.
    pub(crate) fn reach(&self) -> usize {
        self.reach
    }

    /// Returns the maximum number of edits of any query.
    pub(crate) fn most_edits(&self) -> usize {
        self.most_edits
    }

    pub(crate) fn hamming(&self) -> bool {
        self.hamming
    }

    pub(crate) fn n_matches(&self) -> bool {
        self.n_matches
    }

    /// Whether every end is a hit; otherwise, hits silence other ends near them.
    pub(crate) fn every_end(&self) -> bool {
        self.every_end
    }
}
