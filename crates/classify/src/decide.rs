//! From candidates to a taxon.

use crate::candidates::{Candidate, QueryParams};
use crate::config::as_percent;
use crate::params::{FULL_DENSITY, Params, Preset};
use merganser_taxonomy::{Rank, Taxonomy};
use serde::Serialize;

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

/// How a taxon is chosen among candidates; its fields have the names of the options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Thresholds {
    /// The lowest rank at which candidates are told apart.
    pub lowest: Rank,
    /// A verdict above this rank is none.
    pub highest: Rank,
    /// Candidates at most, at least 1.
    pub max_cand: usize,
    /// Hits that the best candidate needs.
    pub hitmin: u32,
    /// Hits that it needs for each 1,000 bases of the read or pair, rounded down; the larger of
    /// both counts.
    pub hitmin_per_kb: u32,
    /// Hits more that the best candidate needs if there is another one: reads of what is in no reference have
    /// their hits in genes that many taxa have, while those with errors have the few that they have in one.
    pub hitmin_contested: u32,
    /// Per mille of the hits of the best candidate, less `hitmin` of them if the preset is
    /// MetaCache's, that another candidate must exceed to take part in the verdict.
    #[serde(serialize_with = "as_percent")]
    pub hitdiff: u32,
    /// Whether `hitmin` is taken off before `hitdiff` is applied.
    #[serde(skip)]
    pub above_minimum: bool,
    /// The longest insert of a pair, in bases; 0: the sum of the mates' lengths.
    pub insert: u64,
    /// Candidates that have fewer hits than the best one by less than this are pooled: of their taxa,
    /// those take part in the verdict whose targets together have the most features of the read.
    /// 0: candidates are what their best target has.
    pub near: u32,
    /// The share of a read's features that must be in the clade of its taxon, 0 to 1: the taxon is moved up
    /// until they are. A feature is of the lowest common ancestor of all targets that have it; those of no
    /// target count as well. (Kraken 2's confidence, of features in place of k-mers.)
    pub confidence: f64,
}

impl Thresholds {
    /// The preset's thresholds for a database of these parameters.
    pub fn new(params: &Params) -> Thresholds {
        match params.preset {
            Preset::MetaCache => Thresholds {
                lowest: Rank::Sequence,
                highest: Rank::Domain,
                max_cand: 2,
                // MetaCache's rule for `-hitmin 0` (its `options.cpp`).
                hitmin: match params.sketch {
                    6.. => params.sketch / 3,
                    4..=5 => 2,
                    _ => 1,
                },
                hitmin_per_kb: 0,
                hitmin_contested: 0,
                hitdiff: 1000,
                above_minimum: true,
                insert: 0,
                near: 0,
                confidence: 0.0,
            },
            Preset::Sensitive => Thresholds {
                lowest: Rank::Species,
                highest: Rank::Domain,
                max_cand: 8,
                hitmin: 5,
                hitmin_per_kb: 0,
                hitmin_contested: 1,
                hitdiff: 999,
                above_minimum: false,
                insert: 0,
                // What a substitution takes away, on average: k k-mers, of which so many are features.
                near: (params.k * params.density).div_ceil(FULL_DENSITY),
                confidence: 0.0,
            },
        }
    }

    /// What of them a query for candidates needs to know.
    pub fn query_params(&self) -> QueryParams {
        let &Thresholds { lowest, max_cand, insert, near, .. } = self;
        QueryParams { lowest, max_candidates: max_cand, insert, near }
    }

    /// Hits that the best of the candidates of a read or pair of `bases` needs.
    pub fn needed(&self, candidates: &[Candidate], bases: u64) -> u32 {
        let by_length = bases.saturating_mul(self.hitmin_per_kb.into()) / 1000;
        let alone = self.hitmin.max(u32::try_from(by_length).unwrap_or(u32::MAX));
        alone.saturating_add(if candidates.len() > 1 { self.hitmin_contested } else { 0 })
    }

