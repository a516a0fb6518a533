//! Writes records in the format of BAM (SAM specification, section 4.2).

use merganser_seq::base::COMPLEMENT;

use super::{Record, RecordPlace, RecordStyle, flag};
use crate::Operation;

/// The maximum number of operations of a CIGAR (SAM specification, section 4.2.2).
pub const MAX_OPERATIONS: usize = u16::MAX as usize;

/// Returns the header: magic number, header text, contigs.
pub(crate) fn bam_header<'c>(
    text: &[u8],
    contigs: impl ExactSizeIterator<Item = (&'c [u8], u32)>,
) -> Vec<u8> {
    let mut out = b"BAM\x01".to_vec();
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
    out.extend_from_slice(&(contigs.len() as u32).to_le_bytes());
    for (name, len) in contigs {
        out.extend_from_slice(&(name.len() as u32 + 1).to_le_bytes());
        out.extend_from_slice(name);
        out.push(0);
        out.extend_from_slice(&len.to_le_bytes());
    }
    out
}

pub(super) fn write(style: &RecordStyle, record: &Record<'_>, out: &mut Vec<u8>) {
    let begin = out.len();
    let name: &[u8] = if record.name.is_empty() { b"*" } else { record.name };
    let [letters, qualities] = record.letters.unwrap_or_default();
    let (contig, at) = numbers(record.place);
    let (mate_contig, mate_at) = numbers(record.mate);
    let mut operations = 0u16;
    style.cigar(record.operations, |_, _| operations += 1);
    out.extend_from_slice(&[0; 4]);
    for number in [contig, at] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.push(name.len() as u8 + 1);
    out.push(record.quality);
    let bin = bin(at, record.operations);
    for number in [bin, operations, record.flags] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&(letters.len() as u32).to_le_bytes());
    for number in [mate_contig, mate_at, record.template as i32] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(name);
    out.push(0);
    style.cigar(record.operations, |operation, len| {
        out.extend_from_slice(&(len << 4 | operation as u32).to_le_bytes());
    });
    sequence(letters, qualities, record.flags & flag::REVERSE != 0, out);
    tags(style, record, out);
    out.extend_from_slice(record.read_tags);
    let len = (out.len() - begin - 4) as u32;
    out[begin..begin + 4].copy_from_slice(&len.to_le_bytes());
}

fn numbers(place: Option<RecordPlace>) -> (i32, i32) {
    place.map_or((-1, -1), |place| (place.contig as i32, place.at as i32))
}

/// Returns the bin of an alignment in a BAI index.
fn bin(at: i32, operations: &[(Operation, u32)]) -> u16 {
    let bases: u32 = operations.iter().map(|&(operation, len)| operation.in_reference(len)).sum();
    let (first, last) = (i64::from(at), i64::from(at) + i64::from(bases.max(1)) - 1);
    for (shift, offset) in [(14, 4681), (17, 585), (20, 73), (23, 9), (26, 1)] {
        if first >> shift == last >> shift {
            return (offset + (first >> shift)) as u16;
        }
    }
    0
}

/// The 4-bit number of each letter: one bit for each base that the letter can stand for.
const NUMBERS: [u8; 256] = {
    let letters = b"=ACMGRSVTWYHKDBN";
    let mut table = [15; 256];
    let mut at = 0;
    while at < letters.len() {
        table[letters[at] as usize] = at as u8;
        table[letters[at].to_ascii_lowercase() as usize] = at as u8;
        at += 1;
    }
    table[b'U' as usize] = 8;
    table[b'u' as usize] = 8;
    table
};

/// The number of each letter's complement.
const COMPLEMENTS: [u8; 256] = {
    let mut table = [15; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = NUMBERS[COMPLEMENT[byte] as usize];
        byte += 1;
    }
    table
};

fn sequence(letters: &[u8], qualities: &[u8], reverse: bool, out: &mut Vec<u8>) {
    if reverse {
        let number = |letter: &u8| COMPLEMENTS[usize::from(*letter)];
        let pairs = letters.rchunks(2);
        out.extend(pairs.map(|pair| number(&pair[pair.len() - 1]) << 4 | other(pair, number)));
    } else {
        let number = |letter: &u8| NUMBERS[usize::from(*letter)];
        out.extend(
            letters.chunks(2).map(|pair| number(&pair[0]) << 4 | pair.get(1).map_or(0, number)),
        );
    }
    match (qualities.is_empty(), reverse) {
        (true, _) => out.resize(out.len() + letters.len(), 0xff),
        (false, true) => {
            out.extend(qualities.iter().rev().map(|quality| quality.saturating_sub(33)))
        }
        (false, false) => out.extend(qualities.iter().map(|quality| quality.saturating_sub(33))),
    }
}

/// Returns the number of the second letter of a pair that is read backwards; 0 if there is only one.
fn other(pair: &[u8], number: impl Fn(&u8) -> u8) -> u8 {
    if pair.len() == 2 { number(&pair[0]) } else { 0 }
}

fn tags(style: &RecordStyle, record: &Record<'_>, out: &mut Vec<u8>) {
    if let Some(tags) = record.hit {
        number(b"NM", tags.edits, out);
        out.extend_from_slice(b"MDZ");
        out.extend_from_slice(tags.md);
        out.push(0);
        number(b"NH", tags.hits, out);
        number(b"HI", tags.number, out);
        if !tags.others.is_empty() {
            out.extend_from_slice(b"XAZ");
            out.extend_from_slice(tags.others);
            out.push(0);
        }
        if !tags.parts.is_empty() {
            out.extend_from_slice(b"SAZ");
            out.extend_from_slice(tags.parts);
            out.push(0);
        }
    }
    if let Some(tags) = record.mate_tags {
        if let Some(quality) = tags.quality {
            number(b"MQ", quality.into(), out);
        }
        if !tags.cigar.is_empty() {
            out.extend_from_slice(b"MCZ");
            out.extend_from_slice(tags.cigar);
            out.push(0);
        }
        number(b"ms", tags.score, out);
    }
    if let Some(group) = &style.group {
        out.extend_from_slice(b"RGZ");
        out.extend_from_slice(group.as_bytes());
        out.push(0);
    }
}

/// Appends a tag with a number of the smallest unsigned type that can hold it.
fn number(tag: &[u8; 2], value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(tag);
    if let Ok(value) = u8::try_from(value) {
        out.extend_from_slice(&[b'C', value]);
    } else if let Ok(value) = u16::try_from(value) {
        out.push(b'S');
        out.extend_from_slice(&value.to_le_bytes());
    } else {
        out.push(b'I');
        out.extend_from_slice(&value.to_le_bytes());
    }
}
