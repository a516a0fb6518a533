//! NCBI and GTDB taxonomies.
//!
//! A [`Dump`] is read from NCBI's taxdump or from GTDB's tables. It holds a [`Taxonomy`]: a tree with its nodes in
//! depth-first order, which finds lowest common ancestors in constant time. [`read_map`] reads tables that assign
//! taxids to sequences and assemblies.

#![deny(missing_docs)]

mod dump;
mod error;
mod gtdb;
mod joint;
mod lca;
mod maps;
mod names;
mod rank;
mod source;
mod store;

pub use dump::{Dump, TaxonomyNotes, parse_taxid};
pub use error::Error;
pub use gtdb::{Accessions, lineage};
pub use joint::{JointTaxonomy, SharedTaxa, compare, unite};
pub use maps::{MapKey, check_map, read_map};
pub use names::{assembly, kraken_taxid, kraken_taxids, stem};
pub use rank::Rank;
pub use source::TaxonomySource;

use lca::LcaTable;

/// A node that is not yet part of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    /// The taxid.
    pub taxid: u32,
    /// The parent's taxid. The root is its own parent.
    pub parent: u32,
    /// The rank as NCBI spells it.
    pub rank: String,
    /// The scientific name.
    pub name: String,
}

/// A tree of taxa.
///
/// Node 0 is the root. The descendants of a node have the numbers directly above its own, without a gap. Children
/// are in the order of their taxids.
#[derive(Clone, Debug)]
pub struct Taxonomy {
    taxids: Vec<u32>,
    parents: Vec<u32>,
    depths: Vec<u32>,
    ranks: Vec<Rank>,
    /// For each node, the first of it and its ancestors that has a rank, or the root.
    ranked: Vec<u32>,
    /// Whether each node or one of its ancestors has a main rank.
    main: Vec<bool>,
    /// The ranks as NCBI spells them.
    rank_names: Vec<String>,
    names: Vec<String>,
    /// (taxid, node), sorted.
    by_taxid: Vec<(u32, u32)>,
    /// (old taxid, current taxid), sorted.
    merged: Vec<(u32, u32)>,
    lca: LcaTable,
}

impl Taxonomy {
    /// Builds the tree of `nodes`, with `merged` as further taxids of some of them: (old, current).
    ///
    /// Exactly one node, the root, must be its own parent, and all other parents must be in `nodes`, without cycles.
    pub fn new(mut nodes: Vec<NodeInfo>, mut merged: Vec<(u32, u32)>) -> Taxonomy {
        nodes.sort_by_key(|node| node.taxid);
        let order = depth_first(&nodes);
        let mut place = vec![0u32; nodes.len()];
        order.iter().enumerate().for_each(|(at, &from)| place[from as usize] = at as u32);
        let position = |taxid: u32| {
            let found = nodes.binary_search_by_key(&taxid, |node| node.taxid);
            found.map_or(0, |from| place[from])
        };
        let parents: Vec<u32> =
            order.iter().map(|&from| position(nodes[from as usize].parent)).collect();
        let mut depths = vec![0u32; nodes.len()];
        for node in 1..parents.len() {
            depths[node] = depths[parents[node] as usize] + 1;
        }
        let by_taxid = nodes.iter().zip(&place).map(|(node, &at)| (node.taxid, at)).collect();
        merged.sort_unstable();
        let mut infos: Vec<Option<NodeInfo>> = nodes.into_iter().map(Some).collect();
        let mut tree = Taxonomy {
            taxids: Vec::new(),
            lca: LcaTable::new(&parents),
            parents,
            depths,
            ranks: Vec::new(),
            ranked: vec![0; order.len()],
            main: vec![false; order.len()],
            rank_names: Vec::new(),
            names: Vec::new(),
            by_taxid,
            merged,
        };
        for info in order.iter().filter_map(|&from| infos[from as usize].take()) {
            tree.taxids.push(info.taxid);
            tree.ranks.push(if info.taxid == 1 { Rank::Root } else { Rank::of(&info.rank) });
            tree.rank_names.push(plain(info.rank));
            tree.names.push(plain(info.name));
        }
        for (node, &rank) in tree.ranks.iter().enumerate() {
            // The root has no other parent, and all other parents come before their children.
            let parent = tree.parents[node] as usize;
            tree.ranked[node] = if rank == Rank::None { tree.ranked[parent] } else { node as u32 };
            tree.main[node] = rank.letter().is_some() || tree.main[parent];
        }
        tree
    }

    /// The number of nodes, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "there is always a root")]
    pub fn len(&self) -> usize {
        self.taxids.len()
    }

    /// Returns the root.
    pub fn root(&self) -> u32 {
        0
    }

    /// Returns the taxid of a node.
    pub fn taxid(&self, node: u32) -> u32 {
        self.taxids[node as usize]
    }

    /// Returns the node with this taxid, or with the taxid that it was merged into.
    pub fn node(&self, taxid: u32) -> Option<u32> {
        let find = |taxid: u32| {
            let found = self.by_taxid.binary_search_by_key(&taxid, |entry| entry.0);
            found.ok().map(|at| self.by_taxid[at].1)
        };
        find(taxid).or_else(|| {
            let found = self.merged.binary_search_by_key(&taxid, |entry| entry.0).ok()?;
            find(self.merged[found].1)
        })
    }

