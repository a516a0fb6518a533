//! Estimates of the number of reads of each taxon: reads that are assigned only to a higher taxon are distributed to
//! taxa below it (Kobus et al., 2021, section 6.5; MetaCache's `-abundance-per`).

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Tally, percent};
use merganser_taxonomy::{Rank, Taxonomy};

/// A sequence that reads can be assigned to.
pub trait CountedSequence {
    /// Returns the name of the sequence.
    fn name(&self) -> &str;
    /// Returns the node of the sequence's taxon.
    fn node(&self) -> u32;
}

impl CountedSequence for (&str, u32) {
    fn name(&self) -> &str {
        self.0
    }

    fn node(&self) -> u32 {
        self.1
    }
}

/// Estimates for all ranks at once.
#[derive(Clone, Debug)]
pub struct Abundance<'a> {
    tree: &'a Taxonomy,
    total: u64,
    unclassified: u64,
    /// The reads of each node's clade, where reads of taxa with too few reads were moved up.
    reads: Vec<u64>,
    /// The reads of each node's clade, including those distributed to it from above.
    estimated: Vec<u64>,
    /// The targets with reads, by their numbers.
    sequences: BTreeMap<u32, Sequence<'a>>,
}

/// A target with its reads.
#[derive(Clone, Debug)]
struct Sequence<'a> {
    name: &'a str,
    node: u32,
    reads: u64,
    estimated: u64,
}