    /// Decides among `candidates`, which are in order: hits descending, then target. MetaCache's
    /// rule (its `classification.cpp`): the lowest common ancestor with a rank of the best
    /// candidate and those after it while they exceed the threshold; nothing if the best has too
    /// few hits or the ancestor is above the highest rank. Where candidates were pooled, the threshold is
    /// that of their pooled features. Where the lineages of all of them have no main rank, it is the
    /// lowest common ancestor itself, unless that is the root.
    pub fn decide(
        &self,
        candidates: &[Candidate],
        bases: u64,
        taxonomy: &Taxonomy,
        target_nodes: &[u32],
    ) -> Verdict {
        let needed = self.needed(candidates, bases);
        if candidates.first().is_none_or(|best| best.hits < needed) {
            return Verdict::Unclassified;
        }
        let mut close = self.taking_part(candidates, needed);
        let node_of = |candidate: &Candidate| match self.lowest {
            Rank::Sequence => target_nodes[candidate.target as usize],
            _ => candidate.taxon,
        };
        let Some(first) = close.next() else { return Verdict::Unclassified };
        let mut alone = true;
        let common = close.fold(node_of(first), |node, other| {
            alone = false;
            taxonomy.lca(node, node_of(other))
        });
        if alone && self.lowest == Rank::Sequence && common != taxonomy.root() {
            return Verdict::Target(first.target);
        }
        self.at_rank(common, taxonomy, || {
            let mut nodes = self.taking_part(candidates, needed).map(node_of);
            nodes.all(|node| node == common || !taxonomy.has_main_rank(node))
        })
    }

    /// The verdict for a node: its nearest ancestor with a rank; none if that is above the highest. The
    /// node itself, if its lineage has no main rank and `stands_for_itself` says so.
    fn at_rank(
        &self,
        node: u32,
        taxonomy: &Taxonomy,
        stands_for_itself: impl FnOnce() -> bool,
    ) -> Verdict {
        if node != taxonomy.root() && !taxonomy.has_main_rank(node) && stands_for_itself() {
            return Verdict::Taxon(node);
        }
        let ranked = taxonomy.ranked(node);
        match taxonomy.rank(ranked) > self.highest {
            true => Verdict::Unclassified,
            false => Verdict::Taxon(ranked),
        }
    }

    /// The verdict with the confidence that is asked for, where the features of the read stand for these
    /// `nodes` (each with their number; of all `features`), if one is: the taxon or its nearest ancestor in
    /// whose clade there are enough; none if there is no such or it is above the highest rank.
    pub(crate) fn confirm(
        &self,
        verdict: Verdict,
        clades: Option<(&[(u32, u32)], u64)>,
        taxonomy: &Taxonomy,
        target_nodes: &[u32],
    ) -> Verdict {
        let Some((nodes, features)) = clades else { return verdict };
        let node = match verdict {
            Verdict::Unclassified => return verdict,
            Verdict::Target(target) => target_nodes[target as usize],
            Verdict::Taxon(node) => node,
        };
        // As Kraken 2 rounds.
        let needed = (self.confidence * features as f64).ceil() as u64;
        let in_clade = |above: u32| -> u64 {
            let own = nodes.iter().filter(|(node, _)| taxonomy.lca(*node, above) == above);
            own.map(|&(_, count)| u64::from(count)).sum()
        };
        match taxonomy.lineage(node).find(|&above| in_clade(above) >= needed) {
            None => Verdict::Unclassified,
            Some(found) if found == node => verdict,
            Some(above) => self.at_rank(above, taxonomy, || !taxonomy.has_main_rank(node)),
        }
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
        // Of a single candidate, nobody knows what came second.
        let first = others.first().map_or(self.max_cand > 1, |other| other.hits < best.hits);
        let mut close = self.taking_part(candidates, self.needed(candidates, bases));
        let alone = first && close.next() == Some(best) && close.next().is_none();
        let [low, high] = best.nodes;
        Some(if alone && best.taxon == taxon { taxonomy.lca(low, high) } else { taxon })
    }

    /// The candidates that take part in the verdict: of those near the best one, or close to it, the ones
    /// that are close to the most that any of them has with all targets of its taxon.
    fn taking_part<'c>(
        &self,
        candidates: &'c [Candidate],
        needed: u32,
    ) -> impl Iterator<Item = &'c Candidate> {
        let most = candidates.first().map_or(0, |best| best.hits);
        let is_near = |one: &Candidate| {
            one.hits.saturating_add(self.near) > most || self.is_close(most, one.hits, needed)
        };
        let near = candidates.iter().skip(1).take_while(|one| is_near(one)).count() + 1;
        let near = &candidates[..near.min(candidates.len())];
        let top = near.iter().map(|one| one.pooled).max().unwrap_or(0);
        let winner = near.iter().position(|one| one.pooled == top);
        let rule = *self;
        let close = move |&(at, one): &(usize, &Candidate)| {
            Some(at) == winner || rule.is_close(top, one.pooled, needed)
        };
        near.iter().enumerate().filter(close).map(|(_, one)| one)
    }

    /// Whether a candidate with `hits` takes part beside one with `most`. In integers, so that
    /// all backends agree.
    fn is_close(&self, most: u32, hits: u32, needed: u32) -> bool {
        let base = if self.above_minimum { most.saturating_sub(needed) } else { most };
        u64::from(hits) * 1000 > u64::from(base) * u64::from(self.hitdiff)
    }
}
