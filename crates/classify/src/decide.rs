//! Chooses a taxon among candidates.

use crate::candidates::{Candidate, QueryParams};
use crate::config::as_percent;
use crate::params::{FULL_DENSITY, Params, Preset};
use merganser_taxonomy::{Rank, Taxonomy};
use serde::Serialize;

/// The result for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No candidate has enough hits, or the common ancestor of those that do is above the highest rank.
    Unclassified,
    /// A single target (only if the lowest rank is sequence).
    Target(u32),
    /// A node of the taxonomy.
    Taxon(u32),
}

/// The thresholds for choosing a taxon among candidates. Fields have the names of the command-line options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Thresholds {
    /// The lowest rank at which taxa are distinguished.
    pub lowest: Rank,
    /// The highest rank of a verdict; a read whose taxon is above it is unclassified.
    pub highest: Rank,
    /// The maximum number of candidates, at least 1.
    pub max_cand: usize,
    /// The minimum hits of the best candidate.
    pub hitmin: u32,
    /// The minimum hits of the best candidate per 1,000 bases of the read or pair, rounded down. The larger of the
    /// two minima applies.
    pub hitmin_per_kb: u32,
    /// Additional hits that the best candidate needs if there is a second candidate: reads from genomes without a
    /// reference have their hits in genes that many taxa share, whereas reads with errors have few hits in a single
    /// taxon.
    pub hitmin_contested: u32,
    /// The fraction of the best candidate's hits, in per mille, that another candidate must exceed to be considered.
    /// With MetaCache's preset, the [required minimum](Self::needed) is subtracted from the best candidate's hits
    /// first.
    #[serde(serialize_with = "as_percent")]
    pub hitdiff: u32,
    /// Whether the [required minimum](Self::needed) is subtracted before `hitdiff` is applied.
    #[serde(skip)]
    pub above_minimum: bool,
    /// The longest insert of a pair, in bases; 0: the sum of the mates' lengths.
    pub insert: u64,
    /// Candidates that are fewer than this number of hits behind the best one are pooled: of their taxa, only those
    /// whose targets together have the most features of the read are considered. 0: no pooling; a candidate has the
    /// hits of its best target. A near candidate of another family is considered, too, unless the read
    /// is much farther from it.
    pub near: u32,
    /// Kraken 2's confidence, 0 to 1: the taxon is moved up until the features of its clade cover enough of the
    /// read's bases.
    pub confidence: f64,
    /// The number of features to expect of a read.
    #[serde(skip)]
    pub expected: ExpectedFeatures,
}

/// The number of features that reads of a given length have on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedFeatures {
    k: u32,
    /// The features of a full window.
    features: u32,
    /// The k-mers of a full window.
    kmers: u32,
}

impl ExpectedFeatures {
    fn new(params: &Params) -> ExpectedFeatures {
        let kmers = params.window.saturating_sub(params.k) + 1;
        let features = params.sketch.min(kmers * params.density / FULL_DENSITY);
        ExpectedFeatures { k: params.k, features, kmers }
    }

    /// Returns the features to expect of a read of `bases`; for a pair, with the k-mers across its mates.
    fn of(self, bases: u64) -> u64 {
        let kmers = (bases + 1).saturating_sub(self.k.into());
        kmers.saturating_mul(self.features.into()) / u64::from(self.kmers)
    }
}

