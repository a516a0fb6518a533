//! The taxa and the sequences of a database as rows.

use arrow_array::builder::StringBuilder;
use arrow_array::{UInt32Array, UInt64Array};
use merganser_classify::Target;
use merganser_taxonomy::{Rank, Taxonomy};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::rows::Rows;

/// The numbers of sequences and bases of each node.
type Sums = Vec<[u64; 2]>;

/// Returns the taxa of a tree, or those of a rank, in the order of the tree, which is depth first.
pub(super) fn taxa(tree: &Taxonomy, targets: &[Target], rank: Option<Rank>) -> PyResult<Rows> {
    let own = sums(tree, targets);
    let clades = clades(tree, &own);
    let nodes = 0..tree.len() as u32;
    let nodes = nodes.filter(|&node| rank.is_none_or(|rank| tree.rank(node) == rank));
    let nodes: Vec<u32> = nodes.collect();
    let sums = |sums: &Sums, which: usize| {
        UInt64Array::from_iter_values(nodes.iter().map(|&node| sums[node as usize][which]))
    };
    let parents = nodes.iter().map(|&node| tree.taxid(tree.parent(node)));
    Columns::new()
        .with("taxid", UInt32Array::from_iter_values(nodes.iter().map(|&node| tree.taxid(node))))
        .with("rank", texts(&nodes, |node| tree.rank_name(node)))
        .with("name", texts(&nodes, |node| tree.name(node)))
        .with("parent", UInt32Array::from_iter_values(parents))
        .with("sequences", sums(&own, 0))
        .with("bases", sums(&own, 1))
        .with("clade_sequences", sums(&clades, 0))
        .with("clade_bases", sums(&clades, 1))
        .rows()
}

/// Returns the reference sequences.
pub(super) fn sequences(tree: &Taxonomy, targets: &[Target]) -> PyResult<Rows> {
    let nodes: Vec<u32> = targets.iter().map(|target| target.node).collect();
    let mut names = StringBuilder::new();
    targets.iter().for_each(|target| names.append_value(&target.name));
    let bases = targets.iter().map(|target| target.bases);
    let windows = targets.iter().map(|target| target.windows);
    Columns::new()
        .with("sequence", names.finish())
        .with("taxid", UInt32Array::from_iter_values(nodes.iter().map(|&node| tree.taxid(node))))
        .with("rank", texts(&nodes, |node| tree.rank_name(node)))
        .with("name", texts(&nodes, |node| tree.name(node)))
        .with("bases", UInt64Array::from_iter_values(bases))
        .with("windows", UInt32Array::from_iter_values(windows))
        .rows()
}

fn texts<'t>(nodes: &[u32], text: impl Fn(u32) -> &'t str) -> arrow_array::StringArray {
    let mut texts = StringBuilder::new();
    nodes.iter().for_each(|&node| texts.append_value(text(node)));
    texts.finish()
}

/// Returns the sequences and bases of each node itself.
fn sums(tree: &Taxonomy, targets: &[Target]) -> Sums {
    let mut sums = vec![[0; 2]; tree.len()];
    for target in targets {
        let [sequences, bases] = &mut sums[target.node as usize];
        *sequences += 1;
        *bases += target.bases;
    }
    sums
}

/// Returns the sequences and bases of each node's clade.
fn clades(tree: &Taxonomy, own: &Sums) -> Sums {
    let mut sums = own.clone();
    for node in (1..tree.len()).rev() {
        let [sequences, bases] = sums[node];
        let above = &mut sums[tree.parent(node as u32) as usize];
        *above = [above[0] + sequences, above[1] + bases];
    }
    sums
}
