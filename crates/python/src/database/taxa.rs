//! The taxa and the sequences of a database as rows.

use arrow_array::builder::StringBuilder;
use arrow_array::{UInt32Array, UInt64Array};
use merganser_classify::{Target, TargetSum, TargetSums};
use merganser_taxonomy::{Rank, Taxonomy};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::rows::Rows;

/// Returns the taxa of a tree, or those of a rank, in the order of the tree, which is depth first. Databases of Kraken 2
/// have no `targets`, and no columns for their numbers.
pub(super) fn taxa(
    tree: &Taxonomy,
    targets: Option<&[Target]>,
    rank: Option<Rank>,
) -> PyResult<Rows> {
    let nodes = 0..tree.len() as u32;
    let nodes = nodes.filter(|&node| rank.is_none_or(|rank| tree.rank(node) == rank));
    let nodes: Vec<u32> = nodes.collect();
    let parents = nodes.iter().map(|&node| tree.taxid(tree.parent(node)));
    let columns = Columns::new()
        .with("taxid", UInt32Array::from_iter_values(nodes.iter().map(|&node| tree.taxid(node))))
        .with("rank", texts(&nodes, |node| tree.rank_name(node)))
        .with("name", texts(&nodes, |node| tree.name(node)))
        .with("parent", UInt32Array::from_iter_values(parents));
    let Some(TargetSums { own, clades }) = targets.map(|targets| TargetSums::of(tree, targets))
    else {
        return columns.rows();
    };
    let sums = |sums: &[TargetSum], of: fn(&TargetSum) -> u64| {
        UInt64Array::from_iter_values(nodes.iter().map(|&node| of(&sums[node as usize])))
    };
    columns
        .with("sequences", sums(&own, |sum| sum.sequences))
        .with("bases", sums(&own, |sum| sum.bases))
        .with("clade_sequences", sums(&clades, |sum| sum.sequences))
        .with("clade_bases", sums(&clades, |sum| sum.bases))
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
