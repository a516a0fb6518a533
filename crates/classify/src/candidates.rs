//! Candidates of reads: what is asked for, what all backends need to know of the targets, and how the
//! candidates of several parts, and what these have of candidates that are pooled, become those of the
//! database.

use std::ops::Range;
use std::sync::Arc;

use crate::Database;
use merganser_taxonomy::Rank;

/// A target that a read may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The target's number.
    pub target: u32,
    /// Its taxon at the lowest rank: a node of the taxonomy, or, at rank sequence, a number above
    /// all nodes for each target.
    pub taxon: u32,
    /// Hits in the best run of windows.
    pub hits: u32,
    /// Features of the read that are in any target of the taxon, if the candidate was pooled with
    /// those that are nearly as good ([`QueryParams::near`]); else `hits`.
    pub pooled: u32,
    /// The first window of that run, counted in its target,
    pub window: u32,
    /// and the last one with a hit.
    pub last: u32,
    /// The lowest and the highest node among those of all targets of the taxon that have as many
    /// hits: their lowest common ancestor is that of all, as nodes are numbered depth first. Of
    /// candidates that are not better than all others, some of these targets may be missing.
    pub nodes: [u32; 2],
}

impl Candidate {
    /// Takes in the nodes of another candidate of the same taxon that has as many hits.
    #[inline]
    pub(crate) fn widen(&mut self, other: &Candidate) {
        let ([low, high], [other_low, other_high]) = (self.nodes, other.nodes);
        self.nodes = [low.min(other_low), high.max(other_high)];
    }
}

/// What a query needs to know besides the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParams {
    /// The lowest rank at which candidates are told apart.
    pub lowest: Rank,
    /// Candidates at most.
    pub max_candidates: usize,
    /// The longest insert, in bases; 0: the sum of the mates' lengths.
    pub insert: u64,
    /// Candidates that have fewer hits than the best one by less than this are near it: what all targets
    /// of a taxon have together is found out for them. 0: for none.
    pub near: u32,
}

/// The longest read or pair, in bases, whose candidates are pooled. In longer ones a single target has so
/// many hits that others change nothing.
pub(crate) const MAX_POOLED: u64 = 1024;
/// Candidates of a read that are pooled at most: a word has a bit for each.
pub(crate) const MAX_NEAR: usize = 64;

impl QueryParams {
    /// How many of a read's candidates, which are in order, are to be pooled: the first ones that are
    /// near each other; 0 if there is nothing to find out. `several` tells of each taxon whether it has
    /// several targets: what a single one has is known.
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

    /// The most windows that hits of a read or pair of `bases` may reach over, if one begins every
    /// `stride` bases.
    #[inline]
    pub(crate) fn reach(&self, bases: u64, stride: u32) -> u32 {
        let windows = 2 + bases.max(self.insert) / u64::from(stride);
        u32::try_from(windows).unwrap_or(u32::MAX)
    }
}

/// For each of the reads of a batch that are pooled, in which of the candidates each feature is. Features
/// are in an order that each backend keeps to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) bits: Vec<u64>,
    /// Where those of each read end.
    pub(crate) ends: Vec<usize>,
}

impl Seen {
    /// Adds what a part has of the read with this number: the next one, or one that is there.
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

    /// Tells the candidates that are pooled, `near` of each of the reads, what all parts have that were
    /// added.
    pub(crate) fn tell(&self, candidates: &mut [Candidate], near: &[(usize, Range<usize>)]) {
        let mut from = 0;
        for ((_, near), &to) in near.iter().zip(&self.ends) {
            tell_pooled(&self.bits[from..to], &mut candidates[near.clone()]);
            from = to;
        }
    }
}

/// Tells candidates how many features each of them has, by their bits in `seen`.
pub(crate) fn tell_pooled(seen: &[u64], near: &mut [Candidate]) {
    for (bit, candidate) in near.iter_mut().enumerate() {
        candidate.pooled = seen.iter().filter(|&&bits| bits >> bit & 1 == 1).count() as u32;
    }
}

/// Stands for the taxon of targets that have none, of databases that older versions built: they are no
/// candidates. The kernels have the same number.
pub(crate) const NO_TAXON: u32 = u32::MAX;

/// The taxa of targets; costs nothing to clone.
#[derive(Clone, Debug)]
pub(crate) struct TargetTaxa {
    /// The taxon of each target at the lowest rank ([`NO_TAXON`] if it has none),
    pub(crate) taxa: Arc<[u32]>,
    /// and its node.
    pub(crate) nodes: Arc<[u32]>,
    /// Whether a taxon has several targets.
    pub(crate) several: Arc<[bool]>,
}

impl TargetTaxa {
    /// Those of a database's targets; at rank sequence, each is a taxon of its own, above all nodes.
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

    /// Whether the taxon of a target has others.
    pub(crate) fn has_several(&self, target: usize) -> bool {
        self.several.get(self.taxa[target] as usize).is_some_and(|&several| several)
    }
}

/// Candidates of reads as parts and backends give them, room for so many each.
#[derive(Debug, Default)]
pub(crate) struct MergedCandidates {
    most: usize,
    counts: Vec<usize>,
    candidates: Vec<Candidate>,
}

impl MergedCandidates {
    /// None yet of `reads` reads, `most` each.
    pub(crate) fn reset(&mut self, reads: usize, most: usize) {
        self.most = most;
        self.counts.clear();
        self.counts.resize(reads, 0);
        let none = Candidate::default();
        self.candidates.resize(reads * most, none);
    }

    /// The candidates of a read, in order.
    fn of(&self, read: usize) -> &[Candidate] {
        &self.candidates[read * self.most..][..self.counts[read]]
    }

    /// Appends those of all reads, and where those of each end.
    pub(crate) fn append_to(&self, candidates: &mut Vec<Candidate>, ends: &mut Vec<usize>) {
        for read in 0..self.counts.len() {
            candidates.extend_from_slice(self.of(read));
            ends.push(candidates.len());
        }
    }

    /// Adds candidates of a read from a part that was not asked before; they come in order.
    pub(crate) fn merge(&mut self, read: usize, others: impl Iterator<Item = Candidate>) {
        let own = &mut self.candidates[read * self.most..][..self.most];
        let count = &mut self.counts[read];
        for other in others {
            insert(own, count, other);
        }
    }
}

/// Puts a candidate among `own[..count]`, which are in order (hits descending, then target), one for
/// each taxon.
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
            // Parts may come in any order: later ones here have lower targets.
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
            // The nodes of all others may be incomplete.
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
