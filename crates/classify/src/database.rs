//! The database: targets, taxonomy and tables; in memory as it was built, or mapped from a file.

mod file;
mod meta;

pub(crate) use file::{Header, Place, Writer};

use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use merganser_io::{MappedFile, Soundness};
use merganser_run::{Cancel, resolve_threads};

use crate::Error;
use crate::cpu::entries::SECTIONS;
use crate::cpu::section::{Counts, Tables};
use crate::cuda::Resident;
use crate::params::Params;
use crate::taxonomy::Taxonomy;

/// An empty slot.
pub(crate) const EMPTY: u64 = u64::MAX;
/// Marks a payload that is the place of a list; otherwise it is the only location itself.
pub(crate) const LIST: u32 = 1 << 31;
/// Sections that a worker makes at once, and that have one checksum.
pub(crate) const GROUP: usize = 16;
/// Groups of a part.
pub(crate) const GROUPS: usize = SECTIONS / GROUP;

/// Bytes that become resident before and behind those that are read, together.
const AROUND: u64 = 128 << 10;
/// About what a node of the taxonomy takes, with its names.
const NODE_BYTES: usize = 200;

/// Where a section is in the data of its group, in 64-bit words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct SectionEntry {
    pub(crate) slots: u64,
    pub(crate) lists: u64,
    pub(crate) end: u64,
    /// The slots among which features are spread; more may follow.
    pub(crate) ideal: u64,
}

/// A reference sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The first word of its header.
    pub name: String,
    /// Its node in the taxonomy; the root if its taxon is unknown.
    pub node: u32,
    /// Its length in bases.
    pub bases: u64,
    /// Its number of windows.
    pub windows: u32,
}

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
    data: Data,
}

#[derive(Debug)]
enum Data {
    /// Tables by group, then part.
    Memory(Vec<Tables>),
    /// On the device that made them, and here as well once somebody has asked for them.
    Device {
        tables: Resident,
        here: OnceLock<Vec<Tables>>,
    },
    File {
        mapping: MappedFile,
        header: Header,
    },
}

/// One section of a part, as a query sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a> {
    pub(crate) slots: &'a [u64],
    pub(crate) ideal: u32,
    pub(crate) lists: &'a [u32],
}

/// What a built table consists of.
pub(crate) struct Content {
    pub(crate) params: Params,
    pub(crate) targets: Vec<Target>,
    pub(crate) taxonomy: Taxonomy,
    pub(crate) parts: usize,
    pub(crate) counts: Counts,
    pub(crate) pruned: bool,
}

impl Database {
    /// A database in memory.
    pub(crate) fn in_memory(content: Content, tables: Vec<Tables>) -> Database {
        Database::new(content, Data::Memory(tables))
    }

    /// A database in device memory.
    pub(crate) fn on_device(content: Content, tables: Resident) -> Database {
        Database::new(content, Data::Device { tables, here: OnceLock::new() })
    }

    /// The tables in device memory, if they were left there.
    pub(crate) fn resident(&self) -> Option<&Resident> {
        match &self.data {
            Data::Device { tables, .. } => Some(tables),
            _ => None,
        }
    }

    /// Brings tables to the host that were left in device memory, and [checks](Self::check) those of
    /// a file that nobody has checked yet, for those who need [`sections`](Self::sections).
    ///
    /// # Errors
    /// If the device fails, or the file is damaged.
    pub(crate) fn fetch(&self) -> Result<(), Error> {
        match &self.data {
            Data::Memory(_) => Ok(()),
            Data::Device { tables, here } => {
                if here.get().is_none() {
                    // Of several at the same time, one wins.
                    let _ = here.set(tables.download()?);
                }
                Ok(())
            }
            Data::File { mapping, .. } if mapping.is_checked() => Ok(()),
            Data::File { .. } => self.check(resolve_threads(None), &Cancel::default()),
        }
    }

    fn new(content: Content, data: Data) -> Database {
        let Content { params, targets, taxonomy, parts, counts, pruned } = content;
        let mut starts = Vec::with_capacity(targets.len() + 1);
        let mut start = 0;
        for target in &targets {
            starts.push(start);
            start += target.windows;
        }
        starts.push(start);
        Database { params, targets, taxonomy, starts, parts, counts, pruned, data }
    }

