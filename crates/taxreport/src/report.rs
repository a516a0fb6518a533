//! Counts of reads by taxon, and the reports made from them.

mod abundance;
mod bases;
mod cami;
mod combine;
mod features;
mod kraken;
mod krona;
mod mpa;
mod rank_code;
mod read;
mod row;
mod select;

pub use abundance::{Abundance, CountedSequence};
pub use bases::TaxonBases;
pub use combine::{CombinedReports, CombinedTable, RenamedTaxon};
pub use features::FeatureCounts;
pub use kraken::ReportOptions;
pub use mpa::MpaTable;
pub use rank_code::rank_code;
pub use read::{KrakenReport, ReportMinimizers, ReportRow};
pub use row::{KrakenRow, KrakenRows, RankCode};
pub use select::{ReportSelection, SelectedReport};

use std::collections::BTreeMap;

use merganser_taxonomy::{Rank, Taxonomy};

/// The reads by taxon; a pair is one read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    unclassified: u64,
    /// The reads of each node. Reads of targets are counted at the targets' nodes as well.
    nodes: Vec<u64>,
    /// The reads of each target, of reads that were assigned to a single one.
    targets: Vec<u64>,
}

impl Tally {
    /// Counts a read by its node, and by its target if that is known.
    pub fn count(&mut self, node: Option<u32>, target: Option<u32>) {
        self.count_each(node, target, 1);
    }

    /// Counts `bases` bases of a read, in a tally of bases, by the read's node and target.
    pub fn count_bases(&mut self, node: Option<u32>, target: Option<u32>, bases: u64) {
        self.count_each(node, target, bases);
    }

    fn count_each(&mut self, node: Option<u32>, target: Option<u32>, number: u64) {
        self.count_many(node, number);
        if let (Some(_), Some(target)) = (node, target) {
            self.count_of_target(target, number);
        }
    }

    /// Counts `reads` reads by their target; they must also be counted by their node.
    pub fn count_of_target(&mut self, target: u32, reads: u64) {
        count(&mut self.targets, target, reads);
    }

    /// Counts `reads` reads by their node.
    pub fn count_many(&mut self, node: Option<u32>, reads: u64) {
        match node {
            Some(node) => count(&mut self.nodes, node, reads),
            None => self.unclassified += reads,
        }
    }

    /// Adds the reads of another tally.
    pub fn add(&mut self, other: Tally) {
        self.unclassified += other.unclassified;
        for (own, others) in [(&mut self.nodes, &other.nodes), (&mut self.targets, &other.targets)]
        {
            own.resize(own.len().max(others.len()), 0);
            own.iter_mut().zip(others).for_each(|(own, reads)| *own += reads);
        }
    }

    /// Returns the reads of each target that has any.
    pub fn of_targets(&self) -> BTreeMap<u32, u64> {
        let numbered = self.targets.iter().enumerate().filter(|(_, reads)| **reads > 0);
        numbered.map(|(target, &reads)| (target as u32, reads)).collect()
    }

    /// Returns the reads of each node that has any itself, in the order of the nodes.
    pub fn of_nodes(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..).zip(self.nodes.iter().copied()).filter(|(_, reads)| *reads > 0)
    }

    /// Returns the number of all reads.
    pub fn total(&self) -> u64 {
        self.unclassified + self.nodes.iter().sum::<u64>()
    }

    /// Returns the number of reads without a taxon.
    pub fn unclassified(&self) -> u64 {
        self.unclassified
    }

    /// Returns the number of reads that are assigned to the node itself.
    pub fn own(&self, node: u32) -> u64 {
        self.nodes.get(node as usize).copied().unwrap_or(0)
    }

    /// Returns the reads of each clade of a rank, such as those of each species, with the nodes of `tree` (the taxonomy
    /// of the database) in ascending order; clades without reads are left out.
    pub fn at_rank(&self, tree: &Taxonomy, rank: Rank) -> Vec<(u32, u64)> {
        let clades = self.clades(tree).into_iter().zip(0u32..);
        let of_rank = clades.filter(|&(reads, node)| reads > 0 && tree.rank(node) == rank);
        of_rank.map(|(reads, node)| (node, reads)).collect()
    }

    /// Returns the number of reads of each node's clade.
    fn clades(&self, tree: &Taxonomy) -> Vec<u64> {
        sums(tree, &self.nodes)
    }
}

fn count(counts: &mut Vec<u64>, at: u32, reads: u64) {
    let at = at as usize;
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    counts[at] += reads;
}

/// Returns, for each node, the sum over its clade.
fn sums(tree: &Taxonomy, own: &[u64]) -> Vec<u64> {
    let mut sums = own.to_vec();
    sums.resize(tree.len(), 0);
    for node in (1..tree.len()).rev() {
        sums[tree.parent(node as u32) as usize] += sums[node];
    }
    sums
}

/// Returns the nodes with reads (with `all`, every node) in preorder; children with more reads come first, then by
/// taxid.
fn walk(tree: &Taxonomy, clades: &[u64], all: bool) -> Vec<u32> {
    let wanted = |node: u32| all || clades[node as usize] > 0;
    let mut children = vec![Vec::new(); tree.len()];
    for node in (1..tree.len() as u32).filter(|&node| wanted(node)) {
        children[tree.parent(node) as usize].push(node);
    }
    let mut order = Vec::new();
    let mut stack = Vec::from_iter(wanted(tree.root()).then(|| tree.root()));
    while let Some(node) = stack.pop() {
        order.push(node);
        let mut next = std::mem::take(&mut children[node as usize]);
        next.sort_by_key(|&child| (clades[child as usize], std::cmp::Reverse(tree.taxid(child))));
        stack.extend(next);
    }
    order
}

/// Returns `part` of `whole` in per cent, or 0 if `whole` is 0.
fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
