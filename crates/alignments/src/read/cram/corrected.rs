//! Corrections of records as the decoder (noodles-cram 0.102) returns them: the sign of template lengths, qualities that the
//! file does not have, and a tag for decoders.

use std::collections::HashMap;

use noodles_cram::Record;
use noodles_sam::Header;
use noodles_sam::alignment::Record as _;

use crate::read::{Alignment, NOT_PRIMARY};
use crate::{Fields, flag};

/// The place of the template length in a record of BAM.
const TEMPLATE_LENGTH: std::ops::Range<usize> = 32..36;

/// The tag, with its type, by which htslib tells decoders which other tags to compute. It is not part of the record.
const FOR_DECODERS: [u8; 3] = *b"cFC";

/// Returns for each record of a slice whether its template length has the wrong sign.
///
/// If a file does not store the lengths of a pair, the decoder gives the first record of the file the positive one. It
/// belongs to the leftmost mate (SAM specification, section 1.4.9). If both begin at the same base, the sign is arbitrary, and a
/// stored length cannot be told from a computed one. Other stored lengths are not changed, unless they are just what the decoder
/// would compute.
pub(super) fn wrong_signs(records: &[Record<'_>], header: &Header) -> Vec<bool> {
    let mut wrong = vec![false; records.len()];
    let mut waiting = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        let flags = Alignment::flags(record);
        // A template may have more than two reads: the sign of those in the middle is arbitrary.
        let is_middle = flags & flag::FIRST != 0 && flags & flag::LAST != 0;
        if flags & flag::PAIRED == 0 || flags & NOT_PRIMARY != 0 || is_middle {
            continue;
        }
        let Some(name) = Alignment::name(record) else { continue };
        let Some(first) = waiting.remove(name) else {
            waiting.insert(name, at);
            continue;
        };
        if are_swapped(&records[first], record, header) {
            wrong[first] = true;
            wrong[at] = true;
        }
    }
    wrong
}

/// Whether the template lengths of two mates are those of the decoder, and have each other's signs.
fn are_swapped(first: &Record<'_>, second: &Record<'_>, header: &Header) -> bool {
    let extent = |record: &Record<'_>| {
        let contig = record.reference_sequence_id(header)?.ok()?;
        let [start, end] = [record.alignment_start()?.ok()?, record.alignment_end()?.ok()?];
        Some((contig, start.get(), end.get()))
    };
    let (Some(one), Some(two)) = (extent(first), extent(second)) else { return false };
    if one.0 != two.0 {
        return false;
    }
    let length = (one.2.max(two.2) - one.1.min(two.1) + 1) as i64;
    let has = |record: &Record<'_>, length: i64| {
        record.template_length().is_ok_and(|own| i64::from(own) == length)
    };
    two.1 < one.1 && has(first, length) && has(second, -length)
}

/// Whether a file has no quality of a record. The decoder returns 0 for each base without one.
pub(super) fn has_no_qualities(record: &Record<'_>) -> bool {
    let scores = record.quality_scores();
    let mut scores = scores.iter();
    // Stored qualities are an array, whose iterator knows its length: these may all be 0.
    scores.size_hint().1.is_none() && scores.all(|score| matches!(score, Ok(0)))
}

/// Corrects a record of BAM.
pub(super) fn correct(bytes: &mut Vec<u8>, record: &Record<'_>, has_wrong_sign: bool) {
    if has_wrong_sign {
        let [.., length] = Fields(bytes).mate();
        bytes[TEMPLATE_LENGTH].copy_from_slice(&length.wrapping_neg().to_le_bytes());
    }
    if has_no_qualities(record) {
        let end = Fields(bytes).tags_at();
        let bases = Fields(bytes).bases();
        bytes[end - bases..end].fill(0xff);
    }
    let mut at = Fields(bytes).tags_at();
    let tag = Fields(bytes).tags().find_map(|(key, value)| {
        let tag = at..at + key.len() + value.len();
        at = tag.end;
        (key == FOR_DECODERS).then_some(tag)
    });
    if let Some(tag) = tag {
        bytes.drain(tag);
        let size = bytes.len() as u32 - 4;
        bytes[..4].copy_from_slice(&size.to_le_bytes());
    }
}
