//! Taxonomies read from files: NCBI's dump here, GTDB's tables in `gtdb`.
//!
//! The dump consists of nodes.dmp and names.dmp and, optionally, merged.dmp and delnodes.dmp. Fields end in
//! `\t|\t`, records in `\t|\n`; newer dumps have additional fields at the end.

mod files;
mod mending;
mod record;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use merganser_run::{Budget, ConfigError, Warnings, thousands};

use crate::gtdb::{self, Accessions};
use crate::source::dump_files;
use crate::{Error, Taxonomy, TaxonomySource};
use files::{read_names, read_nodes, read_pairs};
use mending::{attach_orphans, follow_merges, refuse_cycles};
use record::malformed;
pub use record::parse_taxid;

/// A taxonomy and what was noticed while reading it.
#[derive(Debug)]
pub struct Dump {
    /// The whole tree.
    pub taxonomy: Taxonomy,
    /// The deleted taxids, sorted.
    pub deleted: Vec<u32>,
    /// The problems that were found and mended.
    pub notes: TaxonomyNotes,
    /// The folder of NCBI's dump; `None` for GTDB's tables.
    pub folder: Option<PathBuf>,
    /// The taxa of accessions, from GTDB's tables; `None` for NCBI's dump.
    pub accessions: Option<Accessions>,
}

/// Problems of a taxonomy that were mended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxonomyNotes {
    /// Taxids whose parent does not exist, sorted. They are attached to the root.
    pub orphans: Vec<u32>,
    /// Taxids without a scientific name, sorted. Their number is used as their name.
    pub nameless: Vec<u32>,
    /// The number of lines of names.dmp that give a taxon a further scientific name, which replaces the earlier
    /// one, and the first such line with its taxid.
    pub renamed: (u64, Option<(u64, u32)>),
}

/// Approximate memory of a taxon while a dump is read, its name included.
const READING_BYTES: u64 = 310;
/// Approximate memory of a taxon after the dump has been read.
const TAXON_BYTES: u64 = 220;

impl Dump {
    /// Reads NCBI's dump from a folder, or GTDB's tables.
    ///
    /// # Errors
    /// NCBI: if nodes.dmp or names.dmp is missing, a record lacks its numbers, a taxid occurs twice, there is no
    /// root (taxid 1), or a node is its own ancestor. GTDB: if a line is not an accession with a lineage of ranks
    /// in order, or an accession has two lineages.
    pub fn read(source: impl Into<TaxonomySource>) -> Result<Dump, Error> {
        Dump::read_within(&source.into(), u64::MAX, 0)
    }

    /// Reads a taxonomy within `memory` bytes, `taken` of which are needed for something else once it has been read.
    ///
    /// # Errors
    /// Fails as [`read`](Self::read) does, and if it needs more memory; of NCBI's dump, this is found before names
    /// are read.
    pub fn read_within(source: &TaxonomySource, memory: u64, taken: u64) -> Result<Dump, Error> {
        if let Some(folder) = source.folder() {
            return Dump::of_folder(folder, memory, taken);
        }
        let (taxonomy, accessions) = gtdb::read(source.tables()?, memory.saturating_sub(taken))?;
        Ok(Dump {
            taxonomy,
            deleted: Vec::new(),
            notes: TaxonomyNotes::default(),
            folder: None,
            accessions: Some(accessions),
        })
    }

