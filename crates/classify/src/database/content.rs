//! What a database consists of besides its tables.

use super::tables::Counts;
use crate::params::Params;
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::report::CountedSequence;

/// A reference sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The first word of its header.
    pub name: String,
    /// Its node in the taxonomy; in databases of earlier versions, the root if its taxon is
    /// unknown.
    pub node: u32,
    /// Its length in bases.
    pub bases: u64,
    /// Its number of windows.
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

/// What a built table consists of.
pub(crate) struct Content {
    pub(crate) params: Params,
    pub(crate) targets: Vec<Target>,
    pub(crate) taxonomy: Taxonomy,
    pub(crate) parts: usize,
    pub(crate) counts: Counts,
    pub(crate) pruned: bool,
    pub(crate) left_out: u64,
}
