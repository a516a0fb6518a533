//! Records of SAM and BAM, as they are written.

mod bam;
mod sam;

pub use bam::MAX_OPERATIONS;

use std::sync::Arc;

use merganser_io::put_decimal;

use crate::{Contig, Operation, ReadGroup};

/// The kind of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text.
    #[default]
    Sam,
    /// Binary, compressed as BGZF at this level, 0 to 12.
    Bam(u8),
    /// Differences from the reference, of sorted records alone.
    Cram,
}

/// The bits of SAM's flags (SAM specification, section 1.4).
pub mod flag {
    /// The read has a mate.
    pub const PAIRED: u16 = 0x1;
    /// Both mates lie as they should.
    pub const PROPER: u16 = 0x2;
    /// The read has no place.
    pub const UNMAPPED: u16 = 0x4;
    /// Its mate has no place.
    pub const MATE_UNMAPPED: u16 = 0x8;
    /// The read lies on the reverse strand.
    pub const REVERSE: u16 = 0x10;
    /// Its mate lies on the reverse strand.
    pub const MATE_REVERSE: u16 = 0x20;
    /// The first mate.
    pub const FIRST: u16 = 0x40;
    /// The second mate.
    pub const LAST: u16 = 0x80;
    /// Another hit of a read whose first one is another record.
    pub const SECONDARY: u16 = 0x100;
}

/// A place: a contig's number and a base of it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The contig's number, from 0.
    pub contig: u32,
    /// The base, from 0.
    pub at: u32,
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The read's name; if it is empty, `*` is written.
    pub name: &'a [u8],
    /// The bits of [`flag`].
    pub flags: u16,
    /// Where its first base lies.
    pub place: Option<RecordPlace>,
    /// The mapping quality.
    pub quality: u8,
    /// Operations with their lengths; empty if there is no alignment.
    pub operations: &'a [(Operation, u32)],
    /// Where the mate's first base lies.
    pub mate: Option<RecordPlace>,
    /// The length of the template, negative for the mate behind.
    pub template: i64,
    /// The read as it came, with its qualities, which may be missing; `None` leaves them out.
    pub letters: Option<[&'a [u8]; 2]>,
    /// The tags of a hit.
    pub hit: Option<Tags<'a>>,
}

impl<'a> Record<'a> {
    /// Makes the record of a read without a hit, which has the place of its mate, if that has one.
    pub fn unmapped(
        name: &'a [u8],
        flags: u16,
        mate: Option<RecordPlace>,
        letters: Option<[&'a [u8]; 2]>,
    ) -> Record<'a> {
        Record {
            name,
            flags: flags | flag::UNMAPPED,
            place: mate,
            quality: 0,
            operations: &[],
            mate,
            template: 0,
            letters,
            hit: None,
        }
    }
}

/// The tags of a hit.
#[derive(Clone, Copy, Debug)]
pub struct Tags<'a> {
    /// NM.
    pub edits: u32,
    /// MD.
    pub md: &'a [u8],
    /// NH.
    pub hits: u32,
    /// HI, from 1.
    pub number: u32,
    /// The value of XA; empty if there is no such tag.
    pub others: &'a [u8],
}

/// The style that the records of a file share.
#[derive(Clone, Debug)]
pub struct RecordStyle {
    format: Format,
    /// The names of the contigs.
    names: Arc<[String]>,
    /// Matches and mismatches are told apart.
    extended: bool,
    /// The read group's ID.
    group: Option<String>,
}

impl RecordStyle {
    /// The style of records of a format that tell of places in these contigs. `extended` tells matches from mismatches;
    /// `groups` are read groups by their IDs: there is a style for each, or without any a single one.
    pub fn all(
        format: Format,
        contigs: &[Contig],
        extended: bool,
        groups: &[ReadGroup],
    ) -> Vec<RecordStyle> {
        let names = contigs.iter().map(|contig| contig.name.clone()).collect();
        let style = RecordStyle { format, names, extended, group: None };
        if groups.is_empty() {
            return vec![style];
        }
        let of =
            |group: &ReadGroup| RecordStyle { group: Some(group.id().to_owned()), ..style.clone() };
        groups.iter().map(of).collect()
    }

    /// Appends a record, of BAM not compressed yet.
    pub fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        match self.format {
            Format::Sam => sam::write(self, record, out),
            Format::Bam(_) | Format::Cram => bam::write(self, record, out),
        }
    }

    /// Returns whether the tag XA may name a contig.
    pub fn may_name(&self, contig: u32) -> bool {
        Contig::may_stand_in_xa(&self.names[contig as usize])
    }

    /// Appends what XA says of a hit: contig, strand and first base from 1, CIGAR, edits.
    pub fn name_hit(
        &self,
        place: RecordPlace,
        reverse: bool,
        operations: &[(Operation, u32)],
        edits: u32,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(self.names[place.contig as usize].as_bytes());
        out.extend_from_slice(if reverse { b",-" } else { b",+" });
        put_decimal(u64::from(place.at) + 1, out);
        out.push(b',');
        sam::cigar(self, operations, out);
        out.push(b',');
        put_decimal(u64::from(edits), out);
        out.push(b';');
    }

    /// Calls `take` with the CIGAR's operations, neighbours joined.
    fn cigar(&self, operations: &[(Operation, u32)], mut take: impl FnMut(Operation, u32)) {
        let mut held: Option<(Operation, u32)> = None;
        for &(operation, len) in operations {
            let operation = match operation {
                Operation::Match | Operation::Mismatch if !self.extended => Operation::Aligned,
                _ => operation,
            };
            held = match held {
                Some((last, before)) if last == operation => Some((last, before + len)),
                Some((last, before)) => {
                    take(last, before);
                    Some((operation, len))
                }
                None => Some((operation, len)),
            };
        }
        if let Some((operation, len)) = held {
            take(operation, len);
        }
    }
}

/// Returns the beginning of a file whose header has this text, of BAM not compressed yet.
pub fn file_head(format: Format, text: &str, contigs: &[Contig]) -> Vec<u8> {
    match format {
        Format::Sam => text.as_bytes().to_vec(),
        Format::Bam(_) => bam::header(text, contigs),
        Format::Cram => crate::cram::head(text),
    }
}
