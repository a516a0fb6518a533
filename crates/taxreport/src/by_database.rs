//! Reads by the databases that support their taxon, if several databases are used together.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Range;

use merganser_run::ConfigError;
use merganser_taxonomy::plain;

use crate::Error;
use crate::partial::{Ascending, Decoder, Encoder};

/// A set of databases: bit I is that of the database with number I.
pub type DatabaseSet = u32;

/// The maximum number of databases that are counted.
const MAX_DATABASES: usize = DatabaseSet::BITS as usize;

/// Reads by node and by the set of databases that support it.
pub type ReadsBySet = HashMap<(u32, DatabaseSet), u64>;

/// Reads by taxon and by the databases that support it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseReads {
    /// The names of the databases; empty if reads are not counted by database.
    names: Vec<String>,
    reads: BTreeMap<(u32, DatabaseSet), u64>,
}

impl DatabaseReads {
    /// Returns empty counts for databases with these names, in their order. A database without a name gets one with its
    /// number, and equal names are numbered.
    ///
    /// # Errors
    /// If there are more than 32 databases.
    pub fn new(names: impl IntoIterator<Item = Option<String>>) -> Result<Self, ConfigError> {
        let names = unique(names.into_iter());
        if names.len() > MAX_DATABASES {
            return Err(ConfigError::new(format!(
                "`database_report` is for at most {MAX_DATABASES} databases, and these are {}",
                names.len()
            )));
        }
        Ok(DatabaseReads { names, reads: BTreeMap::new() })
    }

    /// Adds reads, and leaves `reads` empty.
    pub fn add(&mut self, reads: &mut ReadsBySet) {
        for (key, reads) in reads.drain() {
            *self.reads.entry(key).or_default() += reads;
        }
    }

    /// Whether reads are counted by database.
    pub fn is_wanted(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the reads of a node itself that each database supports.
    pub fn own(&self, node: u32) -> Vec<u64> {
        let mut own = vec![0; self.names.len()];
        let all = self.reads.range((node, 0)..=(node, DatabaseSet::MAX));
        all.for_each(|(&(_, databases), &reads)| add(&mut own, databases, reads));
        own
    }

    /// Returns the reads of each clade that each database supports, by the clade's node. `parent` returns the parent of a
    /// node, or `None` for the root.
    pub fn clades(&self, parent: impl Fn(u32) -> Option<u32>) -> HashMap<u32, Vec<u64>> {
        let mut clades = HashMap::new();
        for (&(node, databases), &reads) in &self.reads {
            for node in std::iter::successors(Some(node), |&node| parent(node)) {
                let new = || vec![0; self.names.len()];
                add(clades.entry(node).or_insert_with(new), databases, reads);
            }
        }
        clades
    }

    /// Returns the reads of each node that has any.
    pub fn sums(&self) -> BTreeMap<u32, u64> {
        let mut sums = BTreeMap::<u32, u64>::new();
        for (&(node, _), &reads) in &self.reads {
            let sum = sums.entry(node).or_default();
            *sum = sum.saturating_add(reads);
        }
        sums
    }

    /// Writes all counts.
    ///
    /// # Errors
    /// If writing fails.
    pub fn store(&self, encoder: &mut Encoder<'_>) -> io::Result<()> {
        encoder.number(self.names.len() as u64)?;
        self.names.iter().try_for_each(|name| encoder.text(name.as_bytes()))?;
        let mut list = Ascending::default();
        for (&(node, databases), &reads) in &self.reads {
            encoder.number(list.step_to(u64::from(node) << 32 | u64::from(databases)))?;
            encoder.number(reads)?;
        }
        encoder.end_list()
    }

    /// Adds stored counts of a taxonomy with these nodes.
    ///
    /// # Errors
    /// If reading fails, if the data is damaged, or if it is of other databases.
    pub fn add_stored(&mut self, nodes: Range<u32>, decoder: &mut Decoder) -> Result<(), Error> {
        let names = stored_names(decoder)?;
        let count = names.len();
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
        while let Some(key) = decoder.next_of(&mut list, u64::from(nodes.end) << 32)? {
            let (node, databases) = ((key >> 32) as u32, key as DatabaseSet);
            if !nodes.contains(&node) || databases == 0 || u64::from(databases) >> count != 0 {
                return Err(decoder.damaged("reads are of an unknown database, or of none"));
            }
            let reads = decoder.number()?;
            let sum = self.reads.entry((node, databases)).or_default();
            *sum = sum.saturating_add(reads);
        }
        Ok(())
    }

    /// Adds stored counts, and checks that with those before them they are the reads of each node, `of_nodes`.
    ///
    /// # Errors
    /// If reading fails, if the data is damaged, or if it is of other databases or other reads.
    pub fn add_checked(
        &mut self,
        nodes: Range<u32>,
        of_nodes: impl Iterator<Item = (u32, u64)>,
        decoder: &mut Decoder,
    ) -> Result<(), Error> {
        self.add_stored(nodes, decoder)?;
        match self.sums() == of_nodes.collect() {
            true => Ok(()),
            false => Err(decoder.damaged("reads by database are not those by taxon")),
        }
    }

    /// Writes the line with the names of the columns.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_head(&self, output: &mut dyn Write) -> io::Result<()> {
        write!(output, "taxid\trank\tname\treads\town_reads")?;
        for name in &self.names {
            write!(output, "\t{name}_reads\t{name}_own_reads")?;
        }
        writeln!(output)
    }