impl Thresholds {
    /// Returns the preset's thresholds for a database with these parameters.
    pub fn new(params: &Params) -> Thresholds {
        let expected = ExpectedFeatures::new(params);
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
                expected,
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
                // The features that one substitution destroys, on average: k k-mers times the density.
                near: (params.k * params.density).div_ceil(FULL_DENSITY),
                confidence: 0.0,
                expected,
            },
        }
    }

    /// Returns the parameters of a query for candidates.
    pub fn query_params(&self) -> QueryParams {
        let &Thresholds { lowest, max_cand, insert, near, .. } = self;
        QueryParams { lowest, max_candidates: max_cand, insert, near }
    }

    /// Returns the number of hits that the best candidate of a read or pair of `bases` needs.
    pub fn needed(&self, candidates: &[Candidate], bases: u64) -> u32 {
        let by_length = bases.saturating_mul(self.hitmin_per_kb.into()) / 1000;
        let alone = self.hitmin.max(u32::try_from(by_length).unwrap_or(u32::MAX));
        alone.saturating_add(if candidates.len() > 1 { self.hitmin_contested } else { 0 })
    }

    /// Decides among `candidates`, which must be ordered by hits (descending), then target.
    ///
    /// This is MetaCache's rule (its `classification.cpp`): the lowest common ancestor with a rank of the best
    /// candidate and those after it that exceed the threshold. A read is unclassified if the best candidate has too
    /// few hits or the ancestor is above the highest rank. Pooled candidates are compared by their pooled features;
    /// near ones of another family are considered unless the read is much farther from them.
    /// If no lineage of the candidates has a main rank, the result is the lowest common ancestor itself, unless
    /// that is the root.
    pub fn decide(
        &self,
        candidates: &[Candidate],
        bases: u64,
        taxonomy: &Taxonomy,
        target_nodes: &[u32],
    ) -> Verdict {
        self.decide_among(candidates, bases, taxonomy, target_nodes).0
    }

    /// Decides as [`decide`](Self::decide), and returns whether only the best candidate was considered.
    pub(crate) fn decide_among(
        &self,
        candidates: &[Candidate],
        bases: u64,
        taxonomy: &Taxonomy,
        target_nodes: &[u32],
    ) -> (Verdict, bool) {
        let needed = self.needed(candidates, bases);
        let Some(best) = candidates.first().filter(|best| best.hits >= needed) else {
            return (Verdict::Unclassified, false);
        };
        let node_of = |candidate: &Candidate| match self.lowest {
            Rank::Sequence => target_nodes[candidate.target as usize],
            _ => candidate.taxon,
        };
        let near = self.near(best, candidates, needed);
        let (mut common, mut first, mut alone) = (node_of(best), best, true);
        if near.len() > 1 {
            let mut close = self.close(near, needed, bases, (taxonomy, &node_of));
            first = close.next().unwrap_or(best);
            common = close.fold(node_of(first), |node, other| {
                alone = false;
                taxonomy.lca(node, node_of(other))
            });
        }
        let only_best = alone && std::ptr::eq(first, best);
        if alone && self.lowest == Rank::Sequence && common != taxonomy.root() {
            return (Verdict::Target(first.target), only_best);
        }
        let verdict = self.at_rank(common, taxonomy, || {
            let mut nodes = self.close(near, needed, bases, (taxonomy, &node_of)).map(node_of);
            nodes.all(|node| node == common || !taxonomy.has_main_rank(node))
        });
        (verdict, only_best)
    }

    /// Returns the verdict for a node: its nearest ancestor with a rank, or unclassified if that is above the
    /// highest rank. The result is the node itself if its lineage has no main rank and `stands_for_itself` returns
    /// true.
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

    /// Applies the confidence threshold to a verdict, if `support` is given: the stretches of the read that features
    /// cover.
    ///
    /// Returns the taxon or its nearest ancestor for which C · (C + L) / 2 is at least the confidence times B², where
    /// features of its clade cover C bases, those of its clade and its ancestors L, and all features of the read B;
    /// unclassified if there is no such ancestor or it is above the highest rank. (A k-mer of Kraken 2 has 35 bases,
    /// about two of ours. It is in a clade if one of the two is, and the other one is in the clade or shared with
    /// relatives. Shared ones count half, as they are also evidence for a relative without a reference.)
    #[inline]
    pub(crate) fn confirm(
        &self,
        verdict: Verdict,
        support: Option<&[Stretch]>,
        taxonomy: &Taxonomy,
        target_nodes: &[u32],
    ) -> Verdict {
        let Some(stretches) = support else { return verdict };
        let node = match verdict {
            Verdict::Unclassified => return verdict,
            Verdict::Target(target) => target_nodes[target as usize],
            Verdict::Taxon(node) => node,
        };
        let all = covered(stretches, |_| true) as f64;
        // Whole numbers below 2^53, or rounded in the same way on every machine.
        let needed = 2.0 * (self.confidence * (all * all));
        let enough = |&above: &u32| {
            let in_clade = |node: u32| taxonomy.lca(node, above) == above;
            let on_lineage = |node: u32| in_clade(node) || taxonomy.lca(node, above) == node;
            let clade = covered(stretches, |node| node.is_some_and(in_clade)) as f64;
            let line = covered(stretches, |node| node.is_some_and(on_lineage)) as f64;
            clade * (clade + line) >= needed
        };
        match taxonomy.lineage(node).find(enough) {
            None => Verdict::Unclassified,
            Some(found) if found == node => verdict,
            Some(above) => self.at_rank(above, taxonomy, || !taxonomy.has_main_rank(node)),
        }
    }

    /// Returns the node at which Kraken's report counts a read with this verdict. `only_best` is whether the verdict
    /// considered only the best candidate.
    ///
    /// This may be below the lowest rank, as Kraken counts reads that only one strain has: if the best candidate
    /// has more hits than all others and the verdict is its taxon, the node is the lowest common ancestor of the
    /// targets with these hits. (Bracken needs the reads counted at the taxa of the genomes, not at their species:
    /// it uses these counts to distribute the reads of higher taxa.)
    pub(crate) fn counted_at(
        &self,
        (verdict, only_best): (Verdict, bool),
        candidates: &[Candidate],
        taxonomy: &Taxonomy,
        target_nodes: &[u32],
    ) -> Option<u32> {
        let taxon = match verdict {
            Verdict::Unclassified => return None,
            Verdict::Target(target) => return Some(target_nodes[target as usize]),
            Verdict::Taxon(taxon) => taxon,
        };
        let Some((best, others)) = candidates.split_first() else { return Some(taxon) };
        // With a single candidate allowed, the second best is unknown.
        let first = others.first().map_or(self.max_cand > 1, |other| other.hits < best.hits);
        let [low, high] = best.nodes;
        let alone = first && only_best;
        Some(if alone && best.taxon == taxon { taxonomy.lca(low, high) } else { taxon })
    }

    /// Returns the candidates near or close to the best one, which is the first.
    #[inline]
    fn near<'c>(
        &self,
        best: &Candidate,
        candidates: &'c [Candidate],
        needed: u32,
    ) -> &'c [Candidate] {
        let is_near = |one: &Candidate| {
            one.hits.saturating_add(self.near) > best.hits
                || self.is_close(best.hits, one.hits, needed)
        };
        let others = candidates.iter().skip(1).take_while(|one| is_near(one)).count();
        &candidates[..1 + others]
    }

    /// Returns the candidates that the verdict considers: those whose numbers of pooled features are close to the
    /// largest number, and its rivals.
    fn close<'c>(
        &self,
        near: &'c [Candidate],
        needed: u32,
        bases: u64,
        (taxonomy, node_of): (&'c Taxonomy, &'c dyn Fn(&Candidate) -> u32),
    ) -> impl Iterator<Item = &'c Candidate> {
        let top = near.iter().map(|one| one.pooled).max().unwrap_or(0);
        let winner = near.iter().position(|one| one.pooled == top);
        let features = self.expected.of(bases);
        let rule = *self;
        let family = move |one: &Candidate| family_of(node_of(one), taxonomy);
        let is_considered = move |&(at, one): &(usize, &Candidate)| {
            Some(at) == winner
                || rule.is_close(top, one.pooled, needed)
                || rule.is_rival(top, one.pooled, features)
                    && winner
                        .is_some_and(|winner| differ(family(&near[winner]), family(one), taxonomy))
        };
        near.iter().enumerate().filter(is_considered).map(|(_, one)| one)
    }

    /// Whether a candidate of another family with `hits` is considered if the best one has `most` of about `features`
    /// of the read: if it is near, and the read is less than twice as far from it.
    ///
    /// A read of a taxon without a reference is about as far from each of its relatives, whereas one of a reference's
    /// species is much closer to it than to other families. (Genera may be as close as strains: *Escherichia* and
    /// *Shigella*.) With a divergence d, a k-mer matches with a probability of (1 - d)^k, so the distance is
    /// proportional to -ln(hits / features), and ln(hits / features) > 2 · ln(most / features) is
    /// hits · features > most². With a confidence c, this is required also without c · features of the best one's hits.
    fn is_rival(&self, most: u32, hits: u32, features: u64) -> bool {
        if hits.saturating_add(self.near) <= most {
            return false;
        }
        let features = features.max(most.into());
        let confident = (self.confidence * features as f64).ceil() as u64;
        let sure = u128::from(u64::from(most).saturating_sub(confident));
        u128::from(hits) * u128::from(features) > sure * sure
    }

    /// Whether a candidate with `hits` is considered if the best one has `most`. Computed in integers, so that all
    /// backends agree.
    fn is_close(&self, most: u32, hits: u32, needed: u32) -> bool {
        let base = if self.above_minimum { most.saturating_sub(needed) } else { most };
        u64::from(hits) * 1000 > u64::from(base) * u64::from(self.hitdiff)
    }
}

