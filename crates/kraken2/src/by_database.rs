//! Reads by the databases that support their taxon, if several databases are used together.

use std::path::Path;

use merganser_run::ConfigError;
use merganser_taxreport::by_database::{DatabaseReads, DatabaseSet, ReadsBySet};
use merganser_taxreport::partial::Decoder;

use super::counts::Kraken2Counts;
use super::database::Kraken2Database;
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;

/// The set of the first database.
const FIRST: DatabaseSet = 1;

/// Collects which databases have the k-mers of a read.
#[derive(Debug)]
pub(super) struct Evidence {
    is_wanted: bool,
    /// Whether there is only one database: then it supports each classified read.
    is_single: bool,
    /// The nodes of the read's k-mers, and the databases that have them.
    found: Vec<(u32, DatabaseSet)>,
}

impl Evidence {
    pub(super) fn new(is_wanted: bool, is_single: bool) -> Evidence {
        Evidence { is_wanted, is_single, found: Vec::new() }
    }

    /// Begins a read.
    pub(super) fn clear(&mut self) {
        self.found.clear();
    }

    /// Adds k-mers with this node, which these databases have.
    pub(super) fn add(&mut self, node: u32, databases: DatabaseSet) {
        match self.found.last_mut() {
            Some(found) if found.0 == node => found.1 |= databases,
            _ if node == 0 => {}
            _ => self.found.push((node, databases)),
        }
    }

    /// Counts a read that is assigned to `call`: for the databases that have at least one of its k-mers whose node is in
    /// the clade of `call`.
    pub(super) fn count(&self, tree: &Kraken2Taxonomy, call: u32, reads: &mut ReadsBySet) {
        if !self.is_wanted {
            return;
        }
        let clade = tree.clade(call);
        let supports = |found: &&(u32, DatabaseSet)| clade.contains(&tree.clade(found.0).start);
        let supporting = self.found.iter().filter(supports);
        let databases = match self.is_single {
            true => FIRST,
            false => supporting.fold(0, |all, found| all | found.1),
        };
        *reads.entry((call, databases)).or_default() += 1;
    }
}

/// Returns empty counts by database for a run.
///
/// # Errors
/// If there are too many databases.
pub(super) fn counts_of(
    database: &Kraken2Database,
    is_wanted: bool,
) -> Result<DatabaseReads, ConfigError> {
    match is_wanted {
        true => DatabaseReads::new(database.tables.all().map(|table| folder_name(table.path()))),
        false => Ok(DatabaseReads::default()),
    }
}

impl Kraken2Counts {
    /// Adds the stored reads by database.
    ///
    /// # Errors
    /// If reading fails, or if the data is damaged.
    pub(crate) fn add_stored_by_database(
        &mut self,
        nodes: usize,
        decoder: &mut Decoder,
    ) -> Result<(), Error> {
        let with = self.taxa.iter().filter(|(_, counts)| counts.reads > 0);
        let by_taxon = with.map(|(&node, counts)| (node, counts.reads));
        // Node 0 is that of unclassified reads.
        Ok(self.by_database.add_checked(1..nodes as u32, by_taxon, decoder)?)
    }
}

/// Returns the name of the folder of a table.
fn folder_name(table: &Path) -> Option<String> {
    let folder = table.parent().and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxonomy::tests::tree;

    #[test]
    fn names_are_those_of_the_folders() {
        let paths = ["a/b/hash.k2d", "hash.k2d", "../hash.k2d"];
        let names = paths.map(|path| folder_name(Path::new(path)));
        assert_eq!(names, [Some("b".to_owned()), None, None]);
    }

    /// Nodes 4 and 5 are children of node 2, and nodes 2 and 3 of node 1.
    #[test]
    fn k_mers_within_the_clade_count() {
        let tree = tree(&[1, 1, 2, 2], &[]);
        let mut evidence = Evidence::new(true, false);
        for (node, databases) in [(4, 0b001), (4, 0b100), (0, 0), (3, 0b010), (1, 0b1000)] {
            evidence.add(node, databases);
        }
        let mut reads = ReadsBySet::default();
        [4, 2, 3, 1, 4].iter().for_each(|&call| evidence.count(&tree, call, &mut reads));
        let expected = [((4, 0b101), 2), ((2, 0b101), 1), ((3, 0b010), 1), ((1, 0b1111), 1)];
        assert_eq!(reads, expected.into());
    }
}