    fn of_folder(folder: &Path, memory: u64, taken: u64) -> Result<Dump, Error> {
        let (reading, kept) = (Budget::new(memory), Budget::of_part(memory).with(taken));
        let most = (reading.left() / READING_BYTES).min(kept.left() / TAXON_BYTES);
        let (mut nodes, nodes_path, records) = read_nodes(folder, most)?;
        if records > most {
            let [reading, kept] =
                [reading.with(records * READING_BYTES), kept.with(records * TAXON_BYTES)];
            let what = format!("a build with a taxonomy of {records} taxa needs");
            let remedy = "or give a taxonomy of the taxa that occur";
            return Err(reading.max(kept).shortage(what, remedy).into());
        }
        let mut notes = TaxonomyNotes::default();
        attach_orphans(&mut nodes, &mut notes);
        refuse_cycles(&nodes, &nodes_path)?;
        read_names(folder, &mut nodes, &mut notes)?;
        let merged = read_pairs(&folder.join("merged.dmp"), 2)?;
        let deleted = read_pairs(&folder.join("delnodes.dmp"), 1)?;
        let merged = follow_merges(&merged, |taxid| nodes.contains_key(&taxid));
        let mut deleted: Vec<u32> = deleted.iter().map(|pair| pair[0]).collect();
        deleted.sort_unstable();
        let taxonomy = Taxonomy::new(nodes.into_values().collect(), merged);
        Ok(Dump { taxonomy, deleted, notes, folder: Some(folder.to_owned()), accessions: None })
    }

    /// Fails if a taxon has two scientific names.
    ///
    /// # Errors
    /// [`Error::Content`], naming the line with the second name.
    pub fn refuse_renamed(&self) -> Result<(), Error> {
        let (Some(folder), (_, Some((line, taxid)))) = (&self.folder, self.notes.renamed) else {
            return Ok(());
        };
        let what = format!("taxid {taxid} has a second scientific name: remove the wrong line");
        Err(malformed(&folder.join("names.dmp"), line, &what))
    }

    /// Warns of missing names and of taxa with several names.
    pub fn warn_of_names(&self, warnings: &Warnings) {
        let Some(folder) = &self.folder else { return };
        let (file, TaxonomyNotes { nameless, renamed, .. }) =
            (folder.join("names.dmp"), &self.notes);
        if let Some(first) = nameless.first() {
            warnings.push(format!(
                "{}: {} of {} taxa have no scientific name in it, first taxid {first}: is the file \
                 truncated? Download it again",
                file.display(),
                thousands(nameless.len() as u64),
                thousands(self.taxonomy.len() as u64)
            ));
        }
        if let (count, Some((line, taxid))) = renamed {
            warnings.push(format!(
                "{}: {} lines have a further scientific name of a taxon, first line {line} (taxid {taxid}): \
                 the last one is used, as Kraken 2 does; remove the wrong lines",
                file.display(),
                thousands(*count)
            ));
        }
    }

    /// Returns the files of the dump in `folder`, whether or not they exist.
    pub fn files(folder: &Path) -> [PathBuf; 4] {
        dump_files(folder)
    }

    /// Returns the approximate memory of the taxonomy in bytes.
    pub fn bytes(&self) -> u64 {
        let accessions = self.accessions.as_ref().map_or(0, Accessions::bytes);
        self.taxonomy.len() as u64 * TAXON_BYTES + accessions
    }

    /// Checks that the taxa of GTDB's tables have the same taxids as in a database, as other tables may number them
    /// differently. NCBI's taxids are stable and are not checked.
    ///
    /// # Errors
    /// [`Error::Config`], naming the first taxid that differs.
    pub fn refuse_other_numbers(&self, database: &Taxonomy) -> Result<(), Error> {
        if self.accessions.is_none() {
            return Ok(());
        }
        let described = |tree: &Taxonomy, node: u32| {
            let parent = tree.taxid(tree.parent(node));
            (tree.name(node).to_owned(), tree.rank_name(node).to_owned(), parent)
        };
        for node in 1..database.len() as u32 {
            let taxid = database.taxid(node);
            let own = self.taxonomy.node(taxid).map(|node| described(&self.taxonomy, node));
            if own.as_ref() != Some(&described(database, node)) {
                let own = own.map_or("nothing".to_owned(), |(name, ..)| name);
                return Err(Error::Config(ConfigError::new(format!(
                    "taxid {taxid} is {} in the database and {own} in `taxonomy`: give the tables that it \
                     was built with, or build it again",
                    database.name(node)
                ))));
            }
        }
        Ok(())
    }

    /// Returns why a taxid has no node, in words.
    pub fn why_unknown(&self, taxid: u32) -> &'static str {
        if self.deleted.binary_search(&taxid).is_ok() {
            "deleted from the taxonomy"
        } else {
            "not in the taxonomy"
        }
    }
}