/// Returns the family of a node, or its next higher main rank if it has no family; `None` if its lineage has no main
/// rank.
fn family_of(node: u32, taxonomy: &Taxonomy) -> Option<u32> {
    taxonomy.has_main_rank(node).then(|| taxonomy.told_apart_at(node, Rank::Family))
}

/// Whether both families are known and differ. A taxon without a family may be of any family below its order.
fn differ(a: Option<u32>, b: Option<u32>, taxonomy: &Taxonomy) -> bool {
    a.zip(b).is_some_and(|(a, b)| ![a, b].contains(&taxonomy.lca(a, b)))
}

/// A stretch of a read that features of one clade cover without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    /// The first base and the one after the last, counted over both mates.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The lowest common ancestor of all targets that have the features; `None` if none has them.
    pub(crate) node: Option<u32>,
}

/// Returns the number of bases that the stretches of nodes for which `counts` returns true cover. The stretches are
/// ordered by their start.
fn covered(stretches: &[Stretch], counts: impl Fn(Option<u32>) -> bool) -> u64 {
    let (mut bases, mut end) = (0, 0);
    for stretch in stretches.iter().filter(|stretch| counts(stretch.node)) {
        bases += stretch.end.saturating_sub(stretch.start.max(end));
        end = end.max(stretch.end);
    }
    bases
}
