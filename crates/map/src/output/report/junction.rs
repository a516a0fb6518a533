//! Records of alignments over the junction of a circular contig.

use merganser_alignments::{Record, RecordPlace, Tags, flag};

use super::Reporter;
use crate::Contig;
use crate::reference::Text;
use crate::trace::Alignment;

/// The second part of an alignment that was cut at a junction.
#[derive(Debug, Default)]
pub(super) struct SecondPart {
    pub(super) is_there: bool,
    alignment: Alignment,
    /// The position of its first base in the contig.
    at: u32,
}

impl SecondPart {
    /// Cuts an alignment: see [`Alignment::cut`].
    pub(super) fn cut(&mut self, alignment: &mut Alignment, contig: &Contig, text: &Text<'_>) {
        self.is_there = alignment.cut(contig, text, &mut self.alignment);
        self.at = self.alignment.start.saturating_sub(contig.start);
    }
}

impl Reporter<'_> {
    /// Writes the record of an alignment and, if the record is primary and the alignment has a second part, the
    /// supplementary record of that; returns the number of supplementary records. `of` is the number of the alignment.
    pub(super) fn write(&self, record: &Record<'_>, of: usize, out: &mut Vec<u8>) -> u64 {
        let second = &self.second_parts[of];
        let (Some(place), Some(tags)) = (record.place, record.hit) else { return 0 };
        if !second.is_there || record.flags & flag::SECONDARY != 0 {
            self.style.write(record, out);
            return 0;
        }
        let supplementary = Record {
            flags: record.flags | flag::SUPPLEMENTARY,
            place: Some(RecordPlace { at: second.at, ..place }),
            operations: &second.alignment.operations,
            hit: Some(Tags {
                edits: second.alignment.edits(),
                md: &second.alignment.md,
                others: &[],
                ..tags
            }),
            ..*record
        };
        let [mut first_named, mut second_named] = [Vec::new(), Vec::new()];
        if self.style.may_name(place.contig) {
            self.style.name_part(record, &mut first_named);
            self.style.name_part(&supplementary, &mut second_named);
        }
        let with = |record: &Record<'_>, tags: Tags<'_>, parts: &[u8], out: &mut Vec<u8>| {
            self.style.write(&Record { hit: Some(Tags { parts, ..tags }), ..*record }, out);
        };
        with(record, tags, &second_named, out);
        if let Some(tags) = supplementary.hit {
            with(&supplementary, tags, &first_named, out);
        }
        1
    }
}
