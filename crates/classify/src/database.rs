//! The database: targets, taxonomy and tables; in memory as it was built, or mapped from a file.

mod content;
mod file;
mod meta;
mod remote;
mod split;
mod tables;

pub(crate) use content::Content;
pub use content::Target;
pub(crate) use file::{Header, TablePlace, Writer};
pub(crate) use remote::RemoteTables;
pub(crate) use tables::{
    Counts, EMPTY, GROUP, GROUPS, GroupTables, LIST, SECTIONS, Section, SectionEntry,
};

use std::any::Any;
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use merganser_io::MappedFile;
use merganser_run::{Cancel, Warnings, resolve_threads};

use crate::Error;
use crate::params::Params;
use merganser_taxonomy::Taxonomy;

/// Bytes that become resident before and behind those that are read, together.
const AROUND: u64 = 128 << 10;
/// About what a node of the taxonomy takes, with its names.
const NODE_BYTES: usize = 200;

/// A database that can be queried.
#[derive(Debug)]
pub struct Database {
    params: Params,
    targets: Vec<Target>,
    taxonomy: Taxonomy,
    /// The first window of each target in the order of all, and their number at the end.
    starts: Vec<u32>,
    parts: usize,
    counts: Counts,
    /// Features were left out for saying little: nothing can be added without building anew.
    pruned: bool,
    /// Sequences without a taxon that were left out.
    left_out: u64,
    data: Data,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a database has one of these")]
enum Data {
    /// GroupTables by group, then part.
    Memory(Vec<GroupTables>),
    /// Where they were made, and here as well once somebody has asked for them.
    Remote {
        tables: Box<dyn RemoteTables>,
        here: OnceLock<Vec<GroupTables>>,
    },
    File {
        mapping: MappedFile,
        header: Header,
    },
}

impl Database {
    /// A database in memory.
    pub(crate) fn in_memory(content: Content, tables: Vec<GroupTables>) -> Database {
        Database::new(content, Data::Memory(tables))
    }

    /// A database whose tables stay where they were made.
    pub(crate) fn remote(content: Content, tables: Box<dyn RemoteTables>) -> Database {
        Database::new(content, Data::Remote { tables, here: OnceLock::new() })
    }

    /// The tables that were left where they were made, if they are a `T`.
    pub(crate) fn tables_left_in<T: RemoteTables>(&self) -> Option<&T> {
        match &self.data {
            Data::Remote { tables, .. } => (&**tables as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    /// Brings tables to the host that were left elsewhere, and [checks](Self::check) those of
    /// a file that nobody has checked yet, for those who need [`sections`](Self::sections).
    ///
    /// # Errors
    /// If the tables cannot be brought, or the file is damaged.
    pub(crate) fn fetch(&self) -> Result<(), Error> {
        self.fetch_unless(&Cancel::default())
    }

    /// As [`fetch`](Self::fetch), but for what somebody may not need after all.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch), or if cancelled.
    pub(crate) fn fetch_unless(&self, cancel: &Cancel) -> Result<(), Error> {
        match &self.data {
            Data::Memory(_) => Ok(()),
            Data::Remote { tables, here } => {
                if here.get().is_none() {
                    // Of several at the same time, one wins.
                    let _ = here.set(tables.download()?);
                }
                Ok(())
            }
            Data::File { mapping, .. } if mapping.is_checked() => Ok(()),
            Data::File { .. } => self.check(resolve_threads(None), cancel),
        }
    }

    fn new(content: Content, data: Data) -> Database {
        let Content { params, targets, taxonomy, parts, counts, pruned, left_out } = content;
        let mut starts = Vec::with_capacity(targets.len() + 1);
        let mut start = 0;
        for target in &targets {
            starts.push(start);
            start += target.windows;
        }
        starts.push(start);
        Database { params, targets, taxonomy, starts, parts, counts, pruned, left_out, data }
    }

    /// Opens a database file: maps it, and checks all but the tables' own checksums, which are
    /// [`check`](Self::check)'s.
    ///
    /// # Errors
    /// If it cannot be read, is no database, is truncated, damaged or of a newer format.
    pub fn open(path: &Path) -> Result<Database, Error> {
        let maker = "merganser build makes one of genomes";
        let wanted = "a merganser database (.mgdb)";
        if let Some(complaint) = merganser_io::foreign(path, &file::FORMAT.magic, wanted, maker) {
            return Err(Error::content(path, complaint));
        }
        let file = merganser_io::open_file(path);
        let file = file.map_err(|source| Error::File { path: path.to_owned(), source })?;
        Database::of_file(&file, path)
    }

    /// A database in an open file, which messages call `path`.
    pub(crate) fn of_file(file: &File, path: &Path) -> Result<Database, Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let mapping = MappedFile::of_file(file, path).map_err(at)?;
        let bad = |reason: String| Error::content(path, reason);
        let header = Header::read(mapping.bytes()).map_err(bad)?;
        let content = header.content(mapping.bytes()).map_err(bad)?;
        // What was read has been copied.
        mapping.release(mapping.bytes());
        Ok(Database::new(content, Data::File { mapping, header }))
    }

    /// Checks the checksums of all tables, as everybody does who looks at them: the file is read once,
    /// by `threads` threads. Later calls look only whether it was written to since, and check it again
    /// if so.
    ///
    /// # Errors
    /// Which table is damaged; if the file cannot be read or became another; if cancelled.
    pub fn check(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        let Data::File { mapping, header } = &self.data else { return Ok(()) };
        match mapping.check::<Error>(&header.sums(), threads, cancel)? {
            None => Ok(()),
            Some(number) => Err(Error::content(mapping.path(), header.damage(number))),
        }
    }

    /// [Checks](Self::check) the checksums of the tables, and that they are as a builder makes them.
    ///
    /// # Errors
    /// What is wrong.
    pub fn verify(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        let Data::File { mapping, .. } = &self.data else { return Ok(()) };
        self.check(threads, cancel)?;
        let (path, windows) = (mapping.path(), self.windows());
        for part in 0..self.parts {
            for section in self.sections(part) {
                let sound = section.is_sound(windows);
                if !sound {
                    return Err(Error::content(path, "a table makes no sense: build it again"));
                }
            }
        }
        Ok(())
    }

    /// The sections of a part, from 0 to 4,095.
    ///
    /// # Panics
    /// If they are elsewhere or in a file, and were not [fetched](Self::fetch).
    pub(crate) fn sections(&self, part: usize) -> Vec<Section<'_>> {
        match &self.data {
            Data::Memory(tables) => self.sections_of(tables, part),
            Data::Remote { here, .. } => {
                self.sections_of(here.get().expect("tables were fetched"), part)
            }
            Data::File { mapping, header } => {
                assert!(
                    mapping.is_checked(),
                    "the tables of a file are checked before they are used"
                );
                header.sections(mapping.bytes(), part)
            }
        }
    }

    fn sections_of<'t>(&self, tables: &'t [GroupTables], part: usize) -> Vec<Section<'t>> {
        let section = |section: usize| {
            let table = &tables[section / GROUP * self.parts + part];
            Section::new(&table.data, table.sections[section % GROUP])
        };
        (0..SECTIONS).map(section).collect()
    }

