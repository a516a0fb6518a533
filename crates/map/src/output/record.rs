//! Records of SAM and BAM.

mod bam;
mod sam;

use std::sync::Arc;

use merganser_io::put_decimal;

use crate::Config;
use crate::index::Index;
use crate::reference::Contig;
use crate::trace::Operation;

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

/// SAM's flags.
pub(crate) mod flag {
    pub(crate) const PAIRED: u16 = 0x1;
    pub(crate) const PROPER: u16 = 0x2;
    pub(crate) const UNMAPPED: u16 = 0x4;
    pub(crate) const MATE_UNMAPPED: u16 = 0x8;
    pub(crate) const REVERSE: u16 = 0x10;
    pub(crate) const MATE_REVERSE: u16 = 0x20;
    pub(crate) const FIRST: u16 = 0x40;
    pub(crate) const LAST: u16 = 0x80;
    pub(crate) const SECONDARY: u16 = 0x100;
}

/// A place: a contig's number and a base of it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordPlace {
    pub(crate) contig: u32,
    pub(crate) at: u32,
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) flags: u16,
    pub(crate) place: Option<RecordPlace>,
    pub(crate) quality: u8,
    /// Empty if there is no alignment.
    pub(crate) operations: &'a [(Operation, u32)],
    pub(crate) mate: Option<RecordPlace>,
    pub(crate) template: i64,
    /// The read as it came, with its qualities, which may be missing; `None` leaves them out.
    pub(crate) letters: Option<[&'a [u8]; 2]>,
    pub(crate) hit: Option<Tags<'a>>,
}

impl<'a> Record<'a> {
    /// That of a read without a hit, which stands where its mate does, if that has one.
    pub(super) fn unmapped(
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

/// What is said of a hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tags<'a> {
    pub(crate) edits: u32,
    pub(crate) md: &'a [u8],
    pub(crate) hits: u32,
    /// From 1.
    pub(crate) number: u32,
    /// What XA says; empty if there is no such tag.
    pub(crate) others: &'a [u8],
}

/// What the records of a file share.
#[derive(Clone, Debug)]
pub(crate) struct RecordStyle {
    format: Format,
    /// The names of the contigs.
    names: Arc<[String]>,
    /// Matches and mismatches are told apart.
    extended: bool,
    /// The read group's ID.
    group: Option<String>,
}

impl RecordStyle {
    /// How the configuration wants records to be written that tell of places in the index's reference:
    /// the style of all, or one for the records of each input.
    pub(crate) fn all(config: &Config, index: &Index) -> Vec<RecordStyle> {
        let style = RecordStyle {
            format: config.format,
            names: index.contigs().iter().map(|contig| contig.name.clone()).collect(),
            extended: config.eqx,
            group: None,
        };
        let groups = config.read_groups.iter().map(|group| Some(group.id().to_owned()));
        let groups = if config.read_groups.is_empty() { vec![None] } else { groups.collect() };
        groups.into_iter().map(|group| RecordStyle { group, ..style.clone() }).collect()
    }

    /// Appends a record, of BAM not compressed yet.
    pub(crate) fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        match self.format {
            Format::Sam => sam::write(self, record, out),
            Format::Bam(_) | Format::Cram => bam::write(self, record, out),
        }
    }

    /// Whether the tag XA may name a contig.
    pub(crate) fn may_name(&self, contig: u32) -> bool {
        Contig::may_stand_in_xa(&self.names[contig as usize])
    }

    /// Appends what XA says of a hit: contig, strand and first base from 1, CIGAR, edits.
    pub(crate) fn name_hit(
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

/// The file's beginning, of BAM not compressed yet.
pub(crate) fn header(format: Format, text: &str, index: &Index) -> Vec<u8> {
    match format {
        Format::Sam => text.as_bytes().to_vec(),
        Format::Bam(_) => bam::header(text, index),
        Format::Cram => super::cram::head(text),
    }
}