    /// Opens a database file: maps it, and checks all but the tables' own checksums, which are
    /// [`check`](Self::check)'s.
    ///
    /// # Errors
    /// If it cannot be read, is no database, is truncated, damaged or of a newer format.
    pub fn open(path: &Path) -> Result<Database, Error> {
        let maker = "merganser build makes one of genomes";
        let wanted = "a merganser database (.mgdb)";
        if let Some(complaint) = merganser_io::foreign(path, &file::MAGIC, wanted, maker) {
            return Err(Error::content(path, complaint));
        }
        let file = File::open(path);
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
        match mapping.check(&header.sums(), threads, cancel)? {
            Soundness::Sound => Ok(()),
            Soundness::Damaged(number) => {
                Err(Error::content(mapping.path(), header.damage(number)))
            }
            Soundness::Cancelled => Err(Error::Cancelled),
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
    /// If they are in device memory or in a file, and were not [fetched](Self::fetch).
    pub(crate) fn sections(&self, part: usize) -> Vec<Section<'_>> {
        match &self.data {
            Data::Memory(tables) => self.sections_of(tables, part),
            Data::Device { here, .. } => {
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

    fn sections_of<'t>(&self, tables: &'t [Tables], part: usize) -> Vec<Section<'t>> {
        let section = |section: usize| {
            let table = &tables[section / GROUP * self.parts + part];
            Section::new(&table.data, table.sections[section % GROUP])
        };
        (0..SECTIONS).map(section).collect()
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
            Data::Device { tables, .. } => tables.bytes(),
            Data::File { mapping, .. } => mapping.bytes().len() as u64,
        }
    }
}

impl<'a> Section<'a> {
    /// The section at an entry; an empty one if the entry leads outside.
    pub(crate) fn new(data: &'a [u64], entry: SectionEntry) -> Section<'a> {
        let range = |from: u64, to: u64| data.get(from as usize..to as usize).unwrap_or_default();
        Section {
            slots: range(entry.slots, entry.lists),
            ideal: u32::try_from(entry.ideal).unwrap_or(0),
            lists: bytemuck::cast_slice(range(entry.lists, entry.end)),
        }
    }

    /// The slot where the search for a feature begins.
    #[inline(always)]
    pub(crate) fn ideal_slot(&self, feature: u32) -> usize {
        ((u64::from(feature) * u64::from(self.ideal)) >> 32) as usize
    }

    /// The payload of a feature, searched from its ideal slot on.
    #[inline(always)]
    pub(crate) fn payload(&self, feature: u32, ideal: usize) -> Option<u32> {
        for &slot in self.slots.get(ideal..)? {
            let here = (slot >> 32) as u32;
            if here >= feature {
                // The largest feature may look as an empty slot does, but for its payload.
                return (here == feature && slot != EMPTY).then_some(slot as u32);
            }
        }
        None
    }

    /// The locations of a list.
    #[inline(always)]
    pub(crate) fn list(&self, payload: u32) -> &'a [u32] {
        let at = (payload & !LIST) as usize;
        let count = self.lists.get(at).copied().unwrap_or(0) as usize;
        self.lists.get(at + 1..at + 1 + count).unwrap_or_default()
    }

    /// All features and their locations.
    pub(crate) fn features(&self) -> impl Iterator<Item = (u32, &'a [u32])> + '_ {
        let full = self.slots.iter().filter(|&&slot| slot != EMPTY);
        full.map(|slot| {
            let feature = (slot >> 32) as u32;
            if *slot as u32 & LIST != 0 {
                return (feature, self.list(*slot as u32));
            }
            // The payload is the lower half of the slot.
            let halves: &[u32] = bytemuck::cast_slice(std::slice::from_ref(slot));
            (feature, &halves[usize::from(cfg!(target_endian = "big"))..][..1])
        })
    }

    fn is_sound(&self, windows: u32) -> bool {
        let features: Vec<u64> = self.slots.iter().copied().filter(|&slot| slot != EMPTY).collect();
        let ascending = features.windows(2).all(|pair| pair[0] >> 32 < pair[1] >> 32);
        let found = |slot: &u64| {
            let feature = (slot >> 32) as u32;
            self.payload(feature, self.ideal_slot(feature)) == Some(*slot as u32)
        };
        let located = |(_, list): (u32, &[u32])| {
            !list.is_empty()
                && list.windows(2).all(|pair| pair[0] < pair[1])
                && list.iter().all(|&location| location < windows)
        };
        ascending && features.iter().all(found) && self.features().all(located)
    }
}
