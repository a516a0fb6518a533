//! From what devices answer to candidates.

use super::kernels::RawCandidate;
use crate::Database;
use crate::candidates::Candidate;

/// What candidates are told by.
#[derive(Clone, Copy)]
pub(super) struct Answers<'d> {
    pub(super) database: &'d Database,
    /// The taxon of each target at the lowest rank.
    pub(super) taxa: &'d [u32],
}

impl Answers<'_> {
    /// The candidate that a device means.
    #[inline]
    pub(super) fn candidate(&self, raw: RawCandidate) -> Candidate {
        let [target, hits, first, last, low, high] = raw;
        let before = self.database.first_window(target);
        let (window, last) = (first - before, last - before);
        let taxon = self.taxa[target as usize];
        Candidate { target, taxon, hits, pooled: hits, window, last, nodes: [low, high] }
    }
}
