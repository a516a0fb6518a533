//! The file `.mgi`: a header, planes, positions, table, contigs. Numbers are little-endian.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use merganser_io::{AtomicFile, MappedFile, SectionSum};
use merganser_run::Cancel;

use super::{Index, MOST_K, SHORTEST, words_to};
use crate::Error;
use crate::reference::{Contig, MOST_POSITIONS, Reference};

/// The file's first bytes: a high byte, a name, and line ends that a text-mode copy would change.
pub(super) const MAGIC: [u8; 8] = *b"\x89MGI\r\n\x1a\n";
/// The version that this program writes, and the only one it reads.
const VERSION: u32 = 1;
/// Bytes of the header; the sections follow, each at a multiple of as many.
const BYTES: usize = 4096;
/// Low bits, high bits, other letters (may be empty), positions, table, contigs.
const SECTIONS: usize = 6;
/// The last of them.
const CONTIGS: usize = SECTIONS - 1;
/// Bytes of the header that are in use, the checksum being the last four.
const USED: usize = 8 + 4 * 4 + SECTIONS * 24 + 8 + 4;

/// An index file that is mapped.
#[derive(Debug)]
pub(super) struct Mapped {
    mapping: MappedFile,
    sections: [SectionSum; SECTIONS],
}

impl Mapped {
    pub(super) fn of_file(file: &File, path: &Path) -> Result<(Mapped, Vec<Contig>, usize), Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let mapping = MappedFile::of_file(file, path).map_err(at)?;
        let (sections, k) =
            header(mapping.bytes()).map_err(|problem| Error::index(path, problem))?;
        let mapped = Mapped { mapping, sections };
        let senseless = || Error::index(path, "the index makes no sense: build it again");
        if crc32fast::hash(mapped.section(CONTIGS)) != sections[CONTIGS].checksum {
            return Err(mapped.damaged(CONTIGS));
        }
        let contigs = contigs(mapped.section(CONTIGS)).ok_or_else(senseless)?;
        if let Some(problem) =
            contigs.iter().find_map(|contig| contig.unnameable().or_else(|| contig.too_long()))
        {
            return Err(Error::index(path, problem));
        }
        let words = words_to(contigs.last().map_or(0, Contig::end)) as u64 * 8;
        let lens = mapped.sections.map(|section| section.len);
        let others = lens[2] == 0 || lens[2] == words;
        let table = 4 * ((1u64 << (2 * k)) + 1);
        if lens[0] != words
            || lens[1] != words
            || !others
            || lens[4] != table
            || !lens[3].is_multiple_of(4)
        {
            return Err(senseless());
        }
        Ok((mapped, contigs, k))
    }

    fn section(&self, number: usize) -> &[u8] {
        let SectionSum { start, len, .. } = self.sections[number];
        &self.mapping.bytes()[start as usize..(start + len) as usize]
    }

    fn damaged(&self, number: usize) -> Error {
        let problem = format!(
            "section {} of {SECTIONS} is damaged (checksum): copy the index again, or build it again",
            number + 1
        );
        Error::index(self.mapping.path(), problem)
    }

    /// See [`Index::check`](super::Index::check).
    pub(super) fn check(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        match self.mapping.check::<Error>(&self.sections, threads, cancel)? {
            None => Ok(()),
            Some(number) => Err(self.damaged(number)),
        }
    }

    pub(super) fn is_checked(&self) -> bool {
        self.mapping.is_checked()
    }

    /// Bytes of the planes, the positions and the table.
    pub(super) fn bytes(&self) -> u64 {
        self.sections[..CONTIGS].iter().map(|section| section.len).sum()
    }

    /// See [`MappedFile::release`].
    pub(super) fn release(&self, part: &[u8]) {
        self.mapping.release(part);
    }

    pub(super) fn planes(&self) -> [&[u64]; 3] {
        // Mapped files begin at a page, and sections at a multiple of one.
        [0, 1, 2].map(|number| bytemuck::try_cast_slice(self.section(number)).unwrap_or_default())
    }

    pub(super) fn positions(&self) -> &[u32] {
        bytemuck::try_cast_slice(self.section(3)).unwrap_or_default()
    }

    pub(super) fn table(&self) -> &[u32] {
        bytemuck::try_cast_slice(self.section(4)).unwrap_or_default()
    }
}

/// Reads the header of a whole file.
fn header(file: &[u8]) -> Result<([SectionSum; SECTIONS], usize), String> {
    let number = |at: usize, len: usize| {
        let bytes = file.get(at..at + len).unwrap_or_default();
        bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte))
    };
    if file.get(..8) != Some(&MAGIC[..]) {
        return Err("not a merganser index (.mgi)".into());
    }
    if file.len() < BYTES {
        return Err("the index is truncated within its header: build it again".into());
    }
    if number(USED - 4, 4) != u64::from(crc32fast::hash(&file[..USED - 4])) {
        return Err("the header is damaged (checksum): build the index again".into());
    }
    let version = number(8, 4);
    if version != u64::from(VERSION) {
        return Err(format!(
            "index format {version} is not this program's {VERSION}: use another version of \
             merganser, or build the index again"
        ));
    }
    let bytes = number(USED - 12, 8);
    if bytes != file.len() as u64 {
        return Err(format!(
            "the index is truncated or was changed: {} bytes instead of {bytes}; copy it again",
            file.len()
        ));
    }
    let sections = std::array::from_fn(|section| {
        let at = 24 + 24 * section;
        let (start, len) = (number(at, 8), number(at + 8, 8));
        SectionSum { start, len, checksum: number(at + 16, 4) as u32 }
    });
    let k = number(16, 4) as usize;
    let inside = |section: &SectionSum| {
        let end = section.start.checked_add(section.len);
        section.start.is_multiple_of(8) && end.is_some_and(|end| end <= bytes)
    };
    if !(sections.iter().all(inside) && (SHORTEST..=MOST_K).contains(&k)) {
        return Err("the header makes no sense: build the index again".into());
    }
    if !between(&sections, bytes).all(|(from, to)| file[from..to].iter().all(|&byte| byte == 0)) {
        return Err("it is damaged between its sections (no zeros): build the index again".into());
    }
    Ok((sections, k))
}

