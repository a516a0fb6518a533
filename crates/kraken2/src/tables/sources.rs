//! Look-ups that also report which tables have a minimizer. Apart from the others, which are on the path of every run.

use super::{Tables, joined};
use crate::Error;
use crate::table::WaitingSearches;
use crate::taxonomy::Kraken2Taxonomy;
use merganser_taxreport::by_database::DatabaseSet;

impl Tables {
    /// Looks up minimizers like [`look_up`](Self::look_up), and replaces `sources` with the tables that have each.
    ///
    /// # Errors
    /// If a database turns out to be damaged.
    pub(in super::super) fn look_up_sources(
        &self,
        minimizers: &[u64],
        tree: &Kraken2Taxonomy,
        (nodes, sources): (&mut Vec<u32>, &mut Vec<DatabaseSet>),
    ) -> Result<(), Error> {
        for all in [&mut *nodes, &mut *sources] {
            all.clear();
            all.resize(minimizers.len(), 0);
        }
        let mut found = Vec::new();
        for (number, member) in self.0.iter().enumerate() {
            member.table.look_up(minimizers, &mut found)?;
            member.to_joint(&mut found);
            let places = nodes.iter_mut().zip(&mut *sources).zip(&found);
            for ((node, source), &found) in places.filter(|(_, found)| **found != 0) {
                *node = joined(tree, *node, found);
                *source |= 1 << number;
            }
        }
        Ok(())
    }

    /// Replaces `sources` with the tables in which searches for `minimizers` minimizers found each.
    pub(in super::super) fn found_sources(
        &self,
        searches: &[WaitingSearches],
        minimizers: usize,
        sources: &mut Vec<DatabaseSet>,
    ) {
        sources.clear();
        sources.resize(minimizers, 0);
        for (number, searches) in searches.iter().enumerate() {
            searches.each_found(|minimizer| sources[minimizer] |= 1 << number);
        }
    }
}
