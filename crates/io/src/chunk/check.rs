//! Looking for binary data in what should be text.

use super::letters::check_letters;
use super::{Chunk, line_at};
use crate::Error;
use crate::beginning::BYTE_ORDER_MARK;
use crate::format::Format;

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
