//! BAM records as CRAM stores them.

use super::container::Groups;
use super::series::TagKey;
use crate::fields::{in_read, on_reference, split_tag};
use crate::{Fields, flag};

/// The numbers of operations in BAM (SAM specification, section 4.2).
pub(super) mod operation {
    pub(in crate::cram) const INSERTION: u32 = 1;
    pub(in crate::cram) const DELETION: u32 = 2;
    pub(in crate::cram) const SKIP: u32 = 3;
    pub(in crate::cram) const SOFT_CLIP: u32 = 4;
    pub(in crate::cram) const HARD_CLIP: u32 = 5;
    pub(in crate::cram) const PADDING: u32 = 6;
    /// The largest number: `X`.
    pub(in crate::cram) const LAST: u32 = 8;
}

/// The maximum number of bases of a read whose bases are missing: CRAM stores something in their place.
const MAX_MISSING: usize = 1 << 28;

/// The flags that SAM defines; CRAM stores no others.
const FLAGS: u16 = 0xfff;

/// A BAM record, with the CIGAR of its tag CG if that is too long for BAM's field (SAM specification, section 4.2.2).
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(super) fields: Fields<'a>,
    /// The operations, four bytes each.
    cigar: &'a [u8],
    /// Whether the CIGAR is that of the tag CG, which CRAM does not need.
    is_long: bool,
}

impl<'a> Stored<'a> {
    /// Returns a view of a record, which must be whole.
    pub(crate) fn new(record: &'a [u8]) -> Stored<'a> {
        let fields = Fields(record);
        let own = &record[fields.cigar_at()..fields.bases_at()];
        let long = is_placeholder(&fields, own).then(|| long_cigar(record)).flatten();
        Stored { fields, cigar: long.unwrap_or(own), is_long: long.is_some() }
    }

    /// Whether the CIGAR is that of the tag CG.
    pub(crate) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Returns what keeps the record from being stored, if anything does: the text of a message.
    pub(crate) fn problem(&self, contigs: i32) -> Option<&'static str> {
        let fields = &self.fields;
        if !tags_are_whole(&fields.0[fields.tags_at()..]) {
            return Some("the tags of an alignment are damaged");
        }
        if fields.flags() & !FLAGS != 0 {
            return Some("an alignment has flags that SAM does not have");
        }
        let are_known =
            [fields.contig(), fields.mate()[0]].iter().all(|at| (-1..contigs).contains(at));
        if !are_known {
            return Some("an alignment is on a reference that the header does not have");
        }
        let [_, mate_at, _] = fields.mate();
        if ![fields.at(), mate_at].iter().all(|at| (-1..i32::MAX).contains(at)) {
            return Some("an alignment has an invalid position");
        }
        let Some((0, name)) = fields.name().split_last() else {
            return Some("the name of an alignment does not end: is the file damaged?");
        };
        if name.contains(&0) {
            return Some("the name of an alignment has a zero byte: is the file damaged?");
        }
        if !self.is_mapped() {
            return None;
        }
        if fields.contig() < 0 || fields.at() < 0 || self.cigar.is_empty() {
            return Some(
                "CRAM cannot store a mapped alignment without a position or CIGAR: write BAM or SAM",
            );
        }
        let are_known = self.operations().all(|(operation, _)| operation <= operation::LAST);
        if fields.bases() == 0 && in_read(self.operations()) > MAX_MISSING {
            return Some("the CIGAR of an alignment without bases is longer than any read");
        }
        let has_all = fields.bases() == 0 || fields.bases() == in_read(self.operations());
        (!are_known || !has_all).then_some("the CIGAR of an alignment does not fit its bases")
    }

    pub(super) fn is_mapped(&self) -> bool {
        self.fields.flags() & flag::UNMAPPED == 0
    }

    /// Returns the operations, with the numbers that BAM gives them, and their lengths.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (u32, usize)> + use<'a> {
        crate::fields::operations(self.cigar)
    }

    /// Returns the number of reference bases that the record covers, at least 1.
    pub(super) fn span(&self) -> usize {
        if self.is_mapped() { on_reference(self.operations()).max(1) } else { 1 }
    }

    /// Returns the length of the read: the number of stored bases or, if none are stored, the length that its CIGAR
    /// implies.
    pub(super) fn read_bases(&self) -> usize {
        match self.fields.bases() {
            0 if self.is_mapped() => in_read(self.operations()),
            bases => bases,
        }
    }

    /// Returns the number of the read group, if CRAM stores it as a number: readers add its tag after all others.
    pub(super) fn group(&self, groups: &Groups) -> Option<i32> {
        let (key, id) = self.fields.tags().last().filter(|(key, _)| key == b"RGZ")?;
        let others = self.fields.tags().filter(|(other, _)| other[..2] == key[..2]).count();
        // The ID is without the terminating zero of the text.
        groups.get(&id[..id.len() - 1]).copied().filter(|_| others == 1)
    }

    /// Returns the tags that are stored as such.
    pub(super) fn tags(&self, has_group: bool) -> impl Iterator<Item = (TagKey, &'a [u8])> {
        let is_long = self.is_long;
        let tags = self.fields.tags();
        tags.filter(move |(key, _)| !(is_long && key == b"CGB" || has_group && key == b"RGZ"))
    }
}

/// Whether a CIGAR says only that the bases are those of another, which is in the tag CG.
fn is_placeholder(fields: &Fields<'_>, cigar: &[u8]) -> bool {
    let mut operations = crate::fields::operations(cigar);
    let clip = (operation::SOFT_CLIP, fields.bases());
    operations.next() == Some(clip)
        && operations.next().is_some_and(|(operation, _)| operation == operation::SKIP)
        && operations.next().is_none()
}

/// Returns the operations of the tag CG, if the record has it.
fn long_cigar(record: &[u8]) -> Option<&[u8]> {
    let (_, array) = Fields(record).tags().find(|(key, _)| key == b"CGB")?;
    array.strip_prefix(b"I")?.get(4..)
}

fn tags_are_whole(mut tags: &[u8]) -> bool {
    while !tags.is_empty() {
        let Some((key, value)) = split_tag(tags) else { return false };
        if matches!(key[2], b'Z' | b'H') && value.contains(&b'\t') {
            return false;
        }
        tags = &tags[key.len() + value.len()..];
    }
    true
}
