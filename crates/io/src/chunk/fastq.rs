//! Parsing of FASTQ, strictly with four lines per record.

use super::letters::{are_qualities, check_letters, is_blank, is_plain};
use super::{Chunk, ChunkStats, Sink, line_at, name_on};
use crate::phred::{Sample, to_33};
use crate::{Error, FastqProblem, Phred, QualityOffset};

impl Chunk {
    pub(super) fn parse_fastq<S: Sink>(&self, sink: &mut S) -> Result<ChunkStats, Error> {
        let text = self.text();
        let mut stats = ChunkStats::default();
        let mut at = 0;
        let mut qualities = Qualities::of(self);
        let uses_qualities = sink.uses_qualities();
        // Lines are counted in groups of four, because the reader cuts chunks after every fourth line.
        let mut groups = 0;
        while at < text.len() {
            let record = match Record::at(text, at, uses_qualities) {
                Ok(Some(record)) => record,
                // A group of empty lines, which may end a file.
                Ok(None) => {
                    groups += 1;
                    at = blank_group_end(text, at);
                    continue;
                }
                Err((line, problem)) => return Err(self.fastq_error(groups, line, problem)),
            };
            let quality = qualities.next(record.quality);
            let quality = quality.map_err(|problem| self.fastq_error(groups, 4, problem))?;
            sink.begin(record.header);
            sink.sequence(record.sequence, Some(quality));
            sink.end();
            stats.records += 1;
            stats.bases += record.sequence.len() as u64;
            groups += 1;
            at = record.next;
        }
        qualities.warn(self);
        Ok(stats)
    }

    #[cold]
    fn fastq_error(&self, groups: u64, line: u64, problem: FastqProblem) -> Error {
        Error::Fastq {
            input: self.name.to_string(),
            record: self.record + groups + 1,
            line: self.line + 4 * groups + line,
            problem,
        }
    }
}

/// Checks and conversion of qualities before they are passed to a sink.
struct Qualities {
    /// A sample of the qualities at the beginning of a file, if their encoding is to be checked.
    sample: Option<Sample>,
    /// The buffer for qualities converted from Phred+64.
    converted: Option<Vec<u8>>,
}

impl Qualities {
    fn of(chunk: &Chunk) -> Qualities {
        let Phred { offset, least } = chunk.phred;
        let is_64 = offset == QualityOffset::Phred64;
        let is_looked_at = chunk.first && least.is_some() && !is_64;
        Qualities {
            sample: (is_looked_at && !chunk.of_alignments).then(Sample::new),
            converted: (is_64 && !chunk.of_alignments).then(Vec::new),
        }
    }

    #[inline]
    fn next<'q>(&'q mut self, quality: &'q [u8]) -> Result<&'q [u8], FastqProblem> {
        if let Some(sample) = &mut self.sample {
            sample.add(quality);
        }
        let Some(converted) = &mut self.converted else { return Ok(quality) };
        to_33(quality, converted).map_err(FastqProblem::NotPhred64)?;
        Ok(converted)
    }

    fn warn(&self, chunk: &Chunk) {
        if let (Some(sample), Some(least)) = (&self.sample, chunk.phred.least) {
            sample.warn(&chunk.name, least, &chunk.warnings);
        }
    }
}

struct Record<'a> {
    header: &'a [u8],
    sequence: &'a [u8],
    quality: &'a [u8],
    /// The start of the next record.
    next: usize,
}

/// The line of the record, from 1, and its problem.
type Problem = (u64, FastqProblem);

impl<'a> Record<'a> {
    /// Parses the record that begins at `start`; `None` if there are only empty lines, up to four. Qualities are
    /// checked only if they are used.
    #[inline]
    fn at(text: &'a [u8], start: usize, uses_qualities: bool) -> Result<Option<Self>, Problem> {
        let (header, at) = line_at(text, start);
        let Some((b'@', header)) = header.split_first() else {
            return no_header(text, start).map(|()| None);
        };
        if at == text.len() {
            return Err((1, FastqProblem::Truncated));
        }
        let (sequence, at) = line_at(text, at);
        let (separator, at) = separator_at(text, at);
        if separator.first() != Some(&b'+') {
            return Err(no_separator(text, separator, at));
        }
        let (quality, next) = line_at(text, at);
        let header = name_on(header);
        let record = Self { header, sequence, quality, next };
        let is_whole = quality.len() == sequence.len() && is_plain(sequence);
        if is_whole && (!uses_qualities || are_qualities(quality)) {
            return Ok(Some(record));
        }
        record.without_blanks(text, at, uses_qualities).map(Some)
    }

