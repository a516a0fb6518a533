//! Recomputes the checksums of changed files in our own formats, so that a test reaches the checks behind the
//! checksums. Sizes in headers are corrected, too, where a wrong size would hide all other damage. The fuzz targets
//! also use this.

use std::ops::Range;

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..at.saturating_add(8))?.first_chunk().copied()?;
    usize::try_from(u64::from_le_bytes(number)).ok()
}

/// Stores the CRC-32 of a range at `to`, if both are within the file.
fn put_sum(bytes: &mut [u8], of: Range<usize>, to: usize) {
    let Some(sum) = bytes.get(of).map(crc32fast::hash) else { return };
    if let Some(place) = bytes.get_mut(to..to.saturating_add(4)) {
        place.copy_from_slice(&sum.to_le_bytes());
    }
}

/// Corrects the checksums of a `.mgk` table.
pub fn table(bytes: &mut [u8]) {
    let Some(index) = u64_at(bytes, 72).filter(|&at| (128..bytes.len()).contains(&at)) else {
        put_sum(bytes, 0..124, 124);
        return;
    };
    let sections = u64_at(bytes, 80).map_or(index, |at| at.clamp(index, bytes.len()));
    let kmer_bytes = usize::from(bytes[16]).div_ceil(4);
    let entries: Vec<usize> = (index..sections)
        .step_by(kmer_bytes + 14)
        .take_while(|entry| entry + kmer_bytes + 14 <= sections)
        .collect();
    for (at, entry) in entries.iter().enumerate() {
        let start = u64_at(bytes, entry + kmer_bytes).unwrap_or(0);
        let end = entries.get(at + 1).and_then(|next| u64_at(bytes, next + kmer_bytes));
        put_sum(bytes, start..end.unwrap_or(index), entry + kmer_bytes + 10);
    }
    put_sum(bytes, index..bytes.len(), 104);
    put_sum(bytes, 0..124, 124);
}

/// Corrects the checksums of a `.mgdb` database.
pub fn database(bytes: &mut [u8]) {
    if bytes.len() < 4096 {
        return;
    }
    let length = bytes.len();
    bytes[104..112].copy_from_slice(&(length as u64).to_le_bytes());
    let (Some(directory), Some(meta)) = (u64_at(bytes, 88), u64_at(bytes, 96)) else { return };
    if directory <= meta && meta <= length {
        let parts = u32::from_le_bytes([bytes[44], bytes[45], bytes[46], bytes[47]]) as usize;
        let groups = parts.saturating_mul(256).min((meta - directory) / 24);
        for group in 0..groups {
            let at = directory + 24 * group;
            let (Some(start), Some(words)) = (u64_at(bytes, at), u64_at(bytes, at + 8)) else {
                break;
            };
            let start = start.saturating_mul(8);
            let end = start.saturating_add(words.saturating_mul(8));
            if let Some(text) = bytes.get(start..end) {
                let sum = u64::from(crc32fast::hash(text));
                bytes[at + 16..at + 24].copy_from_slice(&sum.to_le_bytes());
            }
        }
        put_sum(bytes, directory..meta, 112);
        put_sum(bytes, meta..length, 116);
    }
    let used = if bytes[8] == 1 { 152 } else { 160 };
    put_sum(bytes, 0..used - 4, used - 4);
}

/// Number of sections of a `.mgi` index. The header lists start, length and checksum of each from byte 24.
pub const INDEX_SECTIONS: usize = 6;
/// Bytes of the header of a `.mgi` index, including the checksum at its end.
pub const INDEX_HEADER: usize = 24 + 24 * INDEX_SECTIONS + 12;

/// Returns the range of a section of a `.mgi` index, if it is within the file.
pub fn index_section(bytes: &[u8], section: usize) -> Option<Range<usize>> {
    let (start, length) = (u64_at(bytes, 24 + 24 * section)?, u64_at(bytes, 32 + 24 * section)?);
    let end = start.checked_add(length).filter(|&end| end <= bytes.len())?;
    Some(start..end)
}

/// Corrects the checksums of a `.mgi` index.
pub fn index(bytes: &mut [u8]) {
    if bytes.len() < INDEX_HEADER {
        return;
    }
    for section in 0..INDEX_SECTIONS {
        if let Some(place) = index_section(bytes, section) {
            put_sum(bytes, place, 40 + 24 * section);
        }
    }
    let length = (bytes.len() as u64).to_le_bytes();
    bytes[INDEX_HEADER - 12..INDEX_HEADER - 4].copy_from_slice(&length);
    put_sum(bytes, 0..INDEX_HEADER - 4, INDEX_HEADER - 4);
}

/// Number of sections of a `.mgd` minimizer set.
const SET_SECTIONS: usize = 256;
/// Bytes of the header before the directory of the sections.
const SET_HEADER: usize = 32;
/// Start of the sections, after the checksum of the directory.
pub const SET_BLOCKS: usize = SET_HEADER + 16 * SET_SECTIONS + 4;
/// Number of minimizers in a block.
const SET_BLOCK: usize = 256;

/// Corrects the checksums of a `.mgd` minimizer set.
pub fn minimizers(bytes: &mut [u8]) {
    if bytes.len() < SET_BLOCKS {
        return;
    }
    let length = bytes.len() as u64;
    bytes[SET_HEADER - 8..SET_HEADER].copy_from_slice(&length.to_le_bytes());
    put_sum(bytes, 0..SET_BLOCKS - 4, SET_BLOCKS - 4);
    let mut start = SET_BLOCKS;
    for section in 0..SET_SECTIONS {
        let at = SET_HEADER + 16 * section;
        let (Some(mut left), Some(length)) = (u64_at(bytes, at), u64_at(bytes, at + 8)) else {
            return;
        };
        let Some(end) = start.checked_add(length).filter(|&end| end <= bytes.len()) else { return };
        let mut at = start;
        while left > 0 && at < end {
            let width = usize::from(bytes[at]);
            let checked = at + 1 + (left.min(SET_BLOCK) * width).div_ceil(8);
            if checked + 4 > end {
                break;
            }
            put_sum(bytes, at..checked, checked);
            left -= left.min(SET_BLOCK);
            at = checked + 4;
        }
        start = end;
    }
}

/// Corrects a file that ends in the checksum of all bytes before: partial results, ranges of `kmers qv` (`.mgq`).
pub fn whole(bytes: &mut [u8]) {
    let end = bytes.len().saturating_sub(4);
    put_sum(bytes, 0..end, end);
}

/// Corrects a dense matrix (`.mgx`), which ends in the checksum of its rows.
pub fn matrix(bytes: &mut [u8]) {
    let end = bytes.len().saturating_sub(4);
    let rows = u64_at(bytes, 8).and_then(|length| length.checked_add(16));
    if let Some(rows) = rows.filter(|&rows| rows <= end) {
        put_sum(bytes, rows..end, end);
    }
}
