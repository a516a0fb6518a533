//! Candidates of reads: the parameters of a query, what all backends need to know of the targets, and merging of
//! the candidates and pooled features from several parts.

use std::ops::Range;
use std::sync::Arc;

use crate::Database;
use merganser_taxonomy::Rank;

/// A target that a read may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The number of the target.
    pub target: u32,
    /// The taxon at the lowest rank: a node of the taxonomy or, at rank sequence, a number above all nodes that is
    /// unique to the target.
    pub taxon: u32,
    /// The hits in the best run of windows.
    pub hits: u32,
    /// The number of features of the read that any target of the taxon has, if the candidate was pooled
    /// ([`QueryParams::near`]); otherwise `hits`.
    pub pooled: u32,
    /// The first window of the run, counted in the target.
    pub window: u32,
    /// The last window of the run with a hit, counted in the target.
    pub last: u32,
    /// The lowest and the highest node of all targets of the taxon with the same number of hits. As nodes are
    /// numbered depth first, their lowest common ancestor is that of all these targets. For candidates that do not
    /// have more hits than all others, some of the targets may be missing.
    pub nodes: [u32; 2],
}

impl Candidate {
    /// Extends the nodes by those of another candidate with the same taxon and hits.
    #[inline]
    pub(crate) fn widen(&mut self, other: &Candidate) {
        let ([low, high], [other_low, other_high]) = (self.nodes, other.nodes);
        self.nodes = [low.min(other_low), high.max(other_high)];
    }
}

/// The parameters of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParams {
    /// The lowest rank at which taxa are distinguished.
    pub lowest: Rank,
    /// The maximum number of candidates.
    pub max_candidates: usize,
    /// The longest insert of a pair, in bases; 0: the sum of the mates' lengths.
    pub insert: u64,
    /// Candidates that are fewer than this number of hits behind the best one are pooled: their taxa are compared
    /// by the features of all their targets. 0: no pooling.
    pub near: u32,
}

/// The length in bases of the longest read or pair whose candidates are pooled. In longer ones, a single target
/// has enough hits that others do not change the result.
pub(crate) const MAX_POOLED: u64 = 1024;
/// The maximum number of candidates of a read that are pooled: a word has one bit for each.
pub(crate) const MAX_NEAR: usize = 64;

impl QueryParams {
    /// Returns how many of a read's candidates, which are ordered by hits, are to be pooled: those near the best one,
    /// or 0 if pooling cannot change anything. `several` says for each taxon whether it has several targets; with a
    /// single target, the hits are known already.
    #[inline]
    pub(crate) fn count_near(
        &self,
        bases: u64,
        candidates: &[Candidate],
        several: &[bool],
    ) -> usize {
        let [best, second, ..] = candidates else { return 0 };
        if second.hits.saturating_add(self.near) <= best.hits || bases > MAX_POOLED {
            return 0;
        }
        let is_near = |one: &&Candidate| one.hits.saturating_add(self.near) > best.hits;
        let near = candidates.iter().take(MAX_NEAR).take_while(is_near);
        let (mut count, mut any) = (0, false);
        for one in near {
            count += 1;
            any |= several[one.taxon as usize];
        }
        if any { count } else { 0 }
    }

    /// Returns the maximum number of windows that the hits of a read or pair of `bases` can span if a window starts
    /// every `stride` bases.
    #[inline]
    pub(crate) fn reach(&self, bases: u64, stride: u32) -> u32 {
        let windows = 2 + bases.max(self.insert) / u64::from(stride);
        u32::try_from(windows).unwrap_or(u32::MAX)
    }
}

/// The candidates that have each feature of each pooled read of a batch. The order of features is that of the backend
/// and always the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// One word per feature, with a bit for each candidate.
    pub(crate) bits: Vec<u64>,
    /// The end of each read's words.
    pub(crate) ends: Vec<usize>,
}

impl Seen {
    /// Adds the words of a part for the read with this number, which is either the next one or already present.
    pub(crate) fn add(&mut self, number: usize, bits: &[u64]) {
        match self.ends.get(number) {
            Some(&end) => {
                let own = &mut self.bits[end - bits.len()..end];
                own.iter_mut().zip(bits).for_each(|(own, bits)| *own |= bits);
            }
            None => {
                self.bits.extend_from_slice(bits);
                self.ends.push(self.bits.len());
            }
        }
    }

    /// Sets the pooled features of candidates from all parts that were added; `near` gives the candidates of each
    /// read.
    pub(crate) fn tell(&self, candidates: &mut [Candidate], near: &[(usize, Range<usize>)]) {
        let mut from = 0;
        for ((_, near), &to) in near.iter().zip(&self.ends) {
            tell_pooled(&self.bits[from..to], &mut candidates[near.clone()]);
            from = to;
        }
    }
}

/// Sets the number of features of each candidate from its bits in `seen`.
pub(crate) fn tell_pooled(seen: &[u64], near: &mut [Candidate]) {
    for (bit, candidate) in near.iter_mut().enumerate() {
        candidate.pooled = seen.iter().filter(|&&bits| bits >> bit & 1 == 1).count() as u32;
    }
}

/// The taxon of targets that have none, in databases built by older versions. They are never candidates. The
/// kernels use the same number.
pub(crate) const NO_TAXON: u32 = u32::MAX;

/// The taxa of targets. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct TargetTaxa {
    /// The taxon of each target at the lowest rank; [`NO_TAXON`] if it has none.
    pub(crate) taxa: Arc<[u32]>,
    /// The node of each target.
    pub(crate) nodes: Arc<[u32]>,
    /// Whether each taxon has several targets.
    pub(crate) several: Arc<[bool]>,
}

