//! The database: targets, taxonomy and tables, either in memory as they were built or mapped from a file.

mod content;
mod file;
mod joint;
mod meta;
mod remote;
mod split;
mod sums;
mod tables;

pub(crate) use content::Content;
pub use content::Target;
pub(crate) use file::{Header, TablePlace, Writer};
pub(crate) use joint::Origin;
pub(crate) use remote::RemoteTables;
pub use sums::{TargetSum, TargetSums};
pub(crate) use tables::{
    Counts, EMPTY, GROUP, GROUPS, GroupTables, LIST, SECTIONS, Section, SectionEntry,
};

use std::any::Any;
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use merganser_io::MappedFile;
use merganser_run::{Cancel, Context, Warnings};

use crate::Error;
use crate::params::Params;
use joint::Joint;
use merganser_taxonomy::Taxonomy;

/// Bytes on both sides of a range that become resident when the range is read.
const AROUND: u64 = 128 << 10;
/// Approximate memory of a node of the taxonomy, its names included.
const NODE_BYTES: usize = 200;

/// A database that can be queried.
#[derive(Debug)]
pub struct Database {
    params: Params,
    targets: Vec<Target>,
    taxonomy: Taxonomy,
    /// The number of the first window of each target, over all targets, and the number of windows at the end.
    starts: Vec<u32>,
    parts: usize,
    counts: Counts,
    /// Whether features were dropped as uninformative. Adding genomes then requires a new build.
    pruned: bool,
    /// The number of sequences without a taxon that were left out.
    left_out: u64,
    data: Data,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is only one per database")]
enum Data {
    /// Tables in the host's memory, by group, then part.
    Memory(Vec<GroupTables>),
    /// Tables kept where they were built, and a copy on the host once one is needed.
    Remote {
        tables: Box<dyn RemoteTables>,
        here: OnceLock<Vec<GroupTables>>,
    },
    File {
        mapping: MappedFile,
        header: Header,
    },
    /// Several databases.
    Joint(Joint),
}

impl Database {
    /// Creates a database in memory.
    pub(crate) fn in_memory(content: Content, tables: Vec<GroupTables>) -> Database {
        Database::new(content, Data::Memory(tables))
    }

    /// Creates a database whose tables stay where they were built.
    pub(crate) fn remote(content: Content, tables: Box<dyn RemoteTables>) -> Database {
        Database::new(content, Data::Remote { tables, here: OnceLock::new() })
    }

