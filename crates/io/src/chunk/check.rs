//! Detection of binary data in text.

use super::letters::check_letters;
use super::{Chunk, line_at};
use crate::Error;
use crate::beginning::BYTE_ORDER_MARK;
use crate::format::Format;

/// The number of bytes at the beginning of each file that [`Chunk::parse`] always checks.
const BEGINNING: usize = 1 << 16;

impl Chunk {
    /// Checks for signs that a file is not in the format that its first letter suggests.
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

    /// Checks the sequence lines that begin within the first `within` bytes.
    pub(super) fn find_binary(&self, within: usize) -> Result<(), Error> {
        let text = self.text();
        let (mut at, mut number) = (0, 0);
        while at < text.len().min(within) {
            let (line, next) = line_at(text, at);
            let sequence = match self.format {
                Some(Format::Fastq) => number % 4 == 1,
                // The parser reports a byte order mark with a better message.
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
