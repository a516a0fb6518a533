//! Encoding of taxo.k2d.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Kraken2Taxonomy, MAGIC};
use crate::Error;
use merganser_taxonomy::Taxonomy;

impl Kraken2Taxonomy {
    /// Returns the taxa `nodes` of `tree` with their ancestors, and the file that `kraken2-build` writes for
    /// them. Nodes are numbered level by level, the children of a node by taxid. The taxids in `nameless`, which
    /// must be sorted, have an empty name.
    ///
    /// # Errors
    /// If a value does not fit in the file's fields.
    pub(in super::super) fn of(
        tree: &Taxonomy,
        nameless: &[u32],
        nodes: impl Iterator<Item = u32>,
    ) -> Result<(Kraken2Taxonomy, Vec<u8>), Error> {
        let bytes = encode(&tree.pruned(nodes), nameless, rank_texts(tree));
        let read = Kraken2Taxonomy::parse(&bytes);
        let read = read.map_err(|reason| Error::Input(format!("the taxonomy: {reason}")))?;
        Ok((read, bytes))
    }

    /// Returns all taxa of `tree`.
    ///
    /// # Errors
    /// If a value does not fit in the file's fields.
    pub(in super::super) fn of_tree(tree: &Taxonomy) -> Result<Kraken2Taxonomy, Error> {
        let nodes = 0..tree.len() as u32;
        let nameless = nodes.clone().filter(|&node| tree.name(node).is_empty());
        let mut nameless: Vec<u32> = nameless.map(|node| tree.taxid(node)).collect();
        nameless.sort_unstable();
        Ok(Kraken2Taxonomy::of(tree, &nameless, nodes)?.0)
    }

    /// Encodes the taxa as they were read, except for the numbers of their genomes, which are unused.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let sizes = [self.len(), self.names.len(), self.ranks.len()];
        let mut bytes = MAGIC.to_vec();
        sizes.iter().for_each(|&size| bytes.extend_from_slice(&(size as u64).to_le_bytes()));
        for node in 0..self.len() {
            let Range { start: first, end } = self.children[node];
            let [parent, taxid] = [self.parents[node], self.taxids[node]];
            let [name, rank] = [self.name_starts[node], self.rank_starts[node]];
            for field in [parent, first, end - first, name, rank, taxid, 0] {
                bytes.extend_from_slice(&u64::from(field).to_le_bytes());
            }
        }
        [&bytes, &self.names[..], &self.ranks[..]].concat()
    }
}

/// Encodes all taxa of `tree`, level by level.
fn encode(
    tree: &Taxonomy,
    nameless: &[u32],
    (ranks, rank_texts): (BTreeMap<&str, u64>, Vec<u8>),
) -> Vec<u8> {
    // Nodes are in preorder, children by taxid; a stable sort by depth keeps the order within a level.
    let mut order: Vec<u32> = (0..tree.len() as u32).collect();
    order.sort_by_key(|&node| tree.depth(node));
    let mut children = vec![0u64; tree.len()];
    order[1..].iter().for_each(|&node| children[tree.parent(node) as usize] += 1);
    let mut numbers = vec![0u64; tree.len()];
    let mut names = Vec::new();
    // Node 0, which is no taxon.
    let mut nodes = vec![0; super::NODE];
    let mut first = 2;
    for (&node, number) in order.iter().zip(1..) {
        // The number of the root's parent is still 0.
        let parent = numbers[tree.parent(node) as usize];
        numbers[node as usize] = number;
        let own = children[node as usize];
        let rank = ranks.get(tree.rank_name(node)).copied().unwrap_or(0);
        let taxid = u64::from(tree.taxid(node));
        for field in [parent, first, own, names.len() as u64, rank, taxid, 0] {
            nodes.extend_from_slice(&field.to_le_bytes());
        }
        first += own;
        let is_named = nameless.binary_search(&tree.taxid(node)).is_err();
        put_text(if is_named { tree.name(node) } else { "" }, &mut names);
    }
    let mut file = MAGIC.to_vec();
    for size in [tree.len() + 1, names.len(), rank_texts.len()] {
        file.extend_from_slice(&(size as u64).to_le_bytes());
    }
    [file, nodes, names, rank_texts].concat()
}

/// Returns all ranks of the tree, sorted: the position of each in the text, and the text.
fn rank_texts(tree: &Taxonomy) -> (BTreeMap<&str, u64>, Vec<u8>) {
    let all: BTreeSet<&str> = (0..tree.len() as u32).map(|node| tree.rank_name(node)).collect();
    let (mut starts, mut texts) = (BTreeMap::new(), Vec::new());
    for rank in all {
        starts.insert(rank, texts.len() as u64);
        put_text(rank, &mut texts);
    }
    (starts, texts)
}

/// Appends a text and its final zero byte. Control characters, which would end the text early or break the lines
/// of reports, become blanks.
fn put_text(text: &str, texts: &mut Vec<u8>) {
    texts.extend(text.bytes().map(|byte| if byte < b' ' { b' ' } else { byte }));
    texts.push(0);
}
