//! The database file: a header, the tables, the directory of their sections, and targets and taxonomy. Numbers are
//! little-endian.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use merganser_io::{AtomicFile, SectionSum};
use merganser_run::locks::{into_inner, lock};
use merganser_store::sealed::{Format, magic};
use merganser_store::{ByteReader, ByteWriter};

use super::content::Content;
use super::meta;
use super::tables::{Counts, GROUP, GROUPS, SECTIONS, Section, SectionEntry};
use crate::Error;
use crate::params::{Params, Preset};
use merganser_seq::masking::Masking;

/// The oldest version that this program reads and writes. The oldest version that can represent the content is
/// written: version 2 differs only in that it stores the number of sequences without a taxon that were left out.
const VERSION: u32 = 1;
const VERSION_WITH_LEFT_OUT: u32 = 2;
/// The size of the header in bytes; the tables follow it.
const BYTES: usize = 4096;

pub(super) const FORMAT: Format = Format {
    magic: magic(b'D'),
    bytes: BYTES,
    used: |version| if version == VERSION { 152 } else { 160 },
    states_length: true,
    versions: VERSION..=VERSION_WITH_LEFT_OUT,
    other_version: |version| {
        format!(
            "database format {version} is not supported ({VERSION} and {VERSION_WITH_LEFT_OUT} are): use \
             another version of merganser, or build the database again"
        )
    },
    foreign: "not a merganser database (.mgdb)",
    name: "the database ",
    if_cut: "build it again",
    if_damaged: "build the database again",
    if_changed: "copy it again",
};

/// The header and directory of a file.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    params: Params,
    counts: Counts,
    pruned: bool,
    left_out: u64,
    parts: usize,
    /// The offset and checksum of the directory, which lists the groups and sections of all parts.
    directory: (u64, u32),
    meta: (u64, u32),
    file_bytes: u64,
    /// The offset, length (both in 64-bit words) and checksum of each group of each part, from the directory.
    groups: Vec<[u64; 3]>,
    /// The sections by part, from the directory.
    sections: Vec<SectionEntry>,
}

impl Header {
    fn version(&self) -> u32 {
        if self.left_out == 0 { VERSION } else { VERSION_WITH_LEFT_OUT }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let Params { preset, k, sketch, window, stride, density, max_locations, masking } =
            self.params;
        let mut bytes = Vec::new();
        let preset = match preset {
            Preset::Sensitive => 0,
            Preset::MetaCache => 1,
        };
        bytes.put_u32s([preset, k, sketch, window, stride, density, max_locations]);
        let masking = match masking {
            Masking::None => 0,
            Masking::LowComplexity => 1,
        };
        bytes.put_u32s([self.parts as u32, u32::from(self.pruned), masking]);
        let Counts { features, locations, overfull, dropped } = self.counts;
        bytes.put_u64s([features, locations, overfull, dropped]);
        bytes.put_u64s([self.directory.0, self.meta.0, self.file_bytes]);
        bytes.put_u32s([self.directory.1, self.meta.1]);
        if self.left_out > 0 {
            bytes.put_u64(self.left_out);
        }
        FORMAT.header(self.version(), &bytes)
    }

    /// Reads the header and the directory from a whole file.
    ///
    /// # Errors
    /// If they are invalid; the message describes the problem.
    pub(crate) fn read(file: &[u8]) -> Result<Header, String> {
        let (version, mut fields) = FORMAT.read(file)?;
        if file[(FORMAT.used)(version)..BYTES].iter().any(|&byte| byte != 0) {
            return Err(
                "the header is damaged (not followed by zeros): build the database again".into()
            );
        }
        let senseless = || FORMAT.senseless();
        let mut header = Header::parse(&mut fields, version).ok_or_else(senseless)?;
        FORMAT.check_length(file.len() as u64, header.file_bytes)?;
        header.params.validate().map_err(|_| senseless())?;
        header.read_directory(file)?;
        Ok(header)
    }

