//! Changes of shards of `map`, whose header stores the number and the digest of the records.

use std::ops::Range;

use super::{binary, bytes};
use crate::kinds::damage::packed;
use merganser_test_support::reads::Random;

/// Changes the header or the records, or removes one, and corrects all checksums except, sometimes, the mark's.
/// Returns a description and whether the mark reveals the change.
pub(super) fn change(file: &mut Vec<u8>, random: &mut Random) -> (String, bool) {
    let Some(mut text) = packed::unpack("x.bam", file) else { return Default::default() };
    let Some(header) = header(&text) else { return Default::default() };
    let is_header = header == text.len() || random.below(2) == 0;
    let part = if is_header { 0..header } else { header..text.len() };
    let mut changed = text[part.clone()].to_vec();
    let what = match random.below(3) {
        0 => bytes::damage(&mut changed, random),
        1 => binary::change(&mut changed, 200, random),
        _ if !is_header => lose(&mut changed, random),
        _ => binary::change(&mut changed, 200, random),
    };
    text.splice(part.clone(), changed);
    let mends = random.below(4) > 0;
    let start = self::header(&text).unwrap_or(text.len());
    if mends {
        mend(&mut text, start);
    }
    *file = packed::bgzf_of(&[&text[..start], &text[start..]]);
    let place = if is_header { "header" } else { "records" };
    let what = format!("{place}: {what}{}", if mends { "" } else { " (the mark unchanged)" });
    (what, !is_header && !mends)
}

/// Removes a random record.
fn lose(records: &mut Vec<u8>, random: &mut Random) -> String {
    let all = each(records);
    let lost = all[random.below(all.len())].clone();
    records.drain(lost.clone());
    format!("without the record at {}", lost.start)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(*bytes.get(at..at + 4)?.first_chunk()?) as usize)
}

/// Returns the length of a BAM header (SAM specification, section 4.2) in bytes; `None` if it is invalid.
fn header(text: &[u8]) -> Option<usize> {
    let mut at = 8usize.checked_add(u32_at(text, 4)?)?;
    let contigs = u32_at(text, at)?;
    at += 4;
    for _ in 0..contigs {
        at = at.checked_add(8)?.checked_add(u32_at(text, at)?)?;
    }
    (at <= text.len()).then_some(at)
}

/// Returns the positions of complete records.
fn each(records: &[u8]) -> Vec<Range<usize>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(length) = u32_at(records, at) {
        let Some(end) = at.checked_add(4 + length).filter(|&end| end <= records.len()) else {
            break;
        };
        all.push(at..end);
        at = end;
    }
    if all.is_empty() {
        all.push(0..records.len());
    }
    all
}

/// Corrects the number and the digest in the mark.
fn mend(text: &mut [u8], start: usize) {
    let (header, records) = text.split_at_mut(start);
    let find = |word: &[u8]| header.windows(word.len()).rposition(|part| part == word);
    let (Some(number), Some(digest)) = (find(b" records, digest "), find(b", digest ")) else {
        return;
    };
    let mut sum = crc32fast::Hasher::new();
    for block in records.chunks(packed::TEXT) {
        sum.update(&crc32fast::hash(block).to_le_bytes());
        sum.update(&(block.len() as u32).to_le_bytes());
    }
    let count = if records.is_empty() { 0 } else { each(records).len() };
    if let Some(place) = number.checked_sub(20).and_then(|from| header.get_mut(from..number)) {
        place.copy_from_slice(format!("{count:020}").as_bytes());
    }
    if let Some(place) = header.get_mut(digest + 9..digest + 17) {
        place.copy_from_slice(format!("{:08x}", sum.finalize()).as_bytes());
    }
}