/// Where there is neither header nor section, up to the end of the file: checksums and these zeros
/// together cover every byte.
fn between(
    sections: &[SectionSum; SECTIONS],
    bytes: u64,
) -> impl Iterator<Item = (usize, usize)> + '_ {
    let starts = sections.iter().map(|section| section.start).chain([bytes]);
    let ends = sections.iter().map(|section| section.start + section.len);
    let gaps = std::iter::once(USED as u64).chain(ends).zip(starts);
    gaps.filter(|(end, next)| end < next).map(|(end, next)| (end as usize, next as usize))
}

/// The contigs: of each the length, then the name with its length before it.
fn contigs(bytes: &[u8]) -> Option<Vec<Contig>> {
    let mut rest = bytes;
    let mut take = |len: usize| {
        let (head, tail) = rest.split_at_checked(len)?;
        rest = tail;
        Some(head)
    };
    let count = u32::from_le_bytes(take(4)?.try_into().ok()?);
    let mut contigs = Vec::new();
    let mut start = 0u64;
    for _ in 0..count {
        let len = u32::from_le_bytes(take(4)?.try_into().ok()?);
        let name = u32::from_le_bytes(take(4)?.try_into().ok()?) as usize;
        let name = String::from_utf8(take(name)?.to_vec()).ok()?;
        contigs.push(Contig { name, start: u32::try_from(start).ok()?, len });
        start = (start + u64::from(len)).next_multiple_of(64);
    }
    (count > 0 && start <= MOST_POSITIONS + 64).then_some(contigs)
}

/// Writes an index as its positions come.
pub(super) struct Writer {
    file: AtomicFile,
    k: usize,
    sections: Vec<SectionSum>,
    open: (u64, crc32fast::Hasher),
}

impl Writer {
    /// Begins an index, and writes the planes.
    pub(super) fn new(
        mut file: AtomicFile,
        reference: &Reference,
        k: usize,
    ) -> Result<Writer, Error> {
        file.write_all(&[0; BYTES])?;
        let open = (BYTES as u64, crc32fast::Hasher::new());
        let mut writer = Writer { file, k, sections: Vec::new(), open };
        let end = reference.contigs.last().map_or(0, Contig::end);
        debug_assert_eq!(reference.low.len(), words_to(end));
        for plane in [&reference.low, &reference.high, &reference.others] {
            writer.bytes(bytemuck::cast_slice(plane))?;
            writer.close()?;
        }
        Ok(writer)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.open.1.update(bytes);
        Ok(self.file.write_all(bytes)?)
    }

    /// Ends a section.
    fn close(&mut self) -> Result<(), Error> {
        let end = self.file.position();
        let (start, checksum) = (self.open.0, self.open.1.clone().finalize());
        self.sections.push(SectionSum { start, len: end - start, checksum });
        let next = end.next_multiple_of(BYTES as u64);
        self.file.write_all(&vec![0; (next - end) as usize])?;
        self.open = (next, crc32fast::Hasher::new());
        Ok(())
    }

    /// More positions.
    pub(super) fn positions(&mut self, positions: &[u32]) -> Result<(), Error> {
        self.bytes(bytemuck::cast_slice(positions))
    }

    /// Writes the rest, maps the file and makes it appear: one that cannot be mapped does not.
    pub(super) fn finish(mut self, reference: &Reference, table: &[u32]) -> Result<Index, Error> {
        self.close()?;
        self.bytes(bytemuck::cast_slice(table))?;
        self.close()?;
        let mut contigs = (reference.contigs.len() as u32).to_le_bytes().to_vec();
        for contig in &reference.contigs {
            contigs.extend_from_slice(&contig.len.to_le_bytes());
            contigs.extend_from_slice(&(contig.name.len() as u32).to_le_bytes());
            contigs.extend_from_slice(contig.name.as_bytes());
        }
        self.bytes(&contigs)?;
        self.close()?;
        let mut header = MAGIC.to_vec();
        for value in [VERSION, BYTES as u32, self.k as u32, SHORTEST as u32] {
            header.extend_from_slice(&value.to_le_bytes());
        }
        for section in &self.sections {
            header.extend_from_slice(&section.start.to_le_bytes());
            header.extend_from_slice(&section.len.to_le_bytes());
            header.extend_from_slice(&section.checksum.to_le_bytes());
            header.extend_from_slice(&[0; 4]);
        }
        header.extend_from_slice(&self.file.position().to_le_bytes());
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        debug_assert_eq!(header.len(), USED);
        self.file.patch(0, &header)?;
        let index = Index::of_file(&self.file.reader()?, self.file.path())?;
        self.file.commit()?;
        Ok(index)
    }
}
