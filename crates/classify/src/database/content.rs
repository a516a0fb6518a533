//! The contents of a database besides its tables.

use super::tables::Counts;
use crate::params::Params;
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::report::CountedSequence;

/// A reference sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The first word of its header.
    pub name: String,
    /// The node in the taxonomy. In databases of earlier versions, the root if the taxon is unknown.
    pub node: u32,
    /// The length in bases.
    pub bases: u64,
    /// The number of windows.
    pub windows: u32,
}

impl CountedSequence for Target {
    fn name(&self) -> &str {
        &self.name
    }

    fn node(&self) -> u32 {
        self.node
    }
}

/// The contents of a database besides its tables.
pub(crate) struct Content {
    pub(crate) params: Params,
    pub(crate) targets: Vec<Target>,
    pub(crate) taxonomy: Taxonomy,
    pub(crate) parts: usize,
    pub(crate) counts: Counts,
    pub(crate) pruned: bool,
    pub(crate) left_out: u64,
}