    fn parse(bytes: &mut ByteReader<'_>, version: u32) -> Option<Header> {
        let mut params = Params {
            preset: match bytes.u32()? {
                0 => Preset::Sensitive,
                1 => Preset::MetaCache,
                _ => return None,
            },
            k: bytes.u32()?,
            sketch: bytes.u32()?,
            window: bytes.u32()?,
            stride: bytes.u32()?,
            density: bytes.u32()?,
            max_locations: bytes.u32()?,
            masking: Masking::None,
        };
        let parts = bytes.u32()? as usize;
        let pruned = bytes.u32()? != 0;
        params.masking = match bytes.u32()? {
            0 => Masking::None,
            1 => Masking::LowComplexity,
            _ => return None,
        };
        let counts = Counts {
            features: bytes.u64()?,
            locations: bytes.u64()?,
            overfull: bytes.u64()?,
            dropped: bytes.u64()?,
        };
        let (directory, meta, file_bytes) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
        let (directory_sum, meta_sum) = (bytes.u32()?, bytes.u32()?);
        let left_out = if version == VERSION { 0 } else { bytes.u64()? };
        let header = Header {
            params,
            counts,
            pruned,
            left_out,
            parts,
            directory: (directory, directory_sum),
            meta: (meta, meta_sum),
            file_bytes,
            groups: Vec::new(),
            sections: Vec::new(),
        };
        let length = directory_bytes(parts)?;
        let ordered = BYTES as u64 <= directory && directory.checked_add(length)? == meta;
        let same_version = header.version() == version;
        (parts > 0 && ordered && meta <= file_bytes && same_version).then_some(header)
    }

    fn read_directory(&mut self, file: &[u8]) -> Result<(), String> {
        let bytes = &file[self.directory.0 as usize..self.meta.0 as usize];
        if crc32fast::hash(bytes) != self.directory.1 {
            return Err("the directory is damaged (checksum): build the database again".into());
        }
        let mut words = ByteReader(bytes);
        let mut word = || words.u64().unwrap_or(0);
        for _ in 0..GROUPS * self.parts {
            self.groups.push([word(), word(), word()]);
        }
        for _ in 0..SECTIONS * self.parts {
            let (slots, lists, end, ideal) = (word(), word(), word(), word());
            self.sections.push(SectionEntry { slots, lists, end, ideal });
        }
        let inside = |group: &[u64; 3]| {
            let end = group[0].checked_add(group[1]).and_then(|end| end.checked_mul(8));
            end.is_some_and(|end| end <= self.directory.0)
        };
        match self.groups.iter().all(inside) {
            true => Ok(()),
            false => Err("the directory is inconsistent: build the database again".into()),
        }
    }

    /// Returns the contents of the file besides its tables.
    pub(super) fn content(&self, file: &[u8]) -> Result<Content, String> {
        let bytes = &file[self.meta.0 as usize..];
        if crc32fast::hash(bytes) != self.meta.1 {
            return Err("targets and taxonomy are damaged (checksum): build it again".into());
        }
        let (targets, taxonomy) =
            meta::load(bytes).ok_or("targets and taxonomy are inconsistent: build it again")?;
        let Header { params, counts, pruned, left_out, parts, .. } = *self;
        // Later allocations are sized by these numbers.
        if targets.iter().any(|at| params.windows(at.bases) != u64::from(at.windows)) {
            return Err("the targets are inconsistent: build the database again".into());
        }
        Ok(Content { params, targets, taxonomy, parts, counts, pruned, left_out })
    }

    /// Returns the checksums of the header, of the directory, which includes those of all tables, and of the rest.
    pub(super) fn fingerprint(&self) -> String {
        let header = crc32fast::hash(&self.to_bytes()[..(FORMAT.used)(self.version()) - 4]);
        format!("{header:08x}{:08x}{:08x}", self.directory.1, self.meta.1)
    }

    fn group<'a>(&self, file: &'a [u8], number: usize) -> &'a [u8] {
        let [start, length, _] = self.groups[number];
        &file[8 * start as usize..8 * (start + length) as usize]
    }

    /// Returns the table of a group of a part, its sections and its checksum.
    pub(super) fn table<'a>(
        &self,
        file: &'a [u8],
        group: usize,
        part: usize,
    ) -> (&'a [u8], &[SectionEntry], u32) {
        let number = group * self.parts + part;
        let first = part * SECTIONS + group * GROUP;
        let sections = &self.sections[first..first + GROUP];
        (self.group(file, number), sections, self.groups[number][2] as u32)
    }

    /// Returns the bytes of the tables of a part.
    pub(super) fn part_bytes(&self, part: usize) -> u64 {
        let groups = self.groups.iter().skip(part).step_by(self.parts);
        groups.map(|group| 8 * group[1]).sum()
    }

    /// Returns the sections of a part.
    pub(super) fn sections<'a>(&self, file: &'a [u8], part: usize) -> Vec<Section<'a>> {
        let section = |number: usize| {
            let bytes = self.group(file, number / GROUP * self.parts + part);
            // Mapped files start at a page boundary, and groups at a multiple of 8 bytes.
            let data = bytemuck::try_cast_slice(bytes).unwrap_or_default();
            Section::new(data, self.sections[part * SECTIONS + number])
        };
        (0..SECTIONS).map(section).collect()
    }

    /// Returns the checksums of the tables. Together with those that were verified when the file was opened, they
    /// cover every byte.
    pub(super) fn sums(&self) -> Vec<SectionSum> {
        let sum = |&[start, words, checksum]: &[u64; 3]| SectionSum {
            start: 8 * start,
            len: 8 * words,
            checksum: checksum as u32,
        };
        self.groups.iter().map(sum).collect()
    }

    /// Returns the message for a table whose checksum is wrong.
    pub(super) fn damage(&self, number: usize) -> String {
        let (group, part) = (number / self.parts + 1, number % self.parts + 1);
        format!(
            "table {group} of {GROUPS} of part {part} is damaged (checksum): copy the database \
             again, or build it again"
        )
    }
}