    /// Writes the line of a taxon.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_row(row: &DatabaseRow<'_>, output: &mut dyn Write) -> io::Result<()> {
        let &DatabaseRow { taxid, rank, name, reads, by_clade, by_node } = row;
        write!(output, "{taxid}\t{rank}\t")?;
        output.write_all(name)?;
        write!(output, "\t{}\t{}", reads[0], reads[1])?;
        for (clade, own) in by_clade.iter().zip(by_node) {
            write!(output, "\t{clade}\t{own}")?;
        }
        writeln!(output)
    }
}

/// The line of a taxon in the table of reads by database.
pub struct DatabaseRow<'r> {
    /// The taxid.
    pub taxid: u32,
    /// The code of the rank.
    pub rank: &'r dyn Display,
    /// The name.
    pub name: &'r [u8],
    /// The reads of the clade, and those of the taxon itself.
    pub reads: [u64; 2],
    /// The reads of the clade that each database supports.
    pub by_clade: &'r [u64],
    /// The reads of the taxon itself that each database supports.
    pub by_node: &'r [u64],
}

/// Reads the names of the databases.
fn stored_names(decoder: &mut Decoder) -> Result<Vec<String>, Error> {
    let count = decoder.number()?;
    if !(1..=MAX_DATABASES as u64).contains(&count) {
        return Err(decoder.damaged("the number of databases is out of range"));
    }
    let names = (0..count).map(|_| decoder.text()).collect::<Result<Vec<_>, _>>()?;
    match names.iter().any(|name| name.contains(char::is_control)) {
        true => Err(decoder.damaged("the name of a database has control characters")),
        false => Ok(names),
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

/// Returns names for columns: equal ones get a number.
fn unique(all: impl Iterator<Item = Option<String>>) -> Vec<String> {
    let of = |(number, name): (usize, Option<String>)| {
        name.map_or_else(|| format!("database{}", number + 1), plain)
    };
    let mut names: Vec<String> = Vec::new();
    for name in all.enumerate().map(of) {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut free = std::iter::once(name.clone()).chain(numbered);
        names.extend(free.find(|name| !names.contains(name)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let names = [Some("b"), None, Some("b"), None, Some("b"), Some("x\ty")];
        let names = unique(names.into_iter().map(|name| name.map(str::to_owned)));
        assert_eq!(names, ["b", "database2", "b_2", "database4", "b_3", "x y"]);
    }

    #[test]
    fn at_most_as_many_databases_as_bits() {
        assert!(DatabaseReads::new((0..32).map(|_| None)).is_ok());
        let message = DatabaseReads::new((0..33).map(|_| None)).unwrap_err().to_string();
        assert!(message.contains("at most 32 databases, and these are 33"), "{message}");
    }

    /// Nodes 1 and 2 are children of node 0.
    #[test]
    fn clades_have_the_reads_of_their_nodes() {
        let mut reads = DatabaseReads::new([None, None, None]).unwrap();
        reads.add(&mut [((1, 0b001), 2), ((1, 0b101), 3), ((2, 0b010), 4)].into());
        assert_eq!(reads.own(1), [5, 0, 3]);
        let clades = reads.clades(|node| (node > 0).then_some(0));
        assert_eq!(clades, [(0, vec![5, 4, 3]), (1, vec![5, 0, 3]), (2, vec![0, 4, 0])].into());
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        reads.store(&mut encoder).unwrap();
        encoder.finish().unwrap();
        let mut read = DatabaseReads::default();
        let by_node = [(1, 5), (2, 4)].into_iter();
        read.add_checked(0..3, by_node, &mut Decoder::of(bytes.clone())).unwrap();
        assert_eq!(read, reads);
        for (nodes, by_node) in [(0..2, [(1, 5), (2, 4)]), (0..3, [(1, 5), (2, 5)])] {
            let mut read = DatabaseReads::default();
            let mut decoder = Decoder::of(bytes.clone());
            assert!(read.add_checked(nodes, by_node.into_iter(), &mut decoder).is_err());
        }
    }
}
