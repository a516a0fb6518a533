//! Writes records in the format of SAM.

use merganser_io::put_decimal;
use merganser_seq::base::{UPPER, UPPER_COMPLEMENT};

use super::{Record, RecordPlace, RecordStyle, flag};
use crate::Operation;

pub(super) fn write(style: &RecordStyle, record: &Record<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(if record.name.is_empty() { b"*" } else { record.name });
    out.push(b'\t');
    put_decimal(u64::from(record.flags), out);
    out.push(b'\t');
    match record.place {
        Some(place) => {
            out.extend_from_slice(style.names[place.contig as usize].as_bytes());
            out.push(b'\t');
            put_decimal(u64::from(place.at) + 1, out);
        }
        None => out.extend_from_slice(b"*\t0"),
    }
    out.push(b'\t');
    put_decimal(u64::from(record.quality), out);
    out.push(b'\t');
    if record.operations.is_empty() {
        out.push(b'*');
    }
    cigar(style, record.operations, out);
    mate(style, record, out);
    letters(record, out);
    if let Some(tags) = record.hit {
        out.extend_from_slice(b"\tNM:i:");
        put_decimal(u64::from(tags.edits), out);
        out.extend_from_slice(b"\tMD:Z:");
        out.extend_from_slice(tags.md);
        out.extend_from_slice(b"\tNH:i:");
        put_decimal(u64::from(tags.hits), out);
        out.extend_from_slice(b"\tHI:i:");
        put_decimal(u64::from(tags.number), out);
        if !tags.others.is_empty() {
            out.extend_from_slice(b"\tXA:Z:");
            out.extend_from_slice(tags.others);
        }
        if !tags.parts.is_empty() {
            out.extend_from_slice(b"\tSA:Z:");
            out.extend_from_slice(tags.parts);
        }
    }
    if let Some(tags) = record.mate_tags {
        if let Some(quality) = tags.quality {
            out.extend_from_slice(b"\tMQ:i:");
            put_decimal(u64::from(quality), out);
        }
        if !tags.cigar.is_empty() {
            out.extend_from_slice(b"\tMC:Z:");
            out.extend_from_slice(tags.cigar);
        }
        out.extend_from_slice(b"\tms:i:");
        put_decimal(u64::from(tags.score), out);
    }
    if let Some(group) = &style.group {
        out.extend_from_slice(b"\tRG:Z:");
        out.extend_from_slice(group.as_bytes());
    }
    out.extend_from_slice(record.read_tags);
    out.push(b'\n');
}

/// Appends a CIGAR.
pub(super) fn cigar(style: &RecordStyle, operations: &[(Operation, u32)], out: &mut Vec<u8>) {
    style.cigar(operations, |operation, len| {
        put_decimal(u64::from(len), out);
        out.push(operation.letter() as u8);
    });
}

fn mate(style: &RecordStyle, record: &Record<'_>, out: &mut Vec<u8>) {
    let Some(RecordPlace { contig, at }) = record.mate else {
        out.extend_from_slice(b"\t*\t0\t0\t");
        return;
    };
    out.push(b'\t');
    match record.place {
        Some(place) if place.contig == contig => out.push(b'='),
        _ => out.extend_from_slice(style.names[contig as usize].as_bytes()),
    }
    out.push(b'\t');
    put_decimal(u64::from(at) + 1, out);
    out.push(b'\t');
    if record.template < 0 {
        out.push(b'-');
    }
    put_decimal(record.template.unsigned_abs(), out);
    out.push(b'\t');
}

fn letters(record: &Record<'_>, out: &mut Vec<u8>) {
    let Some([letters, qualities]) = record.letters.filter(|[letters, _]| !letters.is_empty())
    else {
        out.extend_from_slice(b"*\t*");
        return;
    };
    let reverse = record.flags & flag::REVERSE != 0;
    if reverse {
        out.extend(letters.iter().rev().map(|&letter| UPPER_COMPLEMENT[usize::from(letter)]));
    } else {
        out.extend(letters.iter().map(|&letter| UPPER[usize::from(letter)]));
    }
    out.push(b'\t');
    match (qualities.is_empty(), reverse) {
        (true, _) => out.push(b'*'),
        (false, true) => out.extend(qualities.iter().rev()),
        (false, false) => out.extend_from_slice(qualities),
    }
}