    /// Removes blanks around the sequence, and blanks at the end of the quality if it is longer than the sequence.
    /// The quality line begins at `at`.
    #[cold]
    fn without_blanks(self, text: &[u8], at: usize, uses_qualities: bool) -> Result<Self, Problem> {
        let sequence = trimmed(self.sequence);
        if let Some(found) = check_letters(sequence) {
            return Err((2, FastqProblem::Binary(sequence[found])));
        }
        let other = |byte: u8| is_blank(byte) || matches!(byte, b'>' | b'@');
        if let Some(&byte) = sequence.iter().find(|byte| other(**byte)) {
            return Err((2, FastqProblem::Letter(byte)));
        }
        let quality = match self.quality.len() == sequence.len() {
            true => self.quality,
            false => trimmed_end(self.quality),
        };
        if quality.len() != sequence.len() {
            return Err(lengths(text, at, self.next, sequence.len(), quality));
        }
        match quality.iter().find(|byte| !byte.is_ascii_graphic()) {
            Some(&byte) if uses_qualities => Err((4, FastqProblem::Quality(byte))),
            _ => Ok(Self { sequence, quality, ..self }),
        }
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    let start = line.iter().take_while(|byte| is_blank(**byte)).count();
    trimmed_end(&line[start..])
}

fn trimmed_end(line: &[u8]) -> &[u8] {
    let blanks = line.iter().rev().take_while(|byte| is_blank(**byte)).count();
    &line[..line.len() - blanks]
}

/// Returns the third line of a record and the start of the next line. The line is nearly always a single plus,
/// which is recognized without a search.
#[inline]
fn separator_at(text: &[u8], start: usize) -> (&[u8], usize) {
    match text[start..] {
        [b'+', b'\n', ..] => (&text[start..=start], start + 2),
        _ => line_at(text, start),
    }
}

/// Returns the end of the group of four empty lines that begins at `start`.
fn blank_group_end(text: &[u8], start: usize) -> usize {
    (0..4).fold(start, |at, _| if at < text.len() { line_at(text, at).1 } else { at })
}

/// Explains why the line at `start` does not begin a record; succeeds if it and the three lines after it are empty.
#[cold]
fn no_header(text: &[u8], start: usize) -> Result<(), Problem> {
    let (header, mut at) = line_at(text, start);
    if let Some(&byte) = header.first().filter(|_| !trimmed(header).is_empty()) {
        return Err((1, FastqProblem::Header(byte)));
    }
    for _ in 0..3 {
        if at < text.len() {
            let (line, next) = line_at(text, at);
            if !trimmed(line).is_empty() {
                return Err((1, FastqProblem::Blank));
            }
            at = next;
        }
    }
    Ok(())
}

#[cold]
fn no_separator(text: &[u8], separator: &[u8], next: usize) -> Problem {
    if separator.is_empty() && next == text.len() {
        return (3, FastqProblem::Truncated);
    }
    // If the sequence is wrapped, the line with the plus comes before the next record.
    let mut at = next;
    while at < text.len() {
        match text[at] {
            b'+' => return (3, FastqProblem::MultiLine),
            b'@' => break,
            _ => at = line_at(text, at).1,
        }
    }
    (3, FastqProblem::Separator(separator.first().copied()))
}

#[cold]
fn lengths(text: &[u8], at: usize, next: usize, sequence: usize, quality: &[u8]) -> Problem {
    let behind = quality.get(sequence).copied();
    let quality = quality.len();
    // A short quality without a line end: the file was cut here.
    let unfinished = next == text.len() && text.last() != Some(&b'\n');
    if at == text.len() || (quality < sequence && unfinished) {
        return (4, FastqProblem::Truncated);
    }
    if matches!(behind, Some(b'@' | b'>')) {
        return (4, FastqProblem::Joined { sequence, quality });
    }
    (4, FastqProblem::Lengths { sequence, quality })
}
