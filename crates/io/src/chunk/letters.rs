//! Binary data in what should be text.

use super::{Chunk, Format, line_at};
use crate::Error;
use crate::beginning::BYTE_ORDER_MARK;

/// Where `line` first has a byte that is no printable ASCII (33 to 126), blank or tab: a sign of
/// binary data. `None` for text, whatever its letters.
#[inline]
pub fn check_letters(line: &[u8]) -> Option<usize> {
    // A sum over the whole line, not a search, so that the compiler makes SIMD of it.
    let bad = line.iter().fold(false, |bad, &byte| bad | is_binary(byte));
    if bad { line.iter().position(|&byte| is_binary(byte)) } else { None }
}

/// Whether a line has only the printable ASCII from `A` on: all letters, and nothing that needs a
/// closer look (blanks, `>`, `@`, gaps, binary data).
#[inline]
pub(super) fn is_plain(line: &[u8]) -> bool {
    // A maximum over the whole line, not a search, so that the compiler makes SIMD of it.
    line.iter().fold(0, |most, &byte| most.max(byte.wrapping_sub(b'A'))) <= b'~' - b'A'
}

/// Whether a line has only qualities, the printable ASCII without the blank.
#[inline]
pub(super) fn are_qualities(line: &[u8]) -> bool {
    line.iter().fold(0, |most, &byte| most.max(byte.wrapping_sub(b'!'))) <= b'~' - b'!'
}

/// Whether a byte separates letters of a sequence and is none: a blank, a tab, or a carriage return,
/// of which some line ends have two.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[inline]
fn is_binary(byte: u8) -> bool {
    // A carriage return within a line is odd, but text.
    (byte < b' ') & (byte != b'\t') & (byte != b'\r') | (byte > b'~')
}

/// How much of the text of each file [`Chunk::parse`] itself looks at.
const BEGINNING: usize = 1 << 16;

impl Chunk {
    /// Looks for signs that a file is not what its first letter promised.
    pub(super) fn check_beginning(&self) -> Result<(), Error> {
        if !self.first {
            return Ok(());
        }
        let text = self.text();
        let header = line_at(text, 0).0.trim_ascii_end();
        if memchr::memchr(b'\r', header).is_some() {
            return Err(Error::MacLineEnds { input: self.name.to_string() });
        }
        self.find_binary(BEGINNING)
    }

    /// Looks at the sequence lines that begin within the first `within` bytes.
    pub(super) fn find_binary(&self, within: usize) -> Result<(), Error> {
        let text = self.text();
        let (mut at, mut number) = (0, 0);
        while at < text.len().min(within) {
            let (line, next) = line_at(text, at);
            let sequence = match self.format {
                Some(Format::Fastq) => number % 4 == 1,
                // A byte order mark is named by the parser.
                _ => {
                    (at == 0 && self.in_line)
                        || !matches!(text[at], b'>' | b';') && !line.starts_with(BYTE_ORDER_MARK)
                }
            };
            if let Some(byte) = check_letters(line).filter(|_| sequence) {
                return Err(Error::Binary {
                    input: self.name.to_string(),
                    line: self.line + number + 1,
                    byte: line[byte],
                });
            }
            at = next;
            number += 1;
        }
        Ok(())
    }
}
