//! The third step, in the order of the text: finds where a chunk ends and the next one begins.

mod remote;

use super::ReaderOptions;
use super::options::{BAM, SAM};
use crate::alignment::{AlignmentHeader, Sniffed, sniff};
use crate::beginning::BYTE_ORDER_MARK;
use crate::chunk::is_blank;
use crate::format::Format;
use crate::shard::Stretch;
use crate::{Chunk, Error, FastaProblem, FileKind, in_stream};
use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};
use std::path::Path;

/// The data that a chunk leaves to the next one.
#[derive(Default)]
pub(super) struct Carry {
    /// The incomplete end of the previous chunk. For FASTQ: an incomplete record. For FASTA: an incomplete header,
    /// or the last bases of a sequence that is cut, followed by a line end if it is cut between lines. For SAM: an
    /// incomplete line. For BAM: an incomplete header or record. Otherwise: text whose format is not known yet.
    bytes: Vec<u8>,
    /// The number of line ends in `bytes`.
    newlines: u64,
    /// The number, from 0, of the line in which `bytes` begins.
    line: u64,
    /// The format; `None` while it is unknown.
    format: Option<Format>,
    /// The number, from 0, of the first line that is not blank.
    first_line: u64,
    /// Whether the position of a byte order mark has been passed.
    marked: bool,
    /// Whether the text continues within a FASTA comment.
    in_comment: bool,
    /// Whether the file began with comments.
    commented: bool,
    /// Whether a chunk with text was returned.
    begun: bool,
    /// The values of these fields of [`Chunk`] for the next chunk.
    resume: bool,
    in_line: bool,
    repeated: usize,
    /// The number of BAM records before `bytes`; `None` within the header.
    records: Option<u64>,
    /// The header lines of SAM so far, if they are kept.
    header: Vec<u8>,
}

impl Carry {
    /// Creates the carry for the beginning of a stretch of a file.
    pub(super) fn before(stretch: &Stretch) -> Carry {
        let repeated = stretch.repeated().unwrap_or_default();
        Carry {
            // The next line continues after them.
            bytes: repeated.to_vec(),
            // A file may begin with blank lines, which are skipped.
            format: (!stretch.begins_file()).then_some(stretch.format()),
            marked: !stretch.begins_file(),
            resume: stretch.repeated().is_some(),
            in_line: !repeated.is_empty(),
            repeated: repeated.len(),
            ..Carry::default()
        }
    }

    /// Whether the file was detected as BAM.
    pub(super) fn is_bam(&self) -> bool {
        self.format == Some(Format::Bam)
    }

    /// Prepends the rest of the previous chunk to `chunk`, whose text has `newlines` line ends, and cuts off the
    /// incomplete end. Returns `false` if no text is left.
    pub(super) fn join(
        &mut self,
        chunk: &mut Chunk,
        mut newlines: u64,
        last: bool,
        options: &ReaderOptions,
    ) -> Result<bool, Error> {
        if self.in_comment && !self.pass_comment(chunk, &mut newlines) && !last {
            return Ok(false);
        }
        if self.format.is_none() {
            chunk.text.prepend(&mut self.bytes);
            newlines += std::mem::take(&mut self.newlines);
            if !self.pass_mark(chunk, last)? {
                self.bytes.extend_from_slice(chunk.text());
                self.newlines = newlines;
                return Ok(false);
            }
            self.pass_beginning(chunk, &mut newlines);
            if chunk.text.start == chunk.text.end {
                return Ok(false);
            }
            self.format = detect(chunk, last).map_err(|error| self.without_header(error))?;
            self.first_line = self.line;
            if self.format.is_none() {
                self.bytes.extend_from_slice(chunk.text());
                self.newlines = newlines;
                return Ok(false);
            }
        }
        chunk.format = self.format;
        let text = match self.format {
            Some(Format::Fastq) => self.join_fastq(chunk, newlines, last),
            Some(Format::Sam) => self.join_sam(chunk, newlines, last, options)?,
            Some(Format::Bam) => self.join_bam(chunk, last, options)?,
            _ => self.join_fasta(chunk, newlines, last, options.overlap),
        };
        self.check_length(chunk, options)?;
        chunk.first = text && !self.begun;
        self.begun |= text;
        Ok(text)
    }

    /// Skips the rest of a comment. Returns `false` if the chunk ends within it.
    fn pass_comment(&mut self, chunk: &mut Chunk, newlines: &mut u64) -> bool {
        let end = memchr(b'\n', chunk.text());
        chunk.text.start = end.map_or(chunk.text.end, |end| chunk.text.start + end + 1);
        self.in_comment = end.is_none();
        self.line += u64::from(end.is_some());
        *newlines -= u64::from(end.is_some());
        end.is_some()
    }

