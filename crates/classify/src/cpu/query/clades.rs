//! Finds the clades of the features of reads. A feature belongs to the lowest common ancestor of all targets that
//! have it, like a k-mer in Kraken 2.

use super::{HostQuery, Scratch};

/// The taxa that the features of some reads belong to.
#[derive(Debug, Default)]
pub(crate) struct Clades {
    /// Nodes with their numbers of features, by read.
    counts: Vec<(u32, u32)>,
    /// The end of each read's counts, and the number of its features, whether or not they are in the database.
    reads: Vec<(usize, u64)>,
}

impl Clades {
    /// Returns the nodes of a read with their numbers of features, and the number of all its features.
    pub(crate) fn of(&self, read: usize) -> (&[(u32, u32)], u64) {
        let start = read.checked_sub(1).map_or(0, |before| self.reads[before].0);
        let (end, features) = self.reads[read];
        (&self.counts[start..end], features)
    }

    /// Ends a read. Its counts are those after the previous read's, in any order; counts of the same node are added
    /// up.
    fn end(&mut self, features: u64) {
        let start = self.reads.last().map_or(0, |read| read.0);
        let own = &mut self.counts[start..];
        own.sort_unstable();
        let mut kept = 0;
        for at in 0..own.len() {
            if kept > 0 && own[kept - 1].0 == own[at].0 {
                own[kept - 1].1 += own[at].1;
            } else {
                own[kept] = own[at];
                kept += 1;
            }
        }
        self.counts.truncate(start + kept);
        self.reads.push((self.counts.len(), features));
    }
}

impl HostQuery<'_> {
    /// Finds the taxa that the features of each read belong to. Queries all parts.
    pub(crate) fn clades(&self, reads: &[[&[u8]; 2]]) -> Clades {
        let (mut scratch, mut clades) = (self.scratch(), Clades::default());
        let mut nodes = Vec::new();
        let mut rest = reads;
        while let Some(first) = rest.first() {
            if self.is_long(first) {
                let mut features = 0;
                self.each_group(first, &mut scratch, |scratch| {
                    self.nodes_of(scratch, &mut nodes);
                    features += scratch.features.len() as u64;
                    clades.counts.extend(nodes.iter().flatten().map(|&node| (node, 1)));
                });
                clades.end(features);
                rest = &rest[1..];
                continue;
            }
            let short = rest.iter().take_while(|mates| !self.is_long(mates));
            let count = self.sketch(short, &mut scratch);
            self.nodes_of(&mut scratch, &mut nodes);
            let mut feature = 0;
            for &end in &scratch.ends {
                let own = nodes[feature..end].iter().flatten();
                clades.counts.extend(own.map(|&node| (node, 1)));
                clades.end((end - feature) as u64);
                feature = end;
            }
            rest = &rest[count..];
        }
        clades
    }

    /// Replaces `nodes` by the taxa of the sketched features; `None` for features without a target.
    fn nodes_of(&self, scratch: &mut Scratch, nodes: &mut Vec<Option<u32>>) {
        let Scratch { lookup, features, .. } = scratch;
        let tree = self.database.taxonomy();
        nodes.clear();
        nodes.resize(features.len(), None);
        for part in self.parts() {
            lookup.look_up(&part.sections, features);
            for (feature, node) in nodes.iter_mut().enumerate() {
                lookup.each(&part.sections, feature..feature + 1, |locations| {
                    let windows = locations.iter().map(|&location| part.window(location));
                    let of = windows.filter_map(|window| self.target_of(window));
                    // Targets without a taxon are ignored.
                    let of = of.map(|target| self.taxa().nodes[target as usize]);
                    let of = of.filter(|&node| node != tree.root());
                    *node =
                        of.fold(*node, |all, one| Some(all.map_or(one, |all| tree.lca(all, one))));
                });
            }
        }
    }
}
