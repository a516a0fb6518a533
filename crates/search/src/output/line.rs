//! Lines of hits.

use merganser_io::put_decimal;

use super::Format;
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
    text.extend_from_slice(sequence);
    for number in [hit.alignment.start, hit.alignment.end] {
        text.push(b'\t');
        put_decimal(number as u64, text);
    }
    text.push(b'\t');
    text.extend_from_slice(patterns[hit.pattern].name().as_bytes());
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