    /// Returns the tables that stayed where they were built, if they are a `T`.
    pub(crate) fn tables_left_in<T: RemoteTables>(&self) -> Option<&T> {
        match &self.data {
            Data::Remote { tables, .. } => (&**tables as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    /// Makes the tables available to [`sections`](Self::sections): copies remote tables to the host, and
    /// [checks](Self::check) the tables of a file on this thread if that has not been done.
    ///
    /// # Errors
    /// If the tables cannot be copied or the file is damaged.
    pub(crate) fn fetch(&self) -> Result<(), Error> {
        self.fetch_unless(1, &Cancel::default())
    }

    /// Makes the tables available as [`fetch`](Self::fetch) does, with up to `threads` threads; can be cancelled.
    ///
    /// # Errors
    /// Fails as [`fetch`](Self::fetch) does, or if cancelled.
    pub(crate) fn fetch_unless(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        match &self.data {
            Data::Memory(_) => Ok(()),
            Data::Remote { tables, here } => {
                if here.get().is_none() {
                    // If several threads get here at the same time, the first result is used.
                    let _ = here.set(tables.download()?);
                }
                Ok(())
            }
            Data::File { mapping, .. } if mapping.is_checked() => Ok(()),
            Data::File { .. } => self.check(threads, cancel),
            Data::Joint(joint) => joint.all().try_for_each(|one| one.fetch_unless(threads, cancel)),
        }
    }

    /// Prepares a database file for look-ups of the features of `text` bytes of reads; see
    /// [`MappedFile::prepare_for_random_accesses`].
    pub(crate) fn prepare_for_random_accesses(&self, text: Option<u64>, context: &Context) {
        match &self.data {
            Data::File { mapping, .. } => mapping.prepare_for_random_accesses(text, context),
            Data::Joint(joint) => {
                joint.all().for_each(|one| one.prepare_for_random_accesses(text, context));
            }
            Data::Memory(_) | Data::Remote { .. } => {}
        }
    }

    /// Reads a slice of the tables to `to`; from the file, if there is one: see [`MappedFile::read`].
    ///
    /// # Errors
    /// If the file cannot be read, or became shorter.
    pub(crate) fn read(&self, part: &[u8], to: &mut [u8]) -> Result<(), Error> {
        match &self.data {
            Data::File { mapping, .. } => Ok(mapping.read(part, to)?),
            Data::Joint(joint) => match joint.all().find(|one| one.maps(part)) {
                Some(database) => database.read(part, to),
                None => merganser_gpu::read_memory(part, to),
            },
            _ => merganser_gpu::read_memory(part, to),
        }
    }

    /// Whether a slice is of a file that is mapped.
    fn maps(&self, part: &[u8]) -> bool {
        matches!(&self.data, Data::File { mapping, .. } if mapping.holds(part))
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

    /// Opens a database file: maps it, and checks everything except the checksums of the tables, which
    /// [`check`](Self::check) verifies.
    ///
    /// # Errors
    /// If the file cannot be read, is not a database, is truncated or damaged, or has a newer format.
    pub fn open(path: impl AsRef<Path>) -> Result<Database, Error> {
        let path = path.as_ref();
        let maker = "merganser build makes one of genomes";
        let wanted = "a merganser database (.mgdb)";
        if let Some(complaint) = merganser_io::foreign(path, &file::FORMAT.magic, wanted, maker) {
            return Err(Error::content(path, complaint));
        }
        let file = merganser_io::open_file(path);
        let file = file.map_err(|source| Error::File { path: path.to_owned(), source })?;
        Database::of_file(&file, path)
    }

    /// Opens a database in an open file, which messages call `path`.
    pub(crate) fn of_file(file: &File, path: &Path) -> Result<Database, Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let mapping = MappedFile::of_file(file, path).map_err(at)?;
        let bad = |reason: String| Error::content(path, reason);
        let header = Header::read(mapping.bytes()).map_err(bad)?;
        let content = header.content(mapping.bytes()).map_err(bad)?;
        // All that was read so far has been copied.
        mapping.release(mapping.bytes());
        Ok(Database::new(content, Data::File { mapping, header }))
    }

    /// Checks the checksums of all tables, which is required before they are used. `threads` threads read the file
    /// once. Later calls check it again only if the file was modified since.
    ///
    /// # Errors
    /// If a table is damaged, the file cannot be read or was replaced, or the check is cancelled.
    pub fn check(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        if let Data::Joint(joint) = &self.data {
            return joint.all().try_for_each(|one| one.check(threads, cancel));
        }
        let Data::File { mapping, header } = &self.data else { return Ok(()) };
        match mapping.check::<Error>(&header.sums(), threads, cancel)? {
            None => Ok(()),
            Some(number) => Err(Error::content(mapping.path(), header.damage(number))),
        }
    }

    /// [Checks](Self::check) the checksums of the tables, and that the tables are laid out as a build writes them.
    ///
    /// # Errors
    /// If something is wrong.
    pub fn verify(&self, context: &Context) -> Result<(), Error> {
        if let Data::Joint(joint) = &self.data {
            return joint.all().try_for_each(|one| one.verify(context));
        }
        let Data::File { mapping, .. } = &self.data else { return Ok(()) };
        self.check(context.threads, &context.cancel)?;
        let (path, windows) = (mapping.path(), self.windows());
        for part in 0..self.parts {
            for section in self.sections(part) {
                let sound = section.is_sound(windows);
                if !sound {
                    return Err(Error::content(path, "a table is inconsistent: build it again"));
                }
            }
        }
        Ok(())
    }

    /// Returns the sections 0 to 4,095 of a part.
    ///
    /// # Panics
    /// If the tables are remote or in a file, and were not [fetched](Self::fetch).
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
            Data::Joint(joint) => {
                let (database, part) = joint.part(part);
                database.sections(part)
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

    /// Returns the checksums of the header and, through it, of the whole file, which identify the database; for several
    /// databases, the checksum of theirs; `None` if one has no file.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        match &self.data {
            Data::File { header, .. } => Some(header.fingerprint()),
            Data::Joint(joint) => {
                let all: Option<Vec<String>> = joint.all().map(Database::fingerprint).collect();
                Some(format!("{:08x}", crc32fast::hash(all?.concat().as_bytes())))
            }
            Data::Memory(_) | Data::Remote { .. } => None,
        }
    }

    /// Returns the sketching parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Returns the reference sequences, in the order of the build.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Returns the tree of the targets' taxa and their ancestors.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.taxonomy
    }

    /// Returns the number of parts, which are queried one after the other.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Returns the number of windows of all targets.
    pub fn windows(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the number of the first window of a target, over all targets.
    pub(crate) fn first_window(&self, target: u32) -> u32 {
        self.starts[target as usize]
    }

    /// Returns the number of the first window of each target, followed by the number of all windows.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Returns the number of features in the tables.
    pub fn features(&self) -> u64 {
        self.counts.features
    }

    /// Returns the number of locations in the tables.
    pub fn locations(&self) -> u64 {
        self.counts.locations
    }

    /// Returns the number of features that had more locations than are kept.
    pub fn overfull(&self) -> u64 {
        self.counts.overfull
    }

    /// Returns the number of features that were dropped for having too many locations or taxa.
    pub fn dropped(&self) -> u64 {
        self.counts.dropped
    }

    /// Whether features were dropped when the database was built.
    pub fn is_pruned(&self) -> bool {
        self.pruned
    }

    /// Returns the number of sequences without a taxon that were left out when the database was built.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the number of targets without a taxon: sequences that earlier versions placed at the root. They are
    /// never candidates.
    pub fn without_taxon(&self) -> usize {
        let root = self.taxonomy.root();
        self.targets.iter().filter(|target| target.node == root).count()
    }

    /// Returns the name of the database in messages: its file, if it has one.
    pub(crate) fn name(&self) -> String {
        match &self.data {
            Data::File { mapping, .. } => mapping.path().display().to_string(),
            Data::Joint(joint) => joint.all().map(Database::name).collect::<Vec<_>>().join(", "),
            _ => "the database".to_owned(),
        }
    }

    /// Returns the name of the file without folder and suffix; `None` without a file.
    pub(crate) fn stem(&self) -> Option<String> {
        let Data::File { mapping, .. } = &self.data else { return None };
        mapping.path().file_stem().map(|stem| stem.to_string_lossy().into_owned())
    }

    /// Returns the messages about differences between databases that are used together; none for a single database.
    pub fn differences(&self) -> &[String] {
        match &self.data {
            Data::Joint(joint) => joint.differences(),
            _ => &[],
        }
    }

    /// Warns of targets without a taxon, and of differences between databases that are used together.
    pub(crate) fn warn(&self, warnings: &Warnings) {
        if let Data::Joint(joint) = &self.data {
            joint.differences().iter().for_each(|difference| warnings.push(difference.clone()));
        }
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

    /// Returns the bytes of memory that these parts take while they are queried; for a file, the pages that hold
    /// them.
    pub(crate) fn resident_bytes(&self, parts: std::ops::Range<usize>) -> u64 {
        let all = self.bytes();
        match &self.data {
            Data::File { header, .. } => {
                let tables: u64 = parts.map(|part| header.part_bytes(part)).sum();
                // The system maps some pages around each page that is read.
                (tables + GROUPS as u64 * AROUND).min(all)
            }
            Data::Joint(joint) => {
                joint.parts(parts).map(|(database, parts)| database.resident_bytes(parts)).sum()
            }
            _ => all,
        }
    }

    /// Whether the tables are in memory even before they are queried: in the memory of this process, or in a file of
    /// an in-memory file system.
    pub(crate) fn is_in_memory(&self) -> bool {
        match &self.data {
            Data::Memory(_) => true,
            Data::Remote { here, .. } => here.get().is_some(),
            Data::File { mapping, .. } => mapping.is_in_memory(),
            Data::Joint(joint) => joint.all().all(Database::is_in_memory),
        }
    }

    /// Releases the memory of all parts that were read from a file.
    pub(crate) fn release(&self) {
        match &self.data {
            Data::File { mapping, .. } => mapping.release(mapping.bytes()),
            Data::Joint(joint) => joint.all().for_each(Database::release),
            Data::Memory(_) | Data::Remote { .. } => {}
        }
    }

    /// Returns the approximate bytes of targets and taxonomy, including what queries derive from them.
    pub(crate) fn content_bytes(&self) -> u64 {
        let names: usize = self.targets.iter().map(|target| target.name.capacity()).sum();
        let targets = self.targets.len() * (size_of::<Target>() + 24) + names;
        (targets + self.taxonomy.len() * NODE_BYTES) as u64
    }

    /// Returns the size of the file or files in bytes; for a database without a file, the size of its tables.
    pub fn bytes(&self) -> u64 {
        match &self.data {
            Data::Memory(tables) => tables.iter().map(|table| 8 * table.data.len() as u64).sum(),
            Data::Remote { tables, .. } => tables.bytes(),
            Data::File { mapping, .. } => mapping.bytes().len() as u64,
            Data::Joint(joint) => joint.all().map(Database::bytes).sum(),
        }
    }
}
