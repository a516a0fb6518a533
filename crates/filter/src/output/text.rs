//! Formatting of decisions.

use std::sync::LazyLock;

use merganser_io::put_decimal;

use super::Format;
use crate::{Code, REJECTED, UNDEFINED};

/// The text of some decisions, for each output.
pub(crate) type DecisionText = [Vec<u8>; 2];

/// Appends decisions; `first` is the index of the first pair.
pub(crate) fn append(format: Format, first: u64, decisions: &[Code], texts: &mut DecisionText) {
    match format {
        Format::Tsv => tsv(first, decisions, &mut texts[0]),
        Format::GateKeeper => {
            for &edits in decisions {
                texts[0].extend_from_slice(if edits == REJECTED { b"0\n" } else { b"1\n" });
                signed(edits, &mut texts[1]);
            }
        }
        Format::None => {}
    }
}

/// The length of the longest end of a line in the table, `<TAB>1<TAB>999<NEWLINE>`, in bytes.
const END: usize = 8;

/// The part of a line after the index, with its length.
#[derive(Clone, Copy)]
struct End([u8; END], u8);

impl End {
    fn of(edits: Code) -> End {
        let mut text = Vec::with_capacity(END);
        text.extend_from_slice(if edits == REJECTED { b"\t0\t" } else { b"\t1\t" });
        signed(edits, &mut text);
        let length = text.len() as u8;
        text.resize(END, 0);
        End(text.try_into().unwrap_or_default(), length)
    }
}

/// The ends of lines for small numbers of edits, in ascending order from [`UNDEFINED`] and [`REJECTED`] on.
static ENDS: LazyLock<Vec<End>> = LazyLock::new(|| (UNDEFINED..1000).map(End::of).collect());

/// Appends lines. For speed, the index is incremented in decimal, the rest of a line comes from a table, and
/// both are copied with a fixed length; the next copy overwrites the excess bytes.
fn tsv(first: u64, decisions: &[Code], text: &mut Vec<u8>) {
    let mut index = Index::at(first);
    let ends = &**ENDS;
    for &edits in decisions {
        let at = text.len();
        let known = usize::try_from(i64::from(edits) - i64::from(UNDEFINED)).ok();
        if let Some(End(end, length)) = known.and_then(|known| ends.get(known)) {
            let mut line = [0; DIGITS + END];
            line[..DIGITS].copy_from_slice(&index.digits);
            line[index.length..][..END].copy_from_slice(end);
            text.extend_from_slice(&line);
            text.truncate(at + index.length + usize::from(*length));
        } else {
            text.extend_from_slice(&index.digits[..index.length]);
            text.extend_from_slice(b"\t1\t");
            signed(edits, text);
        }
        index.advance();
    }
}

/// The number of digits of the largest index.
const DIGITS: usize = 20;

/// A decimal number that is incremented.
struct Index {
    digits: [u8; DIGITS],
    length: usize,
}

impl Index {
    fn at(number: u64) -> Index {
        let mut text = Vec::with_capacity(DIGITS);
        put_decimal(number, &mut text);
        let length = text.len();
        text.resize(DIGITS, b'0');
        Index { digits: text.try_into().unwrap_or_default(), length }
    }

    #[inline]
    fn advance(&mut self) {
        for digit in self.digits[..self.length].iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        // The last number with this many digits, such as 99, is followed by 1 and zeros.
        self.digits[0] = b'1';
        self.length = (self.length + 1).min(DIGITS);
    }
}

fn signed(edits: Code, text: &mut Vec<u8>) {
    if edits < 0 {
        text.push(b'-');
    }
    put_decimal(u64::from(edits.unsigned_abs()), text);
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_everybody_does() {
        let decisions: Vec<Code> =
            (0..300).map(|i| [-1, i, -2, 12_345, i * 9, Code::MAX][i as usize % 6]).collect();
        for first in [0, 5, 95, 999_990, 18_446_744_073_709_551_000] {
            let mut texts = DecisionText::default();
            append(Format::Tsv, first, &decisions, &mut texts);
            let line = |(i, edits): (usize, &Code)| {
                format!("{}\t{}\t{edits}\n", first + i as u64, u8::from(*edits != -1))
            };
            let expected: String = decisions.iter().enumerate().map(line).collect();
            assert_eq!(String::from_utf8(texts[0].clone()).unwrap(), expected);
        }
    }

    #[test]
    fn both_formats() {
        let mut texts = DecisionText::default();
        append(Format::Tsv, 9, &[3, -1, -2], &mut texts);
        assert_eq!(texts[0], b"9\t1\t3\n10\t0\t-1\n11\t1\t-2\n");
        let mut texts = DecisionText::default();
        append(Format::GateKeeper, 9, &[3, -1, -2], &mut texts);
        assert_eq!(texts, [b"1\n0\n1\n".to_vec(), b"3\n-1\n-2\n".to_vec()]);
    }
}