    /// Skips a byte order mark at the beginning of a file. Returns `false` if more text is needed to decide.
    fn pass_mark(&mut self, chunk: &mut Chunk, last: bool) -> Result<bool, Error> {
        if self.marked {
            return Ok(true);
        }
        if !last && chunk.text().len() < BYTE_ORDER_MARK.len() {
            return Ok(false);
        }
        self.marked = true;
        chunk.pass_mark().map(|()| true)
    }

    /// Skips blank lines and comments before the first record.
    fn pass_beginning(&mut self, chunk: &mut Chunk, newlines: &mut u64) {
        loop {
            let text = chunk.text();
            let blank = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let skipped = memchr_iter(b'\n', &text[..blank]).count() as u64;
            self.line += skipped;
            *newlines -= skipped;
            chunk.text.start += blank;
            if chunk.text().first() != Some(&b';') {
                return;
            }
            self.commented = true;
            if !self.pass_comment(chunk, newlines) {
                return;
            }
        }
    }

    /// Converts the error for a file that begins with comments and has no header.
    fn without_header(&self, error: Error) -> Error {
        match error {
            Error::UnknownFormat { input, .. } if self.commented => {
                Error::Fasta { input, line: self.line + 1, problem: FastaProblem::NoHeader }
            }
            error => error,
        }
    }

    /// Checks that the collected data do not exceed their limit. A FASTQ record may be longer than a header.
    pub(super) fn check_length(&self, chunk: &Chunk, options: &ReaderOptions) -> Result<(), Error> {
        let fastq = self.format == Some(Format::Fastq);
        let header = fastq && self.newlines == 0
            || self.format == Some(Format::Fasta) && self.bytes.starts_with(b">") && !self.in_line;
        let (length, input) = (self.bytes.len(), || chunk.name.to_string());
        if header && length > options.max_header() {
            let limit = options.max_header() as u64;
            return Err(Error::LongHeader { input: input(), line: self.line + 1, limit });
        }
        if fastq && length > options.max_record {
            let record = (self.line - self.first_line) / 4 + 1;
            return Err(Error::LongRecord {
                input: input(),
                record,
                limit: options.max_record as u64,
            });
        }
        Ok(())
    }

    fn join_fastq(&mut self, chunk: &mut Chunk, newlines: u64, last: bool) -> bool {
        let total = self.newlines + newlines;
        let open_lines = total % 4;
        if total < 4 && !last {
            // A record larger than a chunk is collected here, which copies each byte once.
            self.bytes.extend_from_slice(chunk.text());
            self.newlines = total;
            return false;
        }
        chunk.text.prepend(&mut self.bytes);
        chunk.line = self.line;
        chunk.record = (self.line - self.first_line) / 4;
        (chunk.resume, chunk.in_line, chunk.repeated) = (false, false, 0);
        if !last {
            let cut = chunk.text.start
                + memrchr_iter(b'\n', chunk.text()).nth(open_lines as usize).map_or(0, |at| at + 1);
            self.bytes.extend_from_slice(&chunk.text.buffer[cut..chunk.text.end]);
            chunk.text.end = cut;
        }
        self.newlines = open_lines;
        self.line += total - open_lines;
        chunk.text.start < chunk.text.end
    }

    /// Cuts SAM between lines. The lines may include those of the header.
    fn join_sam(
        &mut self,
        chunk: &mut Chunk,
        newlines: u64,
        last: bool,
        options: &ReaderOptions,
    ) -> Result<bool, Error> {
        if newlines == 0 && !last {
            self.bytes.extend_from_slice(chunk.text());
            if self.bytes.len() > options.max_record {
                let (input, limit) = (chunk.name.to_string(), options.max_record as u64);
                return Err(Error::LongLine { input, line: self.line + 1, limit });
            }
            return Ok(false);
        }
        chunk.text.prepend(&mut self.bytes);
        (chunk.line, chunk.record) = (self.line, 0);
        let total = std::mem::take(&mut self.newlines) + newlines;
        if !last {
            let mut cut = line_start(chunk.text(), chunk.text_len());
            if options.cuts_between_templates() {
                let whole = last_template(&chunk.text()[..cut]);
                self.newlines = memchr_iter(b'\n', &chunk.text()[whole..cut]).count() as u64;
                cut = whole;
            }
            let cut = chunk.text.start + cut;
            self.bytes.extend_from_slice(&chunk.text.buffer[cut..chunk.text.end]);
            chunk.text.end = cut;
            let limit = options.max_bam_header();
            if self.newlines > 0 && self.bytes.len() > limit {
                let (input, limit) = (chunk.name.to_string(), limit as u64);
                return Err(Error::LongLine { input, line: self.line + 1, limit });
            }
        }
        self.line += total - self.newlines;
        if options.wants_header() {
            self.keep_header(chunk, last, options);
        }
        let alignments = options.alignments(&chunk.name, SAM)?;
        let mut lines = chunk.text().split(|&byte| byte == b'\n');
        if !self.begun && lines.all(|line| alignments.is_sam_header(line)) {
            // So far there is only the header.
            chunk.text.end = chunk.text.start;
        }
        Ok(chunk.text.start < chunk.text.end)
    }