impl TargetTaxa {
    /// Returns the taxa of a database's targets. At rank sequence, each target is its own taxon, with a number
    /// above all nodes.
    pub(crate) fn new(database: &Database, lowest: Rank) -> TargetTaxa {
        let tree = database.taxonomy();
        let nodes = tree.len() as u32;
        let taxon = |(number, target): (usize, &crate::Target)| match lowest {
            _ if target.node == tree.root() => NO_TAXON,
            Rank::Sequence => nodes + number as u32,
            rank => tree.told_apart_at(target.node, rank),
        };
        let taxa: Arc<[u32]> = database.targets().iter().enumerate().map(taxon).collect();
        let known = || taxa.iter().filter(|&&taxon| taxon != NO_TAXON);
        let mut targets = vec![0u8; known().max().map_or(0, |&most| most as usize + 1)];
        known().for_each(|&taxon| {
            let count = &mut targets[taxon as usize];
            *count = count.saturating_add(1);
        });
        let several = targets.into_iter().map(|count| count > 1).collect();
        TargetTaxa {
            nodes: database.targets().iter().map(|target| target.node).collect(),
            several,
            taxa,
        }
    }

    /// Whether the taxon of a target has further targets.
    pub(crate) fn has_several(&self, target: usize) -> bool {
        self.several.get(self.taxa[target] as usize).is_some_and(|&several| several)
    }
}

/// Candidates of reads, merged from parts and backends, with a fixed capacity for each read.
#[derive(Debug, Default)]
pub(crate) struct MergedCandidates {
    most: usize,
    counts: Vec<usize>,
    candidates: Vec<Candidate>,
}

impl MergedCandidates {
    /// Clears the candidates, and makes room for `most` of each of `reads` reads.
    pub(crate) fn reset(&mut self, reads: usize, most: usize) {
        self.most = most;
        self.counts.clear();
        self.counts.resize(reads, 0);
        let none = Candidate::default();
        self.candidates.resize(reads * most, none);
    }

    /// Returns the candidates of a read, ordered by hits (descending), then target.
    fn of(&self, read: usize) -> &[Candidate] {
        &self.candidates[read * self.most..][..self.counts[read]]
    }

    /// Appends the candidates of all reads to `candidates`, and the end of each read's to `ends`.
    pub(crate) fn append_to(&self, candidates: &mut Vec<Candidate>, ends: &mut Vec<usize>) {
        for read in 0..self.counts.len() {
            candidates.extend_from_slice(self.of(read));
            ends.push(candidates.len());
        }
    }

    /// Merges ordered candidates of a read from a further part.
    pub(crate) fn merge(&mut self, read: usize, others: impl Iterator<Item = Candidate>) {
        let own = &mut self.candidates[read * self.most..][..self.most];
        let count = &mut self.counts[read];
        for other in others {
            insert(own, count, other);
        }
    }
}

/// Inserts a candidate into `own[..count]`, which are in order (hits descending, then target) and have one
/// candidate for each taxon.
fn insert(own: &mut [Candidate], count: &mut usize, mut other: Candidate) {
    let better = |one: &Candidate| (one.hits, other.target) > (other.hits, one.target);
    let place = own[..*count].iter().take_while(|one| better(one)).count();
    let same = own[..*count].iter().position(|one| one.taxon == other.taxon);
    if let Some(same) = same.filter(|&same| own[same].hits == other.hits) {
        other.widen(&own[same]);
        own[same].nodes = other.nodes;
    }
    let end = match same {
        Some(same) if same < place => return,
        Some(same) => same,
        None if *count < own.len() => {
            *count += 1;
            *count - 1
        }
        None if place == *count => return,
        None => *count - 1,
    };
    own[place..=end].rotate_right(1);
    own[place] = other;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_of_each_taxon_stay_in_order(
            parts in proptest::collection::vec(
                proptest::collection::vec((0u32..6, 1u32..5), 0..8), 1..5),
            most in 1usize..5,
        ) {
            let mut found = MergedCandidates::default();
            found.reset(1, most);
            let mut all: Vec<Candidate> = Vec::new();
            let mut target = 0;
            // Parts may come in any order; here, later ones have lower targets.
            let total: u32 = parts.iter().map(|part| part.len() as u32).sum();
            for part in &parts {
                let of_part: Vec<Candidate> = part
                    .iter()
                    .map(|&(taxon, hits)| {
                        target += 1;
                        let (window, last) = (target, target);
                        let target = total - target;
                        let (pooled, nodes) = (hits, [target; 2]);
                        Candidate { target, taxon, hits, pooled, window, last, nodes }
                    })
                    .collect();
                all.extend(&of_part);
                found.merge(0, of_part.into_iter());
            }
            all.sort_by_key(|one| (std::cmp::Reverse(one.hits), one.target));
            let mut seen = Vec::new();
            let ties = all.clone();
            all.retain(|one| !seen.contains(&one.taxon) && { seen.push(one.taxon); true });
            all.truncate(most);
            // The nodes of candidates other than the best may be incomplete.
            let single = all.get(1).map_or(most > 1, |one| one.hits < all[0].hits);
            for (at, (one, own)) in all.iter_mut().zip(found.of(0)).enumerate() {
                let same = |tie: &&Candidate| (tie.taxon, tie.hits) == (one.taxon, one.hits);
                let nodes = ties.iter().filter(same).map(|tie| tie.target);
                let range = [nodes.clone().min().unwrap(), nodes.max().unwrap()];
                one.nodes = if at == 0 && single { range } else { own.nodes };
            }
            prop_assert_eq!(found.of(0), &all[..]);
        }
    }
}
