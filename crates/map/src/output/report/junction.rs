//! Records of alignments over the junction of a circular contig.

use merganser_alignments::{Record, RecordPlace, Tags, flag};

use super::Reporter;
use crate::trace::Alignment;

/// The second part of an alignment that was [cut](Alignment::cut) at a junction.
#[derive(Debug, Default)]
pub(super) struct SecondPart {
    pub(super) is_there: bool,
    pub(super) alignment: Alignment,
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
        let alignment = &second.alignment;
        let at = alignment.start - self.view.text.contigs[place.contig as usize].start;
        let (edits, md) = (alignment.edits(), &alignment.md[..]);
        let second_tags = Tags { edits, md, others: &[], ..tags };
        let supplementary = Record {
            flags: record.flags | flag::SUPPLEMENTARY,
            place: Some(RecordPlace { at, ..place }),
            operations: &alignment.operations,
            hit: Some(second_tags),
            ..*record
        };
        let [mut first_named, mut second_named] = [Vec::new(), Vec::new()];
        if self.style.may_name(place.contig) {
            self.style.name_part(record, &mut first_named);
            self.style.name_part(&supplementary, &mut second_named);
        }
        let hit = Some(Tags { parts: &second_named, ..tags });
        self.style.write(&Record { hit, ..*record }, out);
        let hit = Some(Tags { parts: &first_named, ..second_tags });
        self.style.write(&Record { hit, ..supplementary }, out);
        1
    }
}
