//! Parsing of FASTA: headers, each with any number of sequence lines. Blanks, tabs and carriage returns anywhere in
//! sequence lines are skipped, and lines that begin with `;` are comments.

use super::letters::{check_letters, is_blank, is_plain};
use super::{Chunk, ChunkStats, Sink, line_at, name_on};
use crate::beginning::BYTE_ORDER_MARK;
use crate::{Error, FastaProblem};

/// Passes a line that contains only letters to `sink` and returns their number.
#[inline]
fn plain<S: Sink>(line: &[u8], sink: &mut S) -> usize {
    if !line.is_empty() {
        sink.sequence(line, None);
    }
    line.len()
}

impl Chunk {
    pub(super) fn parse_fasta<S: Sink>(&self, sink: &mut S) -> Result<ChunkStats, Error> {
        let text = self.text();
        let mut letters = 0;
        let mut records = 0;
        let mut open = self.resume;
        let mut at = 0;
        if self.resume {
            sink.resume();
            sink.repeated(self.repeated);
            if self.in_line {
                let (line, next) = line_at(text, 0);
                letters += match is_plain(line) {
                    true => plain(line, sink),
                    false => self.pieces(line, 0, sink)?,
                };
                at = next;
            }
        }
        while at < text.len() {
            let (line, next) = line_at(text, at);
            if text[at] == b'>' {
                if open {
                    sink.end();
                }
                open = true;
                records += 1;
                sink.begin(name_on(&line[1..]));
            } else if is_plain(line) {
                letters += plain(line, sink);
            } else if line[0] != b';' {
                self.check_line(line, at)?;
                letters += self.pieces(line, at, sink)?;
            }
            at = next;
        }
        if open {
            sink.end();
        }
        Ok(ChunkStats { records, bases: (letters - self.repeated) as u64 })
    }

    /// Checks that a line does not begin with a byte that no sequence line can begin with.
    #[cold]
    fn check_line(&self, line: &[u8], at: usize) -> Result<(), Error> {
        if line.starts_with(BYTE_ORDER_MARK) {
            return Err(self.fasta_error(at, FastaProblem::ByteOrderMark));
        }
        match line[0] {
            byte @ (b'@' | b'+') => Err(self.fasta_error(at, FastaProblem::Fastq(byte))),
            _ if line.trim_ascii_start().first() == Some(&b'>') => {
                Err(self.fasta_error(at, FastaProblem::Indented))
            }
            _ => Ok(()),
        }
    }

    /// Passes the parts of a line between blanks to `sink` and returns the number of their letters.
    #[cold]
    #[inline(never)]
    fn pieces<S: Sink>(&self, line: &[u8], at: usize, sink: &mut S) -> Result<usize, Error> {
        if let Some(binary) = check_letters(line) {
            let (input, line_number) = (self.name.to_string(), self.line_number(at));
            return Err(Error::Binary { input, line: line_number, byte: line[binary] });
        }
        if let Some(found) = memchr::memchr2(b'>', b'@', line) {
            return Err(self.fasta_error(at, FastaProblem::Joined(line[found])));
        }
        let mut letters = 0;
        for piece in line.split(|&byte| is_blank(byte)).filter(|piece| !piece.is_empty()) {
            letters += piece.len();
            sink.sequence(piece, None);
        }
        Ok(letters)
    }

    #[cold]
    fn fasta_error(&self, at: usize, problem: FastaProblem) -> Error {
        Error::Fasta { input: self.name.to_string(), line: self.line_number(at), problem }
    }

    /// Returns the number in the file, from 1, of the line that begins at `at`.
    fn line_number(&self, at: usize) -> u64 {
        self.line + memchr::memchr_iter(b'\n', &self.text()[..at]).count() as u64 + 1
    }
}