impl<'a> Abundance<'a> {
    /// Estimates from a tally. A taxon whose clade has fewer than `min_reads` reads is treated as absent: its
    /// reads move to its parent. Then, from the root down, the reads of a taxon itself are divided among its
    /// children with reads, in proportion to their reads. Shares are whole numbers: what is left after rounding down
    /// goes to the largest remainders, then to the smallest taxid.
    ///
    /// `targets` are those of the database. They are treated as children of their taxa if reads were
    /// assigned to single targets.
    pub fn new(
        tally: &Tally,
        tree: &'a Taxonomy,
        targets: &'a [impl CountedSequence],
        min_reads: u64,
    ) -> Abundance<'a> {
        let is_present = |_: u32, reads: u64| reads >= min_reads;
        Abundance::estimate(tally, tree, targets, (&is_present, &is_present))
    }

    /// Estimates the bases of all taxa from a tally of the bases of the same reads, as [`new`](Self::new) estimates
    /// reads: the bases of a taxon itself are divided in proportion to the bases of its children. The taxa that are
    /// absent here are absent there.
    pub fn of_bases(&self, bases: &Tally, targets: &'a [impl CountedSequence]) -> Abundance<'a> {
        let is_present = |node: u32, _: u64| self.reads[node as usize] > 0;
        let has_target = |target: u32, _: u64| self.sequences.contains_key(&target);
        Abundance::estimate(bases, self.tree, targets, (&is_present, &has_target))
    }

    /// Estimates from a tally. Taxa and targets for which the functions return false, given their number and what is
    /// counted of them, are treated as absent.
    fn estimate(
        tally: &Tally,
        tree: &'a Taxonomy,
        targets: &'a [impl CountedSequence],
        (is_present, has_target): (IsPresent<'_>, IsPresent<'_>),
    ) -> Abundance<'a> {
        let mut own = tally.nodes.clone();
        own.resize(tree.len(), 0);
        let mut of_targets = tally.of_targets();
        // Reads of a target with few reads, or of one that is not in the list, count only for its taxon.
        of_targets.retain(|&target, reads| {
            has_target(target, *reads) && (target as usize) < targets.len()
        });
        for (&target, &reads) in &of_targets {
            own[targets[target as usize].node() as usize] -= reads;
        }
        let mut children: Vec<Vec<Child>> = vec![Vec::new(); tree.len()];
        for (&target, &weight) in &of_targets {
            let node = targets[target as usize].node() as usize;
            children[node].push(Child { sequence: true, at: target, weight });
        }
        let mut reads = vec![0; tree.len()];
        for node in (0..tree.len()).rev() {
            let below: u64 = children[node].iter().map(|child| child.weight).sum();
            let clade = own[node] + below;
            let parent = tree.parent(node as u32) as usize;
            if node > 0 && !is_present(node as u32, clade) {
                own[parent] += clade;
                own[node] = 0;
                continue;
            }
            reads[node] = clade;
            if node > 0 && clade > 0 {
                children[parent].push(Child { sequence: false, at: node as u32, weight: clade });
            }
        }
        let mut estimated = reads.clone();
        let sequence = |(&target, &reads): (&u32, &u64)| {
            let own = &targets[target as usize];
            (target, Sequence { name: own.name(), node: own.node(), reads, estimated: reads })
        };
        let mut sequences: BTreeMap<u32, Sequence<'a>> = of_targets.iter().map(sequence).collect();
        // The reads of each node itself; parents come before their children.
        let mut pool = own;
        for node in 0..tree.len() {
            let children = &mut children[node];
            children.sort_by_key(|child| match child.sequence {
                true => (1, child.at),
                false => (0, tree.taxid(child.at)),
            });
            for (child, share) in children.iter().zip(divide(pool[node], children)) {
                if child.sequence {
                    if let Some(sequence) = sequences.get_mut(&child.at) {
                        sequence.estimated += share;
                    }
                } else {
                    estimated[child.at as usize] += share;
                    pool[child.at as usize] += share;
                }
            }
        }
        let (total, unclassified) = (tally.total(), tally.unclassified);
        Abundance { tree, total, unclassified, reads, estimated, sequences }
    }

    /// Returns the number of all reads of the sample.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the estimated reads of a node's clade.
    pub fn estimated(&self, node: u32) -> u64 {
        self.estimated[node as usize]
    }

    /// Returns the taxa of a rank that have reads, those with the most first, then by taxid. If taxa of the rank are
    /// nested, only the highest is returned.
    pub fn of_rank(&self, rank: Rank) -> Vec<u32> {
        self.chosen(|node| self.tree.rank(node) == rank)
    }

    /// Returns the taxa for which `is` is true, in the order and with the rules of [`of_rank`](Self::of_rank).
    pub(super) fn chosen(&self, is: impl Fn(u32) -> bool) -> Vec<u32> {
        let tree = self.tree;
        // Whether an ancestor was chosen; parents come before their children.
        let mut below = vec![false; tree.len()];
        let mut nodes = Vec::new();
        for node in 1..tree.len() as u32 {
            let parent = tree.parent(node);
            let hidden = below[parent as usize] || is(parent);
            below[node as usize] = hidden;
            if !hidden && self.estimated(node) > 0 && is(node) {
                nodes.push(node);
            }
        }
        nodes.sort_by_key(|&node| (std::cmp::Reverse(self.estimated(node)), tree.taxid(node)));
        nodes
    }

    /// Writes a table of all ranks, the highest first, with the columns rank, taxid, name, reads (of the taxon's
    /// clade), estimated (including those distributed to it from above) and the estimate in per cent of all
    /// reads. Classified reads without a taxon at a rank are shown in a row of taxid 0, so that the rows of each rank
    /// and the unclassified reads add up to all reads.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        self.write_with(None, output)
    }

    /// Writes the table with three more columns: bases, estimated_bases and percent_bases, from the estimates of the
    /// [bases](Self::of_bases) of the same reads.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_with_bases(
        &self,
        bases: &Abundance<'_>,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        self.write_with(Some(bases), output)
    }

    fn write_with(&self, bases: Option<&Abundance<'_>>, output: &mut dyn Write) -> io::Result<()> {
        // Reads, and bases if they are counted.
        let counted: Vec<&Abundance<'_>> = [self].into_iter().chain(bases).collect();
        output.write_all(b"rank\ttaxid\tname\treads\testimated\tpercent")?;
        output.write_all(if bases.is_some() { OF_BASES } else { b"\n" })?;
        let mut row = |rank: &str, (taxid, name): (u32, &str), numbers: &[[u64; 2]]| {
            write!(output, "{rank}\t{taxid}\t{name}")?;
            for ([own, estimated], of) in numbers.iter().zip(&counted) {
                write!(output, "\t{own}\t{estimated}\t{:.4}", percent(*estimated, of.total))?;
            }
            output.write_all(b"\n")
        };
        let lost: Vec<_> = counted.iter().map(|of| [of.unclassified; 2]).collect();
        row("unclassified", (0, "unclassified"), &lost)?;
        let ranks: Vec<Rank> = Rank::all().filter(|&rank| rank < Rank::Root).collect();
        for &rank in ranks.iter().rev() {
            let mut rest: Vec<u64> = counted.iter().map(|of| of.total - of.unclassified).collect();
            let mut any = false;
            for (taxon, place) in self.rows(rank) {
                let numbers: Vec<_> = counted.iter().map(|of| of.numbers(place)).collect();
                row(rank.name(), taxon, &numbers)?;
                rest.iter_mut().zip(&numbers).for_each(|(rest, [_, own])| *rest -= own);
                any = true;
            }
            if any && rest[0] > 0 {
                let numbers: Vec<_> = rest.into_iter().map(|rest| [rest; 2]).collect();
                row(rank.name(), (0, "no taxon at this rank"), &numbers)?;
            }
        }
        Ok(())
    }

    /// Returns the taxid and the name of each row of a rank, and its place.
    fn rows(&self, rank: Rank) -> Vec<((u32, &str), Place)> {
        let tree = self.tree;
        if rank == Rank::Sequence {
            let mut rows: Vec<_> = self.sequences.iter().collect();
            rows.sort_by_key(|(_, own)| std::cmp::Reverse(own.estimated));
            let row = |(&target, own): (&u32, &Sequence<'a>)| {
                ((tree.taxid(own.node), own.name), Place::Target(target))
            };
            return rows.into_iter().map(row).collect();
        }
        let row = |node: u32| ((tree.taxid(node), tree.name(node)), Place::Node(node));
        self.of_rank(rank).into_iter().map(row).collect()
    }

    /// Returns the reads of a row, and those with the ones distributed to it.
    fn numbers(&self, place: Place) -> [u64; 2] {
        match place {
            Place::Node(node) => [&self.reads, &self.estimated].map(|of| of[node as usize]),
            Place::Target(target) => {
                self.sequences.get(&target).map_or([0; 2], |own| [own.reads, own.estimated])
            }
        }
    }

    pub(super) fn tree(&self) -> &'a Taxonomy {
        self.tree
    }
}