    /// Returns the taxids that were merged into others, sorted. [`node`](Self::node) gives their current nodes.
    pub fn merged(&self) -> impl Iterator<Item = u32> + '_ {
        self.merged.iter().map(|(taxid, _)| *taxid)
    }

    /// Returns the parent of a node. The root is its own parent.
    pub fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    /// Returns the number of steps from the root to a node.
    pub fn depth(&self, node: u32) -> u32 {
        self.depths[node as usize]
    }

    /// Returns the rank of a node: [`Rank::None`] if it has none of the ranks of [`Rank`].
    pub fn rank(&self, node: u32) -> Rank {
        self.ranks[node as usize]
    }

    /// Returns the rank of a node as NCBI spells it.
    pub fn rank_name(&self, node: u32) -> &str {
        &self.rank_names[node as usize]
    }

    /// Returns the scientific name of a node.
    pub fn name(&self, node: u32) -> &str {
        &self.names[node as usize]
    }

    /// Returns the node and its ancestors, the root last.
    pub fn lineage(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let next = |&node: &u32| (node != self.root()).then(|| self.parent(node));
        std::iter::successors(Some(node), next)
    }

    /// Returns the first of the node and its ancestors that has a rank.
    pub fn ranked(&self, node: u32) -> u32 {
        self.ranked[node as usize]
    }

    /// Returns the node or ancestor of exactly this rank.
    pub fn at_rank(&self, node: u32, rank: Rank) -> Option<u32> {
        self.lineage(node).find(|&node| self.rank(node) == rank)
    }

    /// Returns the first of the node and its ancestors whose rank is `rank` or above.
    pub fn at_or_above(&self, node: u32, rank: Rank) -> u32 {
        let found = self.lineage(node).find(|&node| {
            let own = self.rank(node);
            own != Rank::None && own >= rank
        });
        found.unwrap_or(self.root())
    }

    /// Whether the node or one of its ancestors has a main rank, from species to domain.
    pub fn has_main_rank(&self, node: u32) -> bool {
        self.main[node as usize]
    }

    /// Returns the taxon of a genome where taxa below `lowest` are not distinguished: the first of the node and its
    /// ancestors whose rank is `lowest` or above.
    ///
    /// If the lineage has no main rank, as in lists of plasmids or virus lineages, this is the node itself.
    pub fn told_apart_at(&self, node: u32, lowest: Rank) -> u32 {
        if self.has_main_rank(node) { self.at_or_above(node, lowest) } else { node }
    }

    /// Returns the lowest common ancestor of two nodes, in constant time.
    #[inline]
    pub fn lca(&self, a: u32, b: u32) -> u32 {
        self.lca.query(a, b)
    }

    /// Returns the tree of only the nodes `keep` and their ancestors.
    pub fn pruned(&self, keep: impl Iterator<Item = u32>) -> Taxonomy {
        let mut wanted = vec![false; self.len()];
        wanted[0] = true;
        for mut node in keep {
            while !wanted[node as usize] {
                wanted[node as usize] = true;
                node = self.parent(node);
            }
        }
        let kept = |node: &u32| wanted[*node as usize];
        let nodes = (0..self.len() as u32).filter(kept).map(|node| self.info(node)).collect();
        let into_kept = |&&(_, new): &&(u32, u32)| self.node(new).is_some_and(|node| kept(&node));
        let merged = self.merged.iter().filter(into_kept).copied().collect();
        Taxonomy::new(nodes, merged)
    }

    /// Returns this tree with all nodes of `other` that it lacks.
    pub fn united(&self, other: &Taxonomy) -> Taxonomy {
        let all =
            |tree: &Taxonomy| (0..tree.len() as u32).map(|n| tree.info(n)).collect::<Vec<_>>();
        let mut nodes = all(self);
        nodes.extend(all(other).into_iter().filter(|info| {
            self.by_taxid.binary_search_by_key(&info.taxid, |entry| entry.0).is_err()
        }));
        let mut merged = self.merged.clone();
        merged.extend(&other.merged);
        merged.sort_unstable();
        merged.dedup_by_key(|entry| entry.0);
        Taxonomy::new(nodes, merged)
    }

    fn info(&self, node: u32) -> NodeInfo {
        let at = node as usize;
        NodeInfo {
            taxid: self.taxids[at],
            parent: self.taxids[self.parents[at] as usize],
            rank: self.rank_names[at].clone(),
            name: self.names[at].clone(),
        }
    }
}

/// Replaces control characters in a name by spaces, so that it cannot add lines or fields to reports.
pub fn plain(name: String) -> String {
    match name.contains(char::is_control) {
        true => name.replace(char::is_control, " "),
        false => name,
    }
}

/// Returns the indices of `nodes`, which are sorted by taxid, in the order of a depth-first walk from the root.
fn depth_first(nodes: &[NodeInfo]) -> Vec<u32> {
    let find = |taxid: u32| nodes.binary_search_by_key(&taxid, |node| node.taxid).ok();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    let mut stack = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        match find(node.parent) {
            Some(parent) if parent != at => children[parent].push(at as u32),
            _ => stack.push(at as u32),
        }
    }
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(at) = stack.pop() {
        order.push(at);
        // Pushed in reverse, as the last one pushed is popped first.
        stack.extend(children[at as usize].iter().rev());
    }
    order
}
