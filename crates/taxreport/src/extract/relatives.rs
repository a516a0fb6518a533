//! Taxa below and above given ones.

use std::collections::HashSet;

use merganser_run::{Warnings, counted};
use merganser_taxonomy::Taxonomy;

use super::ExtractConfig;
use crate::report::KrakenReport;

/// Taxa with their relatives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relatives {
    /// The given taxa and all their requested relatives.
    pub taxids: HashSet<u64>,
    /// The given taxa that are unknown, in the order in which they were given.
    pub missing: Vec<u64>,
    /// All known taxids, including those that were merged into others, sorted.
    pub known: Vec<u64>,
}

impl Relatives {
    /// Warns of given taxa that are unknown.
    pub fn warn(&self, warnings: &Warnings) {
        if let Some(first) = self.missing.first() {
            let count = counted(self.missing.len() as u64, "taxid");
            warnings.push(format!(
                "not in the taxonomy: {count}, first {first}; no taxa above or below are included"
            ));
        }
    }
}

impl From<Relatives> for ExtractConfig {
    fn from(relatives: Relatives) -> ExtractConfig {
        let Relatives { taxids, known, .. } = relatives;
        ExtractConfig { known: Some(known), ..ExtractConfig::new(taxids) }
    }
}

/// Adds the taxa that a report lists below `taxids` (with `children`) and above them up to the root (with
/// `parents`).
pub fn relatives_in_report(
    report: &KrakenReport,
    taxids: &[u64],
    children: bool,
    parents: bool,
) -> Relatives {
    let rows = report.rows();
    let up = Vec::from_iter(rows.iter().map(|row| (row.taxid, row.parent)));
    relatives(&up, taxids, children, parents)
}

/// Adds the taxa of a taxonomy below `taxids` (with `children`) and above them (with `parents`). Taxids that were
/// merged into others are treated as these, and are added if these are.
pub fn relatives_in_taxonomy(
    tree: &Taxonomy,
    taxids: &[u64],
    children: bool,
    parents: bool,
) -> Relatives {
    let row = |node: u32| {
        let parent = (node != tree.root()).then(|| tree.parent(node) as usize);
        (u64::from(tree.taxid(node)), parent)
    };
    let up: Vec<_> = (0..tree.len() as u32).map(row).collect();
    let current = |taxid: u64| {
        let node = u32::try_from(taxid).ok().and_then(|taxid| tree.node(taxid));
        node.map_or(taxid, |node| u64::from(tree.taxid(node)))
    };
    let now: Vec<u64> = taxids.iter().map(|&taxid| current(taxid)).collect();
    let mut found = relatives(&up, &now, children, parents);
    found.taxids.extend(taxids);
    for old in tree.merged().map(u64::from) {
        let new = current(old);
        if new != old {
            found.known.push(old);
        }
        if found.taxids.contains(&new) {
            found.taxids.insert(old);
        }
    }
    found.known.sort_unstable();
    found
}

/// Adds relatives; `up` has the taxid and the index of the parent of each node, parents before their children.
fn relatives(
    up: &[(u64, Option<usize>)],
    taxids: &[u64],
    children: bool,
    parents: bool,
) -> Relatives {
    let given: HashSet<u64> = taxids.iter().copied().collect();
    let mut found = given.clone();
    let mut below = Vec::with_capacity(up.len());
    for &(taxid, parent) in up {
        below.push(given.contains(&taxid) || parent.is_some_and(|parent| below[parent]));
    }
    let mut above = vec![false; up.len()];
    for (at, &(taxid, parent)) in up.iter().enumerate().rev() {
        let is_given = given.contains(&taxid);
        if (children && below[at]) || (parents && above[at]) {
            found.insert(taxid);
        }
        if let Some(parent) = parent {
            above[parent] |= above[at] || is_given;
        }
    }
    let mut known: Vec<u64> = up.iter().map(|(taxid, _)| *taxid).chain([0]).collect();
    known.sort_unstable();
    let is_missing = |taxid: &u64| known.binary_search(taxid).is_err();
    let missing = taxids.iter().copied().filter(is_missing).collect();
    Relatives { taxids: found, missing, known }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_taxonomy::NodeInfo;

    #[test]
    fn merged_taxids_are_those_that_they_were_merged_into() {
        let node = |taxid, parent| {
            let (rank, name) = ("no rank".to_owned(), String::new());
            NodeInfo { taxid, parent, rank, name }
        };
        let nodes = vec![node(1, 1), node(10, 1), node(11, 10), node(12, 1)];
        let tree = Taxonomy::new(nodes, vec![(98, 12), (99, 11)]);
        let found = |taxids: &[u64], children| {
            let found = relatives_in_taxonomy(&tree, taxids, children, false);
            let mut taxids = Vec::from_iter(found.taxids);
            taxids.sort_unstable();
            (taxids, found.missing)
        };
        assert_eq!(found(&[10], true), (vec![10, 11, 99], vec![]));
        assert_eq!(found(&[11], false), (vec![11, 99], vec![]));
        assert_eq!(found(&[99], true), (vec![11, 99], vec![]));
        assert_eq!(found(&[97], true), (vec![97], vec![97]));
        let known = relatives_in_taxonomy(&tree, &[], false, false).known;
        assert_eq!(known, [0, 1, 10, 11, 12, 98, 99]);
    }

    #[test]
    fn relatives_are_below_and_above() {
        // 1 → 2 → (10 → (11, 12), 20 → 21)
        let up = [
            (0, None),
            (1, None),
            (2, Some(1)),
            (10, Some(2)),
            (11, Some(3)),
            (12, Some(3)),
            (20, Some(2)),
            (21, Some(6)),
        ];
        let found = |taxids: &[u64], children, parents| {
            let found = relatives(&up, taxids, children, parents);
            let mut taxids = Vec::from_iter(found.taxids);
            taxids.sort_unstable();
            (taxids, found.missing)
        };
        assert_eq!(found(&[10], false, false), (vec![10], vec![]));
        assert_eq!(found(&[10], true, false), (vec![10, 11, 12], vec![]));
        assert_eq!(found(&[10], false, true), (vec![1, 2, 10], vec![]));
        // Relatives are computed only from the given taxa: 20 is not a relative of 10.
        assert_eq!(found(&[10], true, true), (vec![1, 2, 10, 11, 12], vec![]));
        assert_eq!(
            found(&[21, 11, 99, 0], true, true),
            (vec![0, 1, 2, 10, 11, 20, 21, 99], vec![99])
        );
    }
}