fn directory_bytes(parts: usize) -> Option<u64> {
    (parts as u64).checked_mul(8 * (3 * GROUPS + 4 * SECTIONS) as u64)
}

/// Writes a database file while its tables are made, from any number of threads.
#[derive(Debug)]
pub(crate) struct Writer {
    file: AtomicFile,
    directory: Mutex<Directory>,
}

/// The positions of the tables written so far.
#[derive(Debug)]
struct Directory {
    /// The next free byte.
    position: u64,
    groups: Vec<[u64; 3]>,
    sections: Vec<Vec<SectionEntry>>,
}

/// The position of a table in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TablePlace {
    /// The index of the table in the directory.
    number: usize,
    /// The offset of its first byte.
    offset: u64,
}

impl Writer {
    /// Starts a database with this number of parts.
    pub(crate) fn new(file: AtomicFile, parts: usize) -> Writer {
        let (position, sections) = (BYTES as u64, vec![Vec::new(); parts]);
        let directory = Mutex::new(Directory { position, groups: Vec::new(), sections });
        Writer { file, directory }
    }

    fn directory(&self) -> MutexGuard<'_, Directory> {
        lock(&self.directory)
    }

    /// Assigns the next position to the table of the next group of `part`, of `words` 64-bit words. Groups must come in
    /// ascending order, and the parts within each group, too.
    pub(crate) fn place(&self, part: usize, words: u64, sections: &[SectionEntry]) -> TablePlace {
        let mut directory = self.directory();
        let place = TablePlace { number: directory.groups.len(), offset: directory.position };
        directory.groups.push([place.offset / 8, words, 0]);
        directory.sections[part].extend_from_slice(sections);
        directory.position += 8 * words;
        place
    }

    /// Writes bytes of a table, starting at its byte `at`.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(&self, place: TablePlace, at: u64, bytes: &[u8]) -> Result<(), Error> {
        Ok(self.file.write_at(place.offset + at, bytes)?)
    }

    /// Records the checksum of a table.
    pub(crate) fn check(&self, place: TablePlace, checksum: u32) {
        self.directory().groups[place.number][2] = checksum.into();
    }

    /// Writes the rest, opens the file with `open` (which also receives its path), and makes it appear. A file that
    /// cannot be opened does not appear.
    ///
    /// # Errors
    /// If writing or `open` fails.
    pub(crate) fn finish<D>(
        mut self,
        content: &Content,
        open: impl FnOnce(&File, &Path) -> Result<D, Error>,
    ) -> Result<D, Error> {
        let Directory { position: directory, groups, sections } = into_inner(self.directory);
        let mut bytes = Vec::new();
        groups.iter().for_each(|&group| bytes.put_u64s(group));
        for entry in sections.iter().flatten() {
            bytes.put_u64s([entry.slots, entry.lists, entry.end, entry.ideal]);
        }
        let meta = meta::store(&content.targets, &content.taxonomy);
        let header = Header {
            params: content.params,
            counts: content.counts,
            pruned: content.pruned,
            left_out: content.left_out,
            parts: content.parts,
            directory: (directory, crc32fast::hash(&bytes)),
            meta: (directory + bytes.len() as u64, crc32fast::hash(&meta)),
            file_bytes: directory + (bytes.len() + meta.len()) as u64,
            groups: Vec::new(),
            sections: Vec::new(),
        };
        self.file.write_at(0, &header.to_bytes())?;
        self.file.skip(directory)?;
        self.file.write_all(&bytes)?;
        self.file.write_all(&meta)?;
        let database = open(&self.file.reader()?, self.file.path())?;
        self.file.commit()?;
        Ok(database)
    }
}
