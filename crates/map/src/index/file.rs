//! The index file `.mgi`: a header, planes, positions, table and contigs. Numbers are little-endian.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use merganser_io::{AtomicFile, MappedFile, SectionSum};
use merganser_run::Cancel;
use merganser_store::sealed::{Format, Summed, magic};
use merganser_store::{ByteReader, ByteWriter};

use super::{Index, MAX_K, SHORTEST, words_to};
use crate::reference::{MAX_CIRCULAR, MAX_POSITIONS, MAX_REPEATED, Reference};
use crate::{Contig, Error};

/// The format versions. Only an index with circular contigs has version 2.
const VERSION: u32 = 1;
const WITH_CIRCLES: u32 = 2;
/// Bytes of the header. Each section begins at a multiple of it.
const BYTES: usize = 4096;
/// The number of sections: low bits, high bits, ambiguous letters (may be empty), positions, table, contigs.
const SECTIONS: usize = 6;
/// The number of the section of contigs, the last one.
const CONTIGS: usize = SECTIONS - 1;
/// Bytes of the header in use; the last four are its checksum.
const USED: usize = 8 + 4 * 4 + SECTIONS * 24 + 8 + 4;

pub(super) const FORMAT: Format = Format {
    magic: magic(b'I'),
    bytes: BYTES,
    used: |_| USED,
    states_length: true,
    versions: VERSION..=WITH_CIRCLES,
    other_version: |version| {
        format!(
            "index format {version} is not this program's {WITH_CIRCLES}: use another version of \
             merganser, or build the index again"
        )
    },
    foreign: "not a merganser index (.mgi)",
    name: "the index ",
    if_cut: "build it again",
    if_damaged: "build the index again",
    if_changed: "copy it again",
};

/// A mapped index file.
#[derive(Debug)]
pub(super) struct Mapped {
    mapping: MappedFile,
    sections: [SectionSum; SECTIONS],
}