    /// Collects the header lines of SAM.
    fn keep_header(&mut self, chunk: &Chunk, last: bool, options: &ReaderOptions) {
        let mut rest = chunk.text();
        while rest.first().is_some_and(|&byte| matches!(byte, b'@' | b'\r' | b'\n')) {
            let end = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            if rest[0] == b'@' {
                self.header.extend_from_slice(rest[..end].trim_ascii_end());
                self.header.push(b'\n');
            }
            rest = &rest[end..];
        }
        if last || !rest.is_empty() {
            let header = AlignmentHeader::Sam(std::mem::take(&mut self.header));
            let _ = options.keep_alignments.header.set(header);
        }
    }

    /// Cuts BAM between records and removes the header.
    fn join_bam(
        &mut self,
        chunk: &mut Chunk,
        last: bool,
        options: &ReaderOptions,
    ) -> Result<bool, Error> {
        let alignments = options.alignments(&chunk.name, BAM)?;
        chunk.text.prepend(&mut self.bytes);
        let truncated = || Error::Truncated { input: chunk.name.to_string(), compression: "BAM" };
        let before = match self.records {
            Some(records) => records,
            None => match alignments.bam_header(chunk.text()) {
                Some(length) => {
                    if options.wants_header() {
                        let header = AlignmentHeader::Bam(chunk.text()[..length].to_vec());
                        let _ = options.keep_alignments.header.set(header);
                    }
                    chunk.text.start += length;
                    0
                }
                None if last => return Err(truncated()),
                None => {
                    self.bytes.extend_from_slice(chunk.text());
                    let limit = options.max_bam_header();
                    if self.bytes.len() > limit {
                        let (input, limit) = (chunk.name.to_string(), limit as u64);
                        return Err(Error::LongHeader { input, line: 1, limit });
                    }
                    return Ok(false);
                }
            },
        };
        let templates = options.cuts_between_templates() && !last;
        let (whole, records) =
            alignments.whole_bam(chunk.text(), templates).map_err(|number| Error::Alignment {
                input: chunk.name.to_string(),
                place: format!("record {}", before + number + 1),
                problem: "its size is invalid: is the file damaged?".into(),
            })?;
        let cut = chunk.text.start + whole;
        if last && cut < chunk.text.end {
            return Err(truncated());
        }
        self.bytes.extend_from_slice(&chunk.text.buffer[cut..chunk.text.end]);
        let collected = if templates { self.bytes.len() } else { 0 };
        if alignments.bam_record_size(&self.bytes).max(collected) > options.max_record {
            let (input, record) = (chunk.name.to_string(), before + records + 1);
            return Err(Error::LongRecord { input, record, limit: options.max_record as u64 });
        }
        chunk.text.end = cut;
        (chunk.line, chunk.record) = (0, before);
        self.records = Some(before + records);
        Ok(records > 0)
    }

    fn join_fasta(&mut self, chunk: &mut Chunk, newlines: u64, last: bool, overlap: usize) -> bool {
        chunk.text.prepend(&mut self.bytes);
        chunk.line = self.line;
        (chunk.resume, chunk.in_line, chunk.repeated) = (self.resume, self.in_line, self.repeated);
        self.line += self.newlines + newlines;
        self.newlines = 0;
        if last {
            return chunk.text.start < chunk.text.end;
        }
        let text = chunk.text();
        let lines = FastaLines::of(chunk);
        let tail = line_start(text, text.len());
        let cut = if lines.is_header(tail) {
            // A header is never cut: its known part goes to the next chunk.
            self.bytes.extend_from_slice(&text[tail..]);
            (self.resume, self.in_line, self.repeated) = (false, false, 0);
            tail
        } else {
            self.in_comment = lines.is_comment(tail);
            let cut = if self.in_comment { tail } else { text.len() };
            lines.last_bases((tail, cut), overlap, &mut self.bytes);
            let continued = tail == 0 && lines.in_line;
            self.cut_sequence(cut == tail && !continued);
            cut
        };
        chunk.text.end = chunk.text.start + cut;
        cut > 0
    }

