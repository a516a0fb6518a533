//! SAM and BAM records for writing.

mod bam;
mod name;
mod sam;

pub use bam::MAX_OPERATIONS;
pub(crate) use bam::bam_header;
pub use name::name_problem;

use std::sync::Arc;

use merganser_io::put_decimal;

use crate::{Contig, Operation, ReadGroup};

/// The format of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text.
    #[default]
    Sam,
    /// Binary, compressed as BGZF with this level, 0 to 12.
    Bam(u8),
    /// Differences from the reference. Only sorted records can be written as CRAM.
    Cram,
}

/// The bits of SAM's flags (SAM specification, section 1.4).
pub mod flag {
    /// The read has a mate.
    pub const PAIRED: u16 = 0x1;
    /// Both mates are aligned as a proper pair.
    pub const PROPER: u16 = 0x2;
    /// The read is unmapped.
    pub const UNMAPPED: u16 = 0x4;
    /// The mate is unmapped.
    pub const MATE_UNMAPPED: u16 = 0x8;
    /// The read is aligned to the reverse strand.
    pub const REVERSE: u16 = 0x10;
    /// The mate is aligned to the reverse strand.
    pub const MATE_REVERSE: u16 = 0x20;
    /// The read is the first mate.
    pub const FIRST: u16 = 0x40;
    /// The read is the second mate.
    pub const LAST: u16 = 0x80;
    /// The record is a secondary alignment: another hit of a read that has a primary record.
    pub const SECONDARY: u16 = 0x100;
    /// The record is a supplementary alignment: another part of a read whose alignment has several parts.
    pub const SUPPLEMENTARY: u16 = 0x800;
}

/// A position in the reference: the number of a contig and a base of it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The number of the contig, from 0.
    pub contig: u32,
    /// The base, from 0.
    pub at: u32,
}

/// A SAM or BAM record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The name of the read. An empty name is written as `*`.
    pub name: &'a [u8],
    /// The bits of [`flag`].
    pub flags: u16,
    /// The position of the first aligned base.
    pub place: Option<RecordPlace>,
    /// The mapping quality.
    pub quality: u8,
    /// The operations of the alignment with their lengths; empty if there is no alignment.
    pub operations: &'a [(Operation, u32)],
    /// The position of the mate's first aligned base.
    pub mate: Option<RecordPlace>,
    /// The length of the template, negative for the mate on the right.
    pub template: i64,
    /// The letters of the read as sequenced, and its qualities, which may be empty. `None` omits both from the
    /// record.
    pub letters: Option<[&'a [u8]; 2]>,
    /// The tags of the hit, if the record has one.
    pub hit: Option<Tags<'a>>,
    /// The tags about the mate, if the record has them.
    pub mate_tags: Option<MateTags<'a>>,
    /// The tags of the read, in the format of the output: [`ReadTags::bytes`](crate::ReadTags::bytes).
    pub read_tags: &'a [u8],
}

impl<'a> Record<'a> {
    /// Returns the record of a read without a hit. It gets the position of its mate, if the mate has one.
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
            mate_tags: None,
            read_tags: &[],
        }
    }
}

/// The tags about the mate that `samtools fixmate -m` writes.
#[derive(Clone, Copy, Debug)]
pub struct MateTags<'a> {
    /// The mapping quality (MQ); `None` if the mate is unmapped.
    pub quality: Option<u8>,
    /// The CIGAR (MC), `*` if the mate is unmapped; if empty, the tag is omitted.
    pub cigar: &'a [u8],
    /// The sum of the qualities of at least 15 (ms).
    pub score: u32,
}

impl MateTags<'_> {
    /// Returns the score (ms) of a mate's qualities, as Phred+33, and letters. As in samtools, each letter counts 255
    /// if there are no qualities.
    pub fn score_of([letters, qualities]: [&[u8]; 2]) -> u32 {
        if qualities.is_empty() {
            return 255 * letters.len() as u32;
        }
        let qualities = qualities.iter().map(|quality| u32::from(quality.saturating_sub(33)));
        qualities.filter(|&quality| quality >= 15).sum()
    }
}

/// The tags of a hit.
#[derive(Clone, Copy, Debug)]
pub struct Tags<'a> {
    /// The number of edits (NM).
    pub edits: u32,
    /// The mismatching positions (MD).
    pub md: &'a [u8],
    /// The number of hits of the read (NH).
    pub hits: u32,
    /// The number of this hit (HI), from 1.
    pub number: u32,
    /// The other hits (XA); if empty, the tag is omitted.
    pub others: &'a [u8],
    /// The other parts of the alignment (SA); if empty, the tag is omitted.
    pub parts: &'a [u8],
}

/// The settings that the records of a file share.
#[derive(Clone, Debug)]
pub struct RecordStyle {
    format: Format,
    /// The names of the contigs.
    names: Arc<[String]>,
    /// Whether the CIGAR distinguishes matches (`=`) from mismatches (`X`).
    extended: bool,
    /// The ID of the read group.
    group: Option<String>,
}

impl RecordStyle {
    /// Returns one style for each read group, in the order of `groups`, or a single style if `groups` is empty.
    /// `extended` makes the CIGAR distinguish matches from mismatches.
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

    /// Returns the style of records without contigs and read groups.
    pub(crate) fn without_contigs(format: Format) -> RecordStyle {
        RecordStyle { format, names: Arc::default(), extended: false, group: None }
    }

    /// Appends a record. BAM records are not compressed.
    pub fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        match self.format {
            Format::Sam => sam::write(self, record, out),
            Format::Bam(_) | Format::Cram => bam::write(self, record, out),
        }
    }

    /// Returns whether the tags XA and SA can contain the name of a contig.
    pub fn may_name(&self, contig: u32) -> bool {
        Contig::may_stand_in_xa(&self.names[contig as usize])
    }

    /// Appends a hit in the format of XA: contig, strand, position of the first base from 1, CIGAR, edits.
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

    /// Appends the alignment of a record in the format of SA: contig, position of the first base from 1, strand, CIGAR,
    /// mapping quality, edits. Nothing is appended for a record without a hit.
    pub fn name_part(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        let (Some(place), Some(tags)) = (record.place, record.hit) else { return };
        out.extend_from_slice(self.names[place.contig as usize].as_bytes());
        out.push(b',');
        put_decimal(u64::from(place.at) + 1, out);
        out.extend_from_slice(if record.flags & flag::REVERSE != 0 { b",-," } else { b",+," });
        sam::cigar(self, record.operations, out);
        out.push(b',');
        put_decimal(u64::from(record.quality), out);
        out.push(b',');
        put_decimal(u64::from(tags.edits), out);
        out.push(b';');
    }

    /// Appends a CIGAR as text.
    pub fn write_cigar(&self, operations: &[(Operation, u32)], out: &mut Vec<u8>) {
        sam::cigar(self, operations, out);
    }

    /// Calls `take` with each operation of the CIGAR, after merging neighbours of the same kind.
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

/// Returns the start of a file whose header has this text. That of a BAM file is not compressed.
pub fn file_head(format: Format, text: &str, contigs: &[Contig]) -> Vec<u8> {
    match format {
        Format::Sam => text.as_bytes().to_vec(),
        Format::Bam(_) => {
            let contigs = contigs.iter().map(|contig| (contig.name.as_bytes(), contig.len));
            bam_header(text.as_bytes(), contigs)
        }
        Format::Cram => crate::cram::head(text.as_bytes()),
    }
}