    /// Checksums of the header and, through it, of all that the file has, which tell the database from
    /// others; none of one without a file.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        match &self.data {
            Data::File { header, .. } => Some(header.fingerprint()),
            _ => None,
        }
    }

    /// The sketching parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The reference sequences, in the order of the build.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The taxa of the targets and their ancestors.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.taxonomy
    }

    /// Parts, which are queried one after the other.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Windows of all targets.
    pub fn windows(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The first window of a target in the order of all.
    pub(crate) fn first_window(&self, target: u32) -> u32 {
        self.starts[target as usize]
    }

    /// The first window of each target, and the number of all windows.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Features in the tables.
    pub fn features(&self) -> u64 {
        self.counts.features
    }

    /// Locations in the tables.
    pub fn locations(&self) -> u64 {
        self.counts.locations
    }

    /// Features that had more locations than are kept.
    pub fn overfull(&self) -> u64 {
        self.counts.overfull
    }

    /// Features that were left out for having too many locations or taxa.
    pub fn dropped(&self) -> u64 {
        self.counts.dropped
    }

    /// Whether features were left out as asked for when building.
    pub fn is_pruned(&self) -> bool {
        self.pruned
    }

    /// Sequences without a taxon that were left out when it was built.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Targets without a taxon: sequences that earlier versions left at the root. They are no
    /// candidates.
    pub fn without_taxon(&self) -> usize {
        let root = self.taxonomy.root();
        self.targets.iter().filter(|target| target.node == root).count()
    }

    /// What messages call it: its file, if it has one.
    pub(crate) fn name(&self) -> String {
        match &self.data {
            Data::File { mapping, .. } => mapping.path().display().to_string(),
            _ => "the database".to_owned(),
        }
    }

    /// Warns of targets without a taxon.
    pub(crate) fn warn(&self, warnings: &Warnings) {
        let count = self.without_taxon();
        if count == 0 {
            return;
        }
        let (path, all) = (self.name(), self.targets.len());
        warnings.push(format!(
            "{path}: {count} of {all} sequences have no taxon and are ignored: build it again to leave \
             them out"
        ));
    }

    /// Bytes of memory that these parts take when they are asked: of a file, the pages that hold them.
    pub(crate) fn resident_bytes(&self, parts: std::ops::Range<usize>) -> u64 {
        let all = self.bytes();
        match &self.data {
            Data::File { header, .. } => {
                let tables: u64 = parts.map(|part| header.part_bytes(part)).sum();
                // The system maps some pages around the one that is read.
                (tables + GROUPS as u64 * AROUND).min(all)
            }
            _ => all,
        }
    }

    /// Whether the tables are in memory already, be they asked or not: in that of this process, or in a file
    /// of a file system that is in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        match &self.data {
            Data::Memory(_) => true,
            Data::Remote { here, .. } => here.get().is_some(),
            Data::File { mapping, .. } => mapping.is_in_memory(),
        }
    }

    /// Gives back the memory of all parts that were read from a file.
    pub(crate) fn release(&self) {
        if let Data::File { mapping, .. } = &self.data {
            mapping.release(mapping.bytes());
        }
    }

    /// About how many bytes targets and taxonomy take, and what queries make of them.
    pub(crate) fn content_bytes(&self) -> u64 {
        let names: usize = self.targets.iter().map(|target| target.name.capacity()).sum();
        let targets = self.targets.len() * (size_of::<Target>() + 24) + names;
        (targets + self.taxonomy.len() * NODE_BYTES) as u64
    }

    /// The size of the file in bytes; of the tables, for one in memory.
    pub fn bytes(&self) -> u64 {
        match &self.data {
            Data::Memory(tables) => tables.iter().map(|table| 8 * table.data.len() as u64).sum(),
            Data::Remote { tables, .. } => tables.bytes(),
            Data::File { mapping, .. } => mapping.bytes().len() as u64,
        }
    }
}
