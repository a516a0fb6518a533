//! Queries: what a scan looks for, a pattern on one strand each.

use crate::anchor::Anchor;
use crate::overhang::Overhang;
use crate::{Config, Error, Pattern};

/// A pattern on one strand.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) pattern: usize,
    pub(crate) reverse: bool,
    /// Whether the query is scanned in the reverse complement of the text.
    pub(crate) in_complement: bool,
    /// The set of bases of each letter, in the direction of the scan.
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
    /// The letters that follow a query, if queries are anchored.
    anchor: Option<Anchor>,
    overhang: Option<Overhang>,
}

impl Queries {
    /// Makes the queries of patterns.
    ///
    /// # Errors
    /// If a pattern has no more letters than it may have edits: it would match everywhere.
    pub(crate) fn new(config: &Config, patterns: &[Pattern]) -> Result<Queries, Error> {
        config.validate()?;
        let pam = config.pam.as_ref().map(|pam| pam.sets_after(config.pam_first));
        let anchor = Anchor::new(pam.unwrap_or_default(), config.seed);
        let mut queries = Queries {
            hamming: config.hamming,
            n_matches: config.n_matches,
            every_end: config.all_ends || config.hamming || config.is_anchored(),
            anchor: config.is_anchored().then_some(anchor),
            overhang: config.overhang.map(Overhang),
            ..Queries::default()
        };
        for (number, pattern) in patterns.iter().enumerate() {
            let edits = config.threshold.edits(pattern.letters().len());
            if edits >= pattern.letters().len() {
                let length = pattern.letters().len();
                let problem = format!(
                    "with {edits} edits its {length} letters match everywhere: give fewer edits (`threshold`)"
                );
                return Err(pattern.error(problem));
            }
            for reverse in [false, true] {
                if config.strand.searches(reverse) {
                    queries.push(number, pattern, reverse, config.pam_first, edits);
                }
            }
        }
        Ok(queries)
    }

    fn push(
        &mut self,
        number: usize,
        pattern: &Pattern,
        reverse: bool,
        pam_first: bool,
        edits: usize,
    ) {
        let in_complement = self.anchor.is_some() && reverse != pam_first;
        let sets = match reverse != in_complement {
            true => pattern.reverse_sets(),
            false => pattern.sets().to_vec(),
        };
        sets.iter().for_each(|&bases| self.sets |= 1 << bases);
        self.reach = self.reach.max(sets.len() + edits);
        self.most_edits = self.most_edits.max(edits);
        self.all.push(Query { pattern: number, reverse, in_complement, sets, edits });
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

    /// Returns what must follow each query, if queries are anchored.
    pub(crate) fn anchor(&self) -> Option<&Anchor> {
        self.anchor.as_ref()
    }

    /// Returns the number of letters of the PAM.
    pub(crate) fn pam_letters(&self) -> usize {
        self.anchor.as_ref().map_or(0, |anchor| anchor.pam.len())
    }

    /// Returns the numbers of the queries that are scanned in the reverse complement of the text, or of the others.
    pub(crate) fn numbers(&self, in_complement: bool) -> impl Iterator<Item = u32> {
        let queries = (0..).zip(&self.all);
        queries.filter(move |one| one.1.in_complement == in_complement).map(|(number, _)| number)
    }

    /// Whether any query is scanned in the reverse complement of the text, or in the text itself.
    pub(crate) fn scans(&self, in_complement: bool) -> bool {
        self.all.iter().any(|query| query.in_complement == in_complement)
    }

    /// Returns the cost of letters outside a text, if patterns may extend beyond it.
    pub(crate) fn overhang(&self) -> Option<Overhang> {
        self.overhang
    }
}
