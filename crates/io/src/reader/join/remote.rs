//! Joining of chunks whose text is on a device: as on the host, but only the end of the text is looked at.

use super::{Carry, FastaLines, line_start};
use crate::Chunk;
use crate::format::Format;
use crate::reader::ReaderOptions;
use merganser_inflate::RemoteText;

/// The number of bytes at the end of a text that are looked at first, beside those that are wanted.
const USUAL_END: usize = 1 << 10;

impl Carry {
    /// Joins as [`join`](Carry::join) does. Returns `false`, with nothing changed, if the host must do it: at the
    /// beginning of a file, and where a record is unusually long.
    pub(in crate::reader) fn join_remote<R: RemoteText>(
        &mut self,
        chunk: &mut Chunk,
        text: &mut R,
        (newlines, last): (u64, bool),
        options: &ReaderOptions,
    ) -> Result<bool, R::Error> {
        let has_room = self.bytes.len() <= text.room().headroom && !text.is_empty();
        if !self.begun || self.in_comment || !has_room {
            return Ok(false);
        }
        let joined = match self.format {
            Some(Format::Fastq) => self.join_remote_fastq(chunk, text, (newlines, last))?,
            Some(Format::Fasta) => {
                self.join_remote_fasta(chunk, text, (newlines, last), options.overlap)?
            }
            _ => false,
        };
        (chunk.format, chunk.first) = (self.format, false);
        Ok(joined)
    }

    fn join_remote_fastq<R: RemoteText>(
        &mut self,
        chunk: &mut Chunk,
        text: &mut R,
        (newlines, last): (u64, bool),
    ) -> Result<bool, R::Error> {
        let is_open = last && text.read(text.len() - 1..text.len())? != b"\n";
        let total = self.newlines + newlines + u64::from(is_open);
        let open_lines = total % 4;
        let mut rest = Vec::new();
        if last {
            // Blank lines may follow the last record.
            if open_lines != 0 {
                return Ok(false);
            }
            if is_open {
                text.end_line()?;
            }
        } else {
            let end = if total < 4 { None } else { text.line_end(open_lines as usize)? };
            let Some(end) = end else { return Ok(false) };
            rest = text.read(end + 1..text.len())?;
            text.truncate(end + 1);
        }
        chunk.line = self.line;
        chunk.record = (self.line - self.first_line) / 4;
        (chunk.resume, chunk.in_line, chunk.repeated) = (false, false, 0);
        text.prepend(&self.bytes)?;
        (self.bytes, self.newlines) = (rest, open_lines);
        self.line += total - open_lines;
        Ok(true)
    }

    fn join_remote_fasta<R: RemoteText>(
        &mut self,
        chunk: &mut Chunk,
        text: &mut R,
        (newlines, last): (u64, bool),
        overlap: usize,
    ) -> Result<bool, R::Error> {
        let line = self.line + self.newlines + newlines;
        let mut next = Carry { resume: self.resume, line, ..Carry::default() };
        let mut cut = text.len();
        if !last {
            let Some(tail) = self.last_line(text)? else { return Ok(false) };
            let first = text.read(tail..text.len().min(tail + 1))?;
            let continues = tail == 0 && !self.bytes.ends_with(b"\n") && self.in_line;
            if first == b">" && !continues {
                next.bytes = text.read(tail..text.len())?;
                next.resume = false;
                cut = tail;
            } else {
                next.in_comment = first == b";" && !continues;
                cut = if next.in_comment { tail } else { cut };
                next.bytes = self.remote_bases(text, (tail, cut), overlap)?;
                next.cut_sequence(cut == tail && !continues);
            }
            if cut == 0 {
                return Ok(false);
            }
        }
        chunk.line = self.line;
        (chunk.resume, chunk.in_line, chunk.repeated) = (self.resume, self.in_line, self.repeated);
        text.truncate(cut);
        text.prepend(&self.bytes)?;
        // The consumer looks at the repeated bases.
        chunk.text.buffer.clone_from(&self.bytes);
        (chunk.text.start, chunk.text.end) = (0, self.bytes.len());
        (self.bytes, self.newlines, self.line) = (next.bytes, next.newlines, next.line);
        (self.resume, self.in_line, self.repeated) = (next.resume, next.in_line, next.repeated);
        self.in_comment = next.in_comment;
        Ok(true)
    }

    /// Returns the start of the last line of a text of FASTA, 0 if it began before the text; `None` if it is unknown
    /// whether that is sequence.
    fn last_line<R: RemoteText>(&self, text: &mut R) -> Result<Option<usize>, R::Error> {
        if let Some(end) = text.line_end(0)? {
            return Ok(Some(end + 1));
        }
        let is_header = !self.bytes.is_empty() && !self.bytes.ends_with(b"\n") && !self.in_line;
        Ok((!is_header).then_some(0))
    }

    /// Returns the last bases before `cut` of the sequence whose last line begins at `tail`.
    fn remote_bases<R: RemoteText>(
        &self,
        text: &mut R,
        (tail, cut): (usize, usize),
        wanted: usize,
    ) -> Result<Vec<u8>, R::Error> {
        let mut looked_at = 4 * wanted + USUAL_END;
        loop {
            let from = cut.saturating_sub(looked_at);
            let (mut seen, mut bases) = (text.read(from..cut)?, Vec::new());
            if from == 0 {
                let before = self.bytes.len();
                seen.splice(0..0, self.bytes.iter().copied());
                let lines = FastaLines { text: &seen, in_line: self.resume && self.in_line };
                // The line may have begun in the bytes before.
                let tail = if tail == 0 { line_start(&self.bytes, before) } else { before + tail };
                lines.last_bases((tail, before + cut), wanted, &mut bases);
                return Ok(bases);
            }
            let lines = FastaLines { text: &seen, in_line: true };
            let first =
                lines.last_bases((tail.saturating_sub(from), cut - from), wanted, &mut bases);
            // The kind of the line at the start is known only if it is the last one.
            if first > 0 || (bases.len() == wanted && tail <= from) {
                return Ok(bases);
            }
            looked_at *= 16;
        }
    }
}
