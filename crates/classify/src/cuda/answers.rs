//! Converts the answers of devices to candidates.

use super::kernels::RawCandidate;
use crate::Database;
use crate::candidates::Candidate;
use crate::database::Origin;

/// Data needed to convert answers.
#[derive(Clone, Copy)]
pub(super) struct Answers<'d> {
    pub(super) database: &'d Database,
    /// The taxon of each target at the lowest rank.
    pub(super) taxa: &'d [u32],
    /// The targets that the part refers to.
    pub(super) origin: &'d Origin,
}

impl Answers<'_> {
    /// Converts a device's candidate that was not pooled.
    #[inline]
    pub(super) fn candidate(&self, raw: RawCandidate) -> Candidate {
        self.pooled(raw, raw[1])
    }

    /// Converts a device's candidate with the number of features that its taxon has.
    #[inline]
    pub(super) fn pooled(&self, raw: RawCandidate, pooled: u32) -> Candidate {
        let [own, hits, first, last, low, high] = raw;
        let target = self.origin.targets.start + own;
        let before = self.database.first_window(target) - self.origin.first_window;
        let (window, last) = (first - before, last - before);
        let taxon = self.taxa[target as usize];
        Candidate { target, taxon, hits, pooled, window, last, nodes: [low, high] }
    }
}
