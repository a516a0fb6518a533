//! Finds the clades of the features of reads, and the bases that they cover. A feature belongs to the lowest common
//! ancestor of all targets that have it, like a k-mer in Kraken 2.

use super::{HostQuery, Scratch};
use crate::decide::Stretch;
use crate::sketch::place_some;

/// The stretches of some reads that features cover.
#[derive(Debug, Default)]
pub(crate) struct Clades {
    /// Ordered by read, then start.
    stretches: Vec<Stretch>,
    /// The end of each read's stretches.
    ends: Vec<usize>,
}

impl Clades {
    /// Returns the stretches of a read, ordered by their start.
    pub(crate) fn of(&self, read: usize) -> &[Stretch] {
        let start = read.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.stretches[start..self.ends[read]]
    }

    /// Adds a feature of the current read; extends the last stretch if the feature belongs to the same clade and
    /// leaves no gap.
    fn add(&mut self, new: Stretch) {
        let started = self.ends.last().is_none_or(|&end| self.stretches.len() > end);
        match self.stretches.last_mut().filter(|_| started) {
            Some(last) if last.node == new.node && (last.start..=last.end).contains(&new.start) => {
                last.end = last.end.max(new.end);
            }
            _ => self.stretches.push(new),
        }
    }

    /// Ends the current read.
    fn end(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        // Windows of other parameters may overlap.
        self.stretches[start..].sort_unstable();
        self.ends.push(self.stretches.len());
    }
}

/// Features that have yet to be looked up; several reads are looked up together.
#[derive(Default)]
struct Pending {
    /// The first base of each feature, counted over both mates.
    places: Vec<u64>,
    /// The end of the features of each read that has no more.
    ends: Vec<usize>,
    nodes: Vec<Option<u32>>,
}

impl HostQuery<'_> {
    /// Finds the stretches that the features of each read cover. Queries all parts.
    pub(crate) fn clades(&self, reads: &[[&[u8]; 2]]) -> Clades {
        let (mut scratch, mut clades) = (self.scratch(), Clades::default());
        let mut pending = Pending::default();
        let params = self.database.params();
        for mates in reads {
            let mut before = 0;
            for mate in mates {
                let long = mate.len() >= params.k as usize;
                let windows = if long { params.windows(mate.len() as u64) as usize } else { 0 };
                let mut first = 0;
                while first < windows {
                    let Scratch { sketcher, features, .. } = &mut scratch;
                    first = place_some(mate, params, first, sketcher, |feature, at| {
                        features.push(feature);
                        pending.places.push(before + at as u64);
                    });
                    if features.len() >= self.group {
                        self.find_stretches(&mut scratch, &mut pending, &mut clades);
                    }
                }
                before += mate.len() as u64;
            }
            pending.ends.push(pending.places.len());
        }
        self.find_stretches(&mut scratch, &mut pending, &mut clades);
        clades
    }

    /// Looks up the pending features and adds them to their reads.
    fn find_stretches(&self, scratch: &mut Scratch, pending: &mut Pending, clades: &mut Clades) {
        let Pending { places, ends, nodes } = pending;
        self.nodes_of(scratch, nodes);
        let k = u64::from(self.database.params().k);
        let found = places.iter().zip(nodes.iter());
        let mut found = found.map(|(&start, &node)| Stretch { start, end: start + k, node });
        let mut done = 0;
        for &end in ends.iter() {
            found.by_ref().take(end - done).for_each(|stretch| clades.add(stretch));
            clades.end();
            done = end;
        }
        // The last read may have more features.
        found.for_each(|stretch| clades.add(stretch));
        places.clear();
        ends.clear();
        scratch.features.clear();
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
