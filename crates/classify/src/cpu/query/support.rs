//! Finds how many windows of a read hit a clade.

use super::{HostQuery, Scratch};
use crate::sketch::sketch_windows;

/// The windows of a read with features, and those of them that hit a clade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Support {
    /// The windows with at least one feature, whether or not that is in the database.
    pub(crate) windows: u64,
    /// The windows with at least one feature that a sequence of the clade has.
    pub(crate) hit: u64,
}

impl Support {
    /// Whether at least `fraction` of the windows hit the clade.
    pub(crate) fn reaches(&self, fraction: f64) -> bool {
        // The quotient is rounded as the decimal number was, so that 7 of 100 reach 0.07.
        self.windows == 0 || self.hit as f64 / self.windows as f64 >= fraction
    }
}

impl HostQuery<'_> {
    /// Counts the windows of a read that hit the clade of `node`. Queries all parts.
    pub(crate) fn support(&self, mates: &[&[u8]; 2], node: u32, scratch: &mut Scratch) -> Support {
        let params = self.database.params();
        let mut support = Support::default();
        for mate in mates.iter().filter(|mate| mate.len() >= params.k as usize) {
            let windows = params.windows(mate.len() as u64) as usize;
            let mut first = 0;
            while first < windows {
                let Scratch { sketcher, features, ends, .. } = &mut *scratch;
                features.clear();
                ends.clear();
                let end = |end| ends.push(end);
                first = sketch_windows(mate, params, first, sketcher, features, end);
                self.add_support(node, scratch, &mut support);
            }
        }
        support
    }

    /// Adds the sketched windows.
    fn add_support(&self, node: u32, scratch: &mut Scratch, support: &mut Support) {
        let Scratch { lookup, features, ends, .. } = scratch;
        let hits = self.hits_of_clade(node, lookup, features);
        let mut start = 0;
        for &end in ends.iter() {
            support.windows += u64::from(end > start);
            support.hit += u64::from(hits[start..end].contains(&true));
            start = end;
        }
    }

    /// Whether a window is of a sequence of the clade of `node`. Sequences without a taxon are in no clade.
    pub(super) fn is_in_clade(&self, window: u32, node: u32) -> bool {
        let tree = self.database.taxonomy();
        let of = self.target_of(window).map(|target| self.taxa().nodes[target as usize]);
        of.is_some_and(|of| of != tree.root() && tree.lca(of, node) == node)
    }

    /// Returns whether a sequence of the clade has each feature.
    fn hits_of_clade(&self, node: u32, lookup: &mut super::Lookup, features: &[u64]) -> Vec<bool> {
        let mut hits = vec![false; features.len()];
        for part in self.parts() {
            lookup.look_up(&part.sections, features);
            for (feature, hit) in hits.iter_mut().enumerate() {
                lookup.each(&part.sections, feature..feature + 1, |locations| {
                    let mut windows = locations.iter().map(|&location| part.window(location));
                    *hit = *hit || windows.any(|window| self.is_in_clade(window, node));
                });
            }
        }
        hits
    }
}
