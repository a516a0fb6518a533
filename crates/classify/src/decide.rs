//! From candidates to a taxon.

use crate::candidates::{Candidate, QueryParams};
use crate::params::{Params, Preset};
use crate::taxonomy::{Rank, Taxonomy};

/// What a read was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No candidate is good enough, or those that are have too little in common.
    Unclassified,
    /// This very target (only if the lowest rank is sequence).
    Target(u32),
    /// A node of the taxonomy.
    Taxon(u32),
}

/// How a taxon is chosen among candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The lowest rank at which candidates are told apart.
    pub lowest: Rank,
    /// A verdict above this rank is none.
    pub highest: Rank,
    /// Candidates at most, at least 1.
    pub max_candidates: usize,
    /// Hits that the best candidate needs.
    pub min_hits: u32,
    /// Hits that it needs for each 1,000 bases of the read or pair, rounded down; the larger of
    /// both counts.
    pub min_hits_per_kb: u32,
    /// Per mille of the hits of the best candidate, less `min_hits` of them if the preset is
    /// MetaCache's, that another candidate must exceed to take part in the verdict.
    pub hit_diff: u32,
    /// Whether `min_hits` is taken off before `hit_diff` is applied.
    pub above_minimum: bool,
    /// The longest insert of a pair, in bases; 0: the sum of the mates' lengths.
    pub insert: u64,
}

impl Thresholds {
    /// The preset's thresholds for a database of these parameters.
    pub fn new(params: &Params) -> Thresholds {
        match params.preset {
            Preset::MetaCache => Thresholds {
                lowest: Rank::Sequence,
                highest: Rank::Domain,
                max_candidates: 2,
                // MetaCache's rule for `-hitmin 0` (its `options.cpp`).
                min_hits: match params.sketch {
                    6.. => params.sketch / 3,
                    4..=5 => 2,
                    _ => 1,
                },
                min_hits_per_kb: 0,
                hit_diff: 1000,
                above_minimum: true,
                insert: 0,
            },
            Preset::Sensitive => Thresholds {
                lowest: Rank::Species,
                highest: Rank::Domain,
                max_candidates: 8,
                min_hits: 5,
                min_hits_per_kb: 0,
                hit_diff: 999,
                above_minimum: false,
                insert: 0,
            },
        }
    }

    /// What of them a query for candidates needs to know.
    pub fn query_params(&self) -> QueryParams {
        let &Thresholds { lowest, max_candidates, insert, .. } = self;
        QueryParams { lowest, max_candidates, insert }
    }

    /// Hits that the best candidate of a read or pair of `bases` needs.
    pub fn needed(&self, bases: u64) -> u32 {
        let by_length = bases.saturating_mul(self.min_hits_per_kb.into()) / 1000;
        self.min_hits.max(u32::try_from(by_length).unwrap_or(u32::MAX))
    }

    /// Decides among `candidates`, which are in order: hits descending, then target. MetaCache's
    /// rule (its `classification.cpp`): the lowest common ancestor with a rank of the best
    /// candidate and those after it while they exceed the threshold; nothing if the best has too
    /// few hits or the ancestor is above the highest rank.
    pub fn decide(
        &self,
        candidates: &[Candidate],
        bases: u64,
        taxonomy: &Taxonomy,
        target_nodes: &[u32],
    ) -> Verdict {
        let Some((best, others)) = candidates.split_first() else { return Verdict::Unclassified };
        let needed = self.needed(bases);
        if best.hits < needed {
            return Verdict::Unclassified;
        }
        let mut close = others
            .iter()
            .take_while(|other| self.is_close(best.hits, other.hits, needed))
            .peekable();
        let node_of = |candidate: &Candidate| match self.lowest {
            Rank::Sequence => target_nodes[candidate.target as usize],
            _ => candidate.taxon,
        };
        let alone = close.peek().is_none();
        let common = close.fold(node_of(best), |node, other| taxonomy.lca(node, node_of(other)));
        if alone && self.lowest == Rank::Sequence && common != taxonomy.root() {
            return Verdict::Target(best.target);
        }
        let ranked = taxonomy.ranked(common);
        if taxonomy.rank(ranked) > self.highest {
            return Verdict::Unclassified;
        }
        Verdict::Taxon(ranked)
    }

    /// The node at which Kraken's report counts a read of this verdict. Below the lowest rank, too,
    /// as Kraken counts reads that one strain alone has: if the best candidate has more hits than all
    /// others, and the verdict is its taxon, the lowest common ancestor of the targets that have them.
    /// (Bracken needs the reads of the taxa that genomes were given: from their number, and not from
    /// their species', it estimates whose the reads of higher taxa are.)
    pub(crate) fn counted_at(
        &self,
        verdict: Verdict,
        candidates: &[Candidate],
        bases: u64,
        taxonomy: &Taxonomy,
        target_nodes: &[u32],
    ) -> Option<u32> {
        let taxon = match verdict {
            Verdict::Unclassified => return None,
            Verdict::Target(target) => return Some(target_nodes[target as usize]),
            Verdict::Taxon(taxon) => taxon,
        };
        let Some((best, others)) = candidates.split_first() else { return Some(taxon) };
        let needed = self.needed(bases);
        // Of a single candidate, nobody knows what came second.
        let alone = others.first().map_or(self.max_candidates > 1, |other| {
            other.hits < best.hits && !self.is_close(best.hits, other.hits, needed)
        });
        let [low, high] = best.nodes;
        Some(if alone && best.taxon == taxon { taxonomy.lca(low, high) } else { taxon })
    }

    /// Whether a candidate with `hits` takes part beside one with `most`. In integers, so that
    /// all backends agree.
    fn is_close(&self, most: u32, hits: u32, needed: u32) -> bool {
        let base = if self.above_minimum { most.saturating_sub(needed) } else { most };
        u64::from(hits) * 1000 > u64::from(base) * u64::from(self.hit_diff)
    }
}
