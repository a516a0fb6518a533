//! Lines of hits.

use std::ops::Range;

use merganser_io::put_decimal;

use super::Format;
use crate::letters::complement_letter;
use crate::{Hit, Pattern};

/// The first line of a table of hits.
pub(crate) const HEADER: &[u8] = b"sequence\tstart\tend\tpattern\tedits\tstrand\tcigar\tletters\n";

/// Appends the line of a hit. Starts count from 0, and ends are exclusive. The operations and the letters are those of
/// the text's direction.
pub(crate) fn append(
    format: Format,
    patterns: &[Pattern],
    sequence: &[u8],
    hit: &Hit,
    text: &mut Vec<u8>,
) {
    let name = patterns[hit.pattern].name().as_bytes();
    if format == Format::Fasta {
        let place = hit.alignment.start..hit.alignment.end;
        return put_record(name, sequence, &place, hit.reverse, &hit.letters, text);
    }
    text.extend_from_slice(sequence);
    for number in [hit.alignment.start, hit.alignment.end] {
        text.push(b'\t');
        put_decimal(number as u64, text);
    }
    text.push(b'\t');
    text.extend_from_slice(name);
    text.push(b'\t');
    put_decimal(hit.edits as u64, text);
    text.extend_from_slice(if hit.reverse { b"\t-" } else { b"\t+" });
    if format == Format::Tsv {
        text.push(b'\t');
        for &(operation, length) in &hit.alignment.operations {
            put_decimal(u64::from(length), text);
            text.push(operation.letter() as u8);
        }
        text.push(b'\t');
        text.extend_from_slice(&hit.letters);
    }
    text.push(b'\n');
}

/// Appends a record of FASTA: letters of a sequence, in the direction of the pattern, with their place, from 1.
pub(crate) fn put_record(
    name: &[u8],
    sequence: &[u8],
    place: &Range<usize>,
    reverse: bool,
    letters: &[u8],
    text: &mut Vec<u8>,
) {
    text.extend([b">", name, b" ", sequence, b":"].concat());
    put_decimal(place.start as u64 + 1, text);
    text.push(b'-');
    put_decimal(place.end as u64, text);
    text.extend_from_slice(if reverse { b"(-)\n" } else { b"(+)\n" });
    put_directed(letters, reverse, text);
    text.push(b'\n');
}

/// Appends letters in upper case, or their reverse complement.
pub(crate) fn put_directed(letters: &[u8], reverse: bool, text: &mut Vec<u8>) {
    match reverse {
        true => text.extend(letters.iter().rev().map(|&letter| complement_letter(letter))),
        false => text.extend(letters.iter().map(u8::to_ascii_uppercase)),
    }
}