impl Mapped {
    pub(super) fn of_file(file: &File, path: &Path) -> Result<(Mapped, Vec<Contig>, usize), Error> {
        let at = |source| Error::File { path: path.to_owned(), source };
        let mapping = MappedFile::of_file(file, path).map_err(at)?;
        let (version, sections, k) =
            header(mapping.bytes()).map_err(|problem| Error::index(path, problem))?;
        let mapped = Mapped { mapping, sections };
        let senseless = || Error::index(path, "the index is inconsistent: build it again");
        if crc32fast::hash(mapped.section(CONTIGS)) != sections[CONTIGS].checksum {
            return Err(mapped.damaged(CONTIGS));
        }
        let contigs = contigs(mapped.section(CONTIGS), version).ok_or_else(senseless)?;
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

    /// Returns the places and the checksums of the planes.
    pub(super) fn sums_of_planes(&self) -> [SectionSum; 3] {
        [0, 1, 2].map(|number| self.sections[number])
    }

    fn section(&self, number: usize) -> &[u8] {
        let SectionSum { start, len, .. } = self.sections[number];
        &self.mapping.bytes()[start as usize..(start + len) as usize]
    }

    fn damaged(&self, number: usize) -> Error {
        Error::index(self.mapping.path(), damaged(number))
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

    /// Returns the number of bytes of the planes, the positions and the table.
    pub(super) fn bytes(&self) -> u64 {
        self.sections[..CONTIGS].iter().map(|section| section.len).sum()
    }

    /// See [`MappedFile::read`].
    pub(super) fn read(&self, part: &[u8], to: &mut [u8]) -> Result<(), Error> {
        Ok(self.mapping.read(part, to)?)
    }

    pub(super) fn planes(&self) -> [&[u64]; 3] {
        // Mappings begin at a page, and sections at a multiple of one, so the casts cannot fail.
        [0, 1, 2].map(|number| bytemuck::try_cast_slice(self.section(number)).unwrap_or_default())
    }

    pub(super) fn positions(&self) -> &[u32] {
        bytemuck::try_cast_slice(self.section(3)).unwrap_or_default()
    }

    pub(super) fn table(&self) -> &[u32] {
        bytemuck::try_cast_slice(self.section(4)).unwrap_or_default()
    }
}

/// Returns the message for a section with a wrong checksum.
pub(super) fn damaged(number: usize) -> String {
    format!(
        "section {} of {SECTIONS} is damaged (checksum): copy the index again, or build it again",
        number + 1
    )
}

/// Parses the header of a whole file, and checks that the sections lie within the file and only zeros lie
/// between them.
fn header(file: &[u8]) -> Result<(u32, [SectionSum; SECTIONS], usize), String> {
    let (version, mut fields) = FORMAT.read(file)?;
    let senseless = || FORMAT.senseless();
    let (k, sections, bytes) = parse(&mut fields).ok_or_else(senseless)?;
    FORMAT.check_length(file.len() as u64, bytes)?;
    let inside = |section: &SectionSum| {
        let end = section.start.checked_add(section.len);
        section.start.is_multiple_of(8) && end.is_some_and(|end| end <= bytes)
    };
    if !(sections.iter().all(inside) && (SHORTEST..=MAX_K).contains(&k)) {
        return Err(senseless());
    }
    if !between(&sections, bytes).all(|(from, to)| file[from..to].iter().all(|&byte| byte == 0)) {
        return Err("it is damaged between its sections (not zero): build the index again".into());
    }
    Ok((version, sections, k))
}

/// Parses k, the sections and the length of the file.
fn parse(fields: &mut ByteReader<'_>) -> Option<(usize, [SectionSum; SECTIONS], u64)> {
    let (k, _shortest) = (fields.u32()? as usize, fields.u32()?);
    let mut sections = [SectionSum::default(); SECTIONS];
    for section in &mut sections {
        let (start, len, checksum) = (fields.u64()?, fields.u64()?, fields.u32()?);
        fields.u32()?;
        *section = SectionSum { start, len, checksum };
    }
    Some((k, sections, fields.u64()?))
}

/// Returns the byte ranges between the header and the sections, up to the end of the file. Together with the
/// checksums, checking that these are zero covers every byte.
fn between(
    sections: &[SectionSum; SECTIONS],
    bytes: u64,
) -> impl Iterator<Item = (usize, usize)> + '_ {
    let starts = sections.iter().map(|section| section.start).chain([bytes]);
    let ends = sections.iter().map(|section| section.start + section.len);
    let gaps = std::iter::once(USED as u64).chain(ends).zip(starts);
    gaps.filter(|(end, next)| end < next).map(|(end, next)| (end as usize, next as usize))
}

/// Parses the contigs: for each one its length, in version 2 the number of its repeated bases, then its name with the
/// name's length before it.
fn contigs(bytes: &[u8], version: u32) -> Option<Vec<Contig>> {
    let mut rest = ByteReader(bytes);
    let count = rest.u32()?;
    let (mut contigs, mut start) = (Vec::new(), 0u64);
    for _ in 0..count {
        let len = rest.u32()?;
        let repeated = if version < WITH_CIRCLES { 0 } else { rest.u32()? };
        let name = rest.text()?;
        let is_possible =
            repeated < len && repeated as usize <= MAX_REPEATED && len <= MAX_CIRCULAR;
        if repeated > 0 && !is_possible {
            return None;
        }
        contigs.push(Contig { name, start: u32::try_from(start).ok()?, len, repeated });
        start = (start + u64::from(len) + u64::from(repeated)).next_multiple_of(64);
    }
    (count > 0 && start <= MAX_POSITIONS + 64).then_some(contigs)
}

/// Writes an index file while its positions are computed.
pub(super) struct Writer {
    file: Summed<AtomicFile>,
    k: usize,
    sections: Vec<SectionSum>,
    /// The offset at which the next section begins.
    start: u64,
}

impl Writer {
    /// Creates the file, and writes the planes.
    pub(super) fn new(
        mut file: AtomicFile,
        reference: &Reference,
        k: usize,
    ) -> Result<Writer, Error> {
        file.write_all(&[0; BYTES])?;
        let (file, start) = (Summed::new(file), BYTES as u64);
        let mut writer = Writer { file, k, sections: Vec::new(), start };
        let end = reference.contigs.last().map_or(0, Contig::end);
        debug_assert_eq!(reference.low.len(), words_to(end));
        for plane in [&reference.low, &reference.high, &reference.others] {
            writer.section(bytemuck::cast_slice(plane))?;
        }
        Ok(writer)
    }

    /// Writes the rest of a section, its padding, and its entry.
    fn section(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes)?;
        let (start, checksum, file) = (self.start, self.file.take_sum(), self.file.stream());
        let end = file.position();
        self.sections.push(SectionSum { start, len: end - start, checksum });
        self.start = end.next_multiple_of(BYTES as u64);
        Ok(file.write_all(&vec![0; (self.start - end) as usize])?)
    }

    /// Appends positions.
    pub(super) fn positions(&mut self, positions: &[u32]) -> Result<(), Error> {
        Ok(self.file.write_all(bytemuck::cast_slice(positions))?)
    }

    /// Writes the rest, maps the file and only then makes it appear under its name.
    pub(super) fn finish(mut self, reference: &Reference, table: &[u32]) -> Result<Index, Error> {
        self.section(&[])?;
        self.section(bytemuck::cast_slice(table))?;
        let mut contigs = Vec::new();
        contigs.put_u32(reference.contigs.len() as u32);
        let has_circles = reference.text().has_circles;
        for contig in &reference.contigs {
            contigs.put_u32(contig.len);
            if has_circles {
                contigs.put_u32(contig.repeated);
            }
            contigs.put_text(&contig.name);
        }
        self.section(&contigs)?;
        let mut fields = Vec::new();
        fields.put_u32s([self.k as u32, SHORTEST as u32]);
        for section in &self.sections {
            fields.put_u64s([section.start, section.len]);
            fields.put_u32s([section.checksum, 0]);
        }
        let file = self.file.stream();
        fields.put_u64(file.position());
        let version = if has_circles { WITH_CIRCLES } else { VERSION };
        file.patch(0, &FORMAT.header(version, &fields)[..USED])?;
        let index = Index::of_file(&file.reader()?, file.path())?;
        self.file.into_stream().commit()?;
        Ok(index)
    }
}