/// The further columns of a table with bases.
const OF_BASES: &[u8] = b"\tbases\testimated_bases\tpercent_bases\n";

/// Whether a taxon or target is present, given its number and what is counted of it.
type IsPresent<'f> = &'f dyn Fn(u32, u64) -> bool;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
enum Place {
    Node(u32),
    Target(u32),
}

/// A taxon or a target below a taxon.
#[derive(Clone, Copy, Debug)]
struct Child {
    sequence: bool,
    at: u32,
    weight: u64,
}

/// Divides `reads` in proportion to the weights; all shares are 0 if the weights are.
fn divide(reads: u64, children: &[Child]) -> Vec<u64> {
    let all: u64 = children.iter().map(|child| child.weight).sum();
    if all == 0 || reads == 0 {
        return vec![0; children.len()];
    }
    let exact = |child: &Child| u128::from(reads) * u128::from(child.weight);
    let all = u128::from(all);
    let mut shares: Vec<u64> = children.iter().map(|child| (exact(child) / all) as u64).collect();
    let mut order: Vec<usize> = (0..children.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(exact(&children[at]) % all));
    let left = (reads - shares.iter().sum::<u64>()) as usize;
    order.into_iter().take(left).for_each(|at| shares[at] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_taxonomy::NodeInfo;
    use proptest::prelude::*;

    const NONE: &[(&str, u32)] = &[];

    /// A tree with domain 2, genera 10 and 20, species 11 and 12 in 10, species 21 in 20, and species 3 in 2.
    fn tree() -> Taxonomy {
        let nodes = [
            (1, 1, "no rank"),
            (2, 1, "domain"),
            (3, 2, "species"),
            (10, 2, "genus"),
            (11, 10, "species"),
            (12, 10, "species"),
            (20, 2, "genus"),
            (21, 20, "species"),
        ];
        let node = |&(taxid, parent, rank): &(u32, u32, &str)| NodeInfo {
            taxid,
            parent,
            rank: rank.to_owned(),
            name: format!("t{taxid}"),
        };
        Taxonomy::new(nodes.iter().map(node).collect(), Vec::new())
    }

    fn tally(tree: &Taxonomy, reads: &[(u32, u64)]) -> Tally {
        let mut tally = Tally { unclassified: 5, ..Tally::default() };
        for &(taxid, count) in reads {
            (0..count).for_each(|_| tally.count(tree.node(taxid), None));
        }
        tally
    }

    #[test]
    fn reads_of_higher_taxa_go_down_in_proportion() {
        let tree = tree();
        let tally = tally(&tree, &[(2, 10), (10, 4), (11, 30), (12, 10), (21, 46)]);
        let found = Abundance::new(&tally, &tree, NONE, 0);
        let mut text = Vec::new();
        found.write(&mut text).unwrap();
        // The 10 reads are divided 44 : 46 among the genera: 4.89 and 5.11, so 5 and 5. Then 4 + 5 reads are divided
        // 3 : 1 among the species: 6.75 and 2.25, so 7 and 2.
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "rank\ttaxid\tname\treads\testimated\tpercent\n\
             unclassified\t0\tunclassified\t5\t5\t4.7619\n\
             domain\t2\tt2\t100\t100\t95.2381\n\
             genus\t20\tt20\t46\t51\t48.5714\n\
             genus\t10\tt10\t44\t49\t46.6667\n\
             species\t21\tt21\t46\t51\t48.5714\n\
             species\t11\tt11\t30\t37\t35.2381\n\
             species\t12\tt12\t10\t12\t11.4286\n"
        );
    }

    #[test]
    fn bases_are_distributed_by_bases_among_the_same_taxa() {
        let tree = tree();
        let reads = tally(&tree, &[(3, 4), (10, 6), (11, 10), (12, 10), (21, 20)]);
        let bases = tally(&tree, &[(3, 900), (10, 100), (11, 300), (12, 700), (21, 500)]);
        let found = Abundance::new(&reads, &tree, NONE, 5);
        let mut text = Vec::new();
        found.write_with_bases(&found.of_bases(&bases, NONE), &mut text).unwrap();
        // Taxon 3 has too few reads: its 4 reads and 900 bases go up to the domain, and down by reads (26 : 20) and
        // by bases (1,100 : 500).
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "rank\ttaxid\tname\treads\testimated\tpercent\tbases\testimated_bases\tpercent_bases\n\
             unclassified\t0\tunclassified\t5\t5\t9.0909\t5\t5\t0.1996\n\
             domain\t2\tt2\t50\t50\t90.9091\t2500\t2500\t99.8004\n\
             genus\t10\tt10\t26\t28\t50.9091\t1100\t1719\t68.6228\n\
             genus\t20\tt20\t20\t22\t40.0000\t500\t781\t31.1776\n\
             species\t21\tt21\t20\t22\t40.0000\t500\t781\t31.1776\n\
             species\t11\tt11\t10\t14\t25.4545\t300\t516\t20.5988\n\
             species\t12\tt12\t10\t14\t25.4545\t700\t1203\t48.0240\n"
        );
    }

    #[test]
    fn taxa_with_few_reads_are_not_there() {
        let tree = tree();
        let tally = tally(&tree, &[(3, 4), (11, 3), (12, 20), (21, 4)]);
        let found = Abundance::new(&tally, &tree, NONE, 5);
        let species = found.of_rank(Rank::Species);
        let found: Vec<_> = species.iter().map(|&n| (tree.taxid(n), found.estimated(n))).collect();
        assert_eq!(found, [(12, 31)]);
    }

    #[test]
    fn what_has_no_taxon_at_a_rank_has_a_row() {
        let tree = tree();
        let tally = tally(&tree, &[(3, 4), (11, 6)]);
        let mut text = Vec::new();
        Abundance::new(&tally, &tree, NONE, 0).write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("genus\t0\tno taxon at this rank\t4\t4\t26.6667\n"), "{text}");
    }

    proptest! {
        /// The number of reads is preserved, and no taxon has fewer reads than were assigned to its clade.
        #[test]
        fn reads_are_kept(counts in proptest::collection::vec(0u64..50, 8), least in 0u64..20) {
            let tree = tree();
            let taxids = [1, 2, 3, 10, 11, 12, 20, 21];
            let reads: Vec<_> = taxids.into_iter().zip(counts).collect();
            let tally = tally(&tree, &reads);
            let found = Abundance::new(&tally, &tree, NONE, least);
            let classified = tally.total() - tally.unclassified();
            prop_assert_eq!(found.estimated(0), classified);
            for node in 1..tree.len() as u32 {
                prop_assert!(found.estimated(node) >= found.reads[node as usize]);
            }
            // The reads of a clade are those of its children, if it has any with reads.
            for parent in [2u32, 10, 20] {
                let parent = tree.node(parent).unwrap();
                let below: Vec<u64> = (1..tree.len() as u32)
                    .filter(|&n| tree.parent(n) == parent)
                    .map(|n| found.estimated(n))
                    .collect();
                let sum: u64 = below.iter().sum();
                prop_assert!(sum == found.estimated(parent) || sum == 0, "{:?}", below);
            }
        }
    }
}
