//! A taxonomy read from files: NCBI's dump here, GTDB's tables in `gtdb`.
//!
//! The dump is nodes.dmp and names.dmp, and merged.dmp and delnodes.dmp if they are
//! there. Fields end in `\t|\t`, records in `\t|\n`; newer dumps add fields at the end.

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

/// A taxonomy as it was read.
#[derive(Debug)]
pub struct Dump {
    /// The whole tree.
    pub taxonomy: Taxonomy,
    /// Taxids that were deleted, sorted.
    pub deleted: Vec<u32>,
    /// What was odd.
    pub notes: TaxonomyNotes,
    /// The folder of NCBI's dump.
    pub folder: Option<PathBuf>,
    /// Of GTDB's tables, the taxa of accessions.
    pub accessions: Option<Accessions>,
}

/// What was odd about a taxonomy and was mended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxonomyNotes {
    /// Taxids whose parent does not exist, sorted: they were attached to the root.
    pub orphans: Vec<u32>,
    /// Taxids without a scientific name, sorted: their number serves as their name.
    pub nameless: Vec<u32>,
    /// Lines of names.dmp with a further scientific name of a taxon, which counts; the first of them, and
    /// its taxid.
    pub renamed: (u64, Option<(u64, u32)>),
}

/// About what a taxon takes while a dump is read, its name included,
const READING_BYTES: u64 = 310;
/// and when that is done.
const TAXON_BYTES: u64 = 220;

impl Dump {
    /// Reads the dump in a folder, or tables of lineages.
    ///
    /// # Errors
    /// If nodes.dmp or names.dmp is missing, a record has no numbers where they belong, a taxid
    /// occurs twice, there is no root (taxid 1), or nodes are their own ancestors. Of tables, if a line
    /// is no accession with a lineage of ranks in their order, or an accession has two lineages.
    pub fn read(source: impl Into<TaxonomySource>) -> Result<Dump, Error> {
        Dump::read_within(&source.into(), u64::MAX, 0)
    }

    /// The same, within `memory` bytes, `taken` of which are for something else when it has been read.
    ///
    /// # Errors
    /// As [`read`](Self::read); and if it needs more, before any name is read.
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

    /// Refuses a taxon with two scientific names.
    ///
    /// # Errors
    /// [`Error::Content`]: the line with the second one.
    pub fn refuse_renamed(&self) -> Result<(), Error> {
        let (Some(folder), (_, Some((line, taxid)))) = (&self.folder, self.notes.renamed) else {
            return Ok(());
        };
        let what = format!("taxid {taxid} has a scientific name for the second time");
        Err(malformed(&folder.join("names.dmp"), line, &what))
    }

    /// Warns of names that are missing, and of taxa that have several.
    pub fn warn_of_names(&self, warnings: &Warnings) {
        let Some(folder) = &self.folder else { return };
        let (file, TaxonomyNotes { nameless, renamed, .. }) =
            (folder.join("names.dmp"), &self.notes);
        if let Some(first) = nameless.first() {
            warnings.push(format!(
                "{}: {} of {} taxa have no scientific name in it, first taxid {first}: is the file cut? \
                 Download it again",
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

    /// The files of the dump in `folder`, whether or not they are there.
    pub fn files(folder: &Path) -> [PathBuf; 4] {
        dump_files(folder)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> u64 {
        let accessions = self.accessions.as_ref().map_or(0, Accessions::bytes);
        self.taxonomy.len() as u64 * TAXON_BYTES + accessions
    }

    /// Sees to it that the taxa of tables are numbered as those of a database: other tables number them
    /// otherwise. NCBI's taxids are always the same ones.
    ///
    /// # Errors
    /// [`Error::Config`]: the first taxid that has other names.
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

    /// Why a taxid has no node, in words.
    pub fn why_unknown(&self, taxid: u32) -> &'static str {
        if self.deleted.binary_search(&taxid).is_ok() {
            "deleted from the taxonomy"
        } else {
            "not in the taxonomy"
        }
    }
}