    /// Cuts within a sequence, whose last bases are in `bytes`.
    fn cut_sequence(&mut self, between_lines: bool) {
        self.repeated = self.bytes.len();
        self.resume = true;
        self.in_line = self.repeated > 0 || !between_lines;
        if self.repeated > 0 && between_lines {
            self.bytes.push(b'\n');
            self.newlines = 1;
            self.line -= 1;
        }
    }
}

/// Returns the start of the last lines of SAM that have one name. Header lines count as a template.
fn last_template(lines: &[u8]) -> usize {
    let name = |line: &[u8]| memchr(b'\t', line).map_or(line.len(), |end| end);
    let mut start = lines.len();
    let mut last: &[u8] = &[];
    while start > 0 {
        let before = line_start(lines, start - 1);
        let line = &lines[before..start];
        let this = &line[..name(line)];
        if start < lines.len() && this != last {
            break;
        }
        (start, last) = (before, this);
    }
    start
}

/// Lines of FASTA, to look at the end of a sequence.
struct FastaLines<'t> {
    text: &'t [u8],
    /// Whether the text begins within a line of sequence.
    in_line: bool,
}

impl<'t> FastaLines<'t> {
    fn of(chunk: &'t Chunk) -> FastaLines<'t> {
        FastaLines { text: chunk.text(), in_line: chunk.resume && chunk.in_line }
    }

    /// Whether a header begins at `start`.
    fn is_header(&self, start: usize) -> bool {
        self.begins(start, b'>')
    }

    /// Whether a comment begins at `start`.
    fn is_comment(&self, start: usize) -> bool {
        self.begins(start, b';')
    }

    fn begins(&self, start: usize, letter: u8) -> bool {
        self.text.get(start) == Some(&letter) && !(start == 0 && self.in_line)
    }

    /// Collects the last bases before `cut` of the sequence whose last line begins at `tail`, without blanks and
    /// comments: at most `wanted` bases, or fewer if its header or the start of the text comes first. Returns the
    /// start of the first line that was looked at.
    fn last_bases(&self, (tail, cut): (usize, usize), wanted: usize, bases: &mut Vec<u8>) -> usize {
        let (mut start, mut line) = (tail, &self.text[tail..cut]);
        loop {
            let missing = wanted - bases.len();
            if !self.is_comment(start) {
                bases.extend(line.iter().rev().filter(|byte| !is_blank(**byte)).take(missing));
            }
            if start == 0 || bases.len() == wanted {
                break;
            }
            let end = start - 1;
            let before = line_start(self.text, end);
            if self.is_header(before) {
                break;
            }
            (start, line) = (before, &self.text[before..end]);
        }
        bases.reverse();
        start
    }
}

/// Returns the start of the line that contains the byte before `end`.
fn line_start(text: &[u8], end: usize) -> usize {
    memrchr(b'\n', &text[..end]).map_or(0, |at| at + 1)
}

/// The number of bytes without a line feed from which on a carriage return ends a line.
const LONGEST_FIRST_LINE: usize = 1 << 16;

/// Detects the format of a file from its first text; `None` if more text is needed.
fn detect(chunk: &Chunk, last: bool) -> Result<Option<Format>, Error> {
    let text = chunk.text();
    let input = chunk.name.to_string();
    let alignments = sniff(text);
    if alignments == Sniffed::Bam {
        return Ok(Some(Format::Bam));
    }
    let may_be_text = matches!(text, [b'>' | b'@', ..]) || FileKind::of_bytes(text).is_none();
    if may_be_text && memchr(b'\n', text).is_none() && text.trim_ascii_end().contains(&b'\r') {
        // Whatever the size of chunks, as much text decides. A longer line must not be collected up to its end first.
        return match last || text.len() >= LONGEST_FIRST_LINE {
            true => Err(Error::MacLineEnds { input }),
            false => Ok(None),
        };
    }
    match (alignments, text) {
        (Sniffed::Sam, _) => Ok(Some(Format::Sam)),
        (Sniffed::Short, _) if !last => Ok(None),
        (_, [b'>', ..]) => Ok(Some(Format::Fasta)),
        (_, [b'@', ..]) => Ok(Some(Format::Fastq)),
        (_, [byte, ..]) => {
            if let Some(reason) = in_stream(Path::new(&input), text) {
                return Err(Error::Open { input, reason });
            }
            let kind = FileKind::of_bytes(text);
            Err(Error::UnknownFormat { input, kind, byte: *byte })
        }
        (_, []) => Ok(None),
    }
}
