//! Reads by the databases that support their taxon, if several databases are used together.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;

use merganser_run::ConfigError;
use merganser_taxonomy::plain;
use merganser_taxreport::partial::{Ascending, Decoder, Encoder};

use super::counts::Kraken2Counts;
use super::database::Kraken2Database;
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;

/// A set of databases: bit I is that of the database with number I.
pub(super) type DatabaseSet = u32;

/// The maximum number of databases that are counted.
const MAX_DATABASES: usize = 32;

/// The set of the first database.
const FIRST: DatabaseSet = 1;

/// Reads by node and by the set of databases that support it.
pub(super) type ReadsBySet = HashMap<(u32, DatabaseSet), u64>;

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

/// Reads by taxon and by the databases that support it.
#[derive(Clone, Debug, Default)]
pub(super) struct DatabaseReads {
    /// The names of the databases; empty if reads are not counted by database.
    names: Vec<String>,
    reads: BTreeMap<(u32, DatabaseSet), u64>,
}

impl DatabaseReads {
    /// Returns empty counts for a run.
    ///
    /// # Errors
    /// If there are too many databases.
    pub(super) fn of(database: &Kraken2Database, is_wanted: bool) -> Result<DatabaseReads, Error> {
        if !is_wanted {
            return Ok(DatabaseReads::default());
        }
        let names = names(database.tables.all().map(|table| table.path()));
        if names.len() > MAX_DATABASES {
            return Err(ConfigError::new(format!(
                "`database_report` is for at most {MAX_DATABASES} databases, and these are {}",
                names.len()
            ))
            .into());
        }
        Ok(DatabaseReads { names, reads: BTreeMap::new() })
    }

    /// Adds the reads of a batch.
    pub(super) fn add(&mut self, batch: &mut ReadsBySet) {
        for (key, reads) in batch.drain() {
            *self.reads.entry(key).or_default() += reads;
        }
    }

    /// Whether reads were counted by database.
    pub(super) fn is_wanted(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the reads of a node itself that each database supports.
    pub(super) fn own(&self, node: u32) -> Vec<u64> {
        let mut own = vec![0; self.names.len()];
        let all = self.reads.range((node, 0)..=(node, DatabaseSet::MAX));
        all.for_each(|(&(_, databases), &reads)| add(&mut own, databases, reads));
        own
    }

    /// Returns the reads of each clade that each database supports, by the clade's node.
    pub(super) fn clades(&self, tree: &Kraken2Taxonomy) -> HashMap<u32, Vec<u64>> {
        let mut clades = HashMap::new();
        for (&(node, databases), &reads) in &self.reads {
            let mut node = node;
            while node != 0 {
                let new = || vec![0; self.names.len()];
                add(clades.entry(node).or_insert_with(new), databases, reads);
                node = tree.parent(node);
            }
        }
        clades
    }

    /// Writes all counts.
    ///
    /// # Errors
    /// If writing fails.
    pub(super) fn store(&self, encoder: &mut Encoder<'_>) -> io::Result<()> {
        encoder.number(self.names.len() as u64)?;
        self.names.iter().try_for_each(|name| encoder.text(name.as_bytes()))?;
        let mut list = Ascending::default();
        for (&(node, databases), &reads) in &self.reads {
            encoder.number(list.step_to(u64::from(node) << 32 | u64::from(databases)))?;
            encoder.number(reads)?;
        }
        encoder.end_list()
    }

    /// Adds stored counts of a taxonomy with `nodes` nodes.
    ///
    /// # Errors
    /// If reading fails, if the data is damaged, or if it is of other databases.
    pub(super) fn add_stored(&mut self, nodes: usize, decoder: &mut Decoder) -> Result<(), Error> {
        let count = decoder.number()? as usize;
        if !(1..=MAX_DATABASES).contains(&count) {
            return Err(decoder.damaged("the number of databases is out of range").into());
        }
        let names = (0..count).map(|_| decoder.text()).collect::<Result<Vec<_>, _>>()?;
        if names.iter().any(|name| name.contains(char::is_control)) {
            return Err(decoder.damaged("the name of a database has control characters").into());
        }
        if self.names.is_empty() {
            self.names = names;
        } else if self.names != names {
            let [own, others] = [&names, &self.names].map(|names| names.join(", "));
            return Err(Error::content(
                decoder.path(),
                format!(
                    "is of the databases {own}, and others are of {others}: classify with the same \
                     databases, of the same names and in the same order"
                ),
            ));
        }
        let mut list = Ascending::default();
        while let Some(key) = decoder.next_of(&mut list, (nodes as u64) << 32)? {
            let (node, databases) = ((key >> 32) as u32, key as DatabaseSet);
            if node == 0 || databases == 0 || u64::from(databases) >> count != 0 {
                return Err(decoder.damaged("reads are of an unknown database, or of none").into());
            }
            let reads = decoder.number()?;
            let sum = self.reads.entry((node, databases)).or_default();
            *sum = sum.saturating_add(reads);
        }
        Ok(())
    }

    /// Returns the reads of each node that has any.
    pub(super) fn sums(&self) -> BTreeMap<u32, u64> {
        let mut sums = BTreeMap::<u32, u64>::new();
        for (&(node, _), &reads) in &self.reads {
            let sum = sums.entry(node).or_default();
            *sum = sum.saturating_add(reads);
        }
        sums
    }

    /// Writes the line with the names of the columns.
    ///
    /// # Errors
    /// If writing fails.
    pub(super) fn write_head(&self, output: &mut dyn Write) -> io::Result<()> {
        write!(output, "taxid\trank\tname\treads\town_reads")?;
        for name in &self.names {
            write!(output, "\t{name}_reads\t{name}_own_reads")?;
        }
        writeln!(output)
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
        self.by_database.add_stored(nodes, decoder)?;
        let with = self.taxa.iter().filter(|(_, counts)| counts.reads > 0);
        let by_taxon = with.map(|(&node, counts)| (node, counts.reads)).collect();
        match self.by_database.sums() == by_taxon {
            true => Ok(()),
            false => Err(decoder.damaged("reads by database are not those by taxon").into()),
        }
    }
}

/// Adds reads that these databases support to the sums of all databases.
fn add(sums: &mut [u64], databases: DatabaseSet, reads: u64) {
    for (number, sum) in sums.iter_mut().enumerate() {
        if databases >> number & 1 == 1 {
            *sum = sum.saturating_add(reads);
        }
    }
}

/// Returns names for the columns of databases with these tables: those of their folders. Equal ones get a number.
fn names<'p>(tables: impl Iterator<Item = &'p Path>) -> Vec<String> {
    let of = |(number, table): (usize, &Path)| {
        let folder = table.parent().and_then(Path::file_name);
        let name = folder.map(|name| plain(name.to_string_lossy().into_owned()));
        name.unwrap_or_else(|| format!("database{}", number + 1))
    };
    let mut names: Vec<String> = Vec::new();
    for name in tables.enumerate().map(of) {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut free = std::iter::once(name.clone()).chain(numbered);
        names.extend(free.find(|name| !names.contains(name)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxonomy::tests::tree;

    #[test]
    fn names_are_those_of_the_folders() {
        let paths = ["a/b/hash.k2d", "hash.k2d", "c/b/hash.k2d", "../hash.k2d", "b/hash.k2d"];
        let paths = paths.iter().chain(&["x\ty/hash.k2d"]).map(Path::new);
        assert_eq!(names(paths), ["b", "database2", "b_2", "database4", "b_3", "x y"]);
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
