//! Pairs of one file: `READ<TAB>SEGMENT` lines, or the WFA tools' `>READ` and `<SEGMENT` lines.

use std::sync::Arc;

use merganser_io::{Input, ReaderOptions, TextReader};

use crate::error::shown;
use crate::{Error, PairBatch};

/// How the pairs of a file are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Layout {
    /// A pair a line: read, tabulator, segment, and what may follow after another tabulator.
    #[default]
    Tsv,
    /// Two lines a pair.
    Seq,
}

/// A line without an end (a file that is no text) would have to be collected whole; one longer than
/// this many bytes is an error.
const MAX_LINE: usize = 256 << 20;

/// Cuts the text of a file into blocks of whole pairs.
pub(crate) struct Lines {
    text: TextReader,
    /// What the last block left over.
    carry: Vec<u8>,
    /// Where it begins: lines before it.
    line: u64,
    layout: Option<Layout>,
    done: bool,
}

/// Whole pairs, as text.
#[derive(Default)]
pub(crate) struct LineBlock {
    text: Vec<u8>,
    at: usize,
    /// Lines of the file before `at`.
    line: u64,
    layout: Layout,
    name: Arc<str>,
}

impl Lines {
    pub(crate) fn open(input: &Input, options: &ReaderOptions) -> Result<Lines, Error> {
        let text = TextReader::open(input, options.clone())?;
        Ok(Lines { text, carry: Vec::new(), line: 0, layout: None, done: false })
    }

    pub(crate) fn bytes_total(&self) -> Option<u64> {
        self.text.bytes_total()
    }

    /// As [`Source::next`](super::Source::next). Empty lines at the end of the file are left out.
    pub(crate) fn next(&mut self, block: &mut LineBlock) -> Result<Option<u64>, Error> {
        block.text.clear();
        std::mem::swap(&mut block.text, &mut self.carry);
        let mut source_bytes = 0;
        while !self.done {
            match self.text.next_text()? {
                Some(piece) => block.text.extend_from_slice(piece),
                None => self.done = true,
            }
            source_bytes += if self.done { 0 } else { self.text.source_bytes() };
            if self.layout.is_none() {
                self.layout = block.text.first().map(|&first| match first {
                    b'>' => Layout::Seq,
                    _ => Layout::Tsv,
                });
            }
            let layout = self.layout.unwrap_or_default();
            let cut = if self.done { end(&block.text) } else { whole(&block.text, layout) };
            if cut > 0 {
                self.carry.extend_from_slice(&block.text[cut..]);
                block.text.truncate(cut);
                self.begin(block);
                return Ok(Some(source_bytes));
            }
            if block.text.len() > MAX_LINE {
                return Err(self.too_long());
            }
        }
        Ok(None)
    }

    fn begin(&mut self, block: &mut LineBlock) {
        (block.at, block.line) = (0, self.line);
        block.layout = self.layout.unwrap_or_default();
        block.name = Arc::from(self.text.name());
        self.line += memchr::memchr_iter(b'\n', &block.text).count() as u64;
    }

    fn too_long(&self) -> Error {
        Error::Line {
            input: self.text.name().to_owned(),
            line: self.line + 1,
            problem: format!(
                "more than {} MiB without a pair; is this a text file?",
                MAX_LINE >> 20
            ),
        }
    }
}

/// How much of a text is left without the empty lines at its end.
fn end(text: &[u8]) -> usize {
    let last = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    last.map_or(0, |last| {
        memchr::memchr(b'\n', &text[last..]).map_or(text.len(), |line_end| last + line_end + 1)
    })
}

/// How much of a text is whole pairs, the empty lines after them not included: they may be the last
/// of the file.
fn whole(text: &[u8], layout: Layout) -> usize {
    let lines = memchr::memrchr(b'\n', text).map_or(0, |line_end| line_end + 1);
    let cut = end(&text[..lines]);
    if layout == Layout::Tsv || cut == 0 {
        return cut;
    }
    let last = memchr::memrchr(b'\n', &text[..cut - 1]).map_or(0, |line_end| line_end + 1);
    // A read whose segment is yet to come.
    if text[last] == b'>' { end(&text[..last]) } else { cut }
}

impl LineBlock {
    /// The index in the file of the next pair: no line is without one.
    pub(crate) fn index(&self) -> u64 {
        match self.layout {
            Layout::Tsv => self.line,
            Layout::Seq => self.line / 2,
        }
    }

    /// As [`Block::take`](super::Block::take).
    pub(crate) fn take(&mut self, most: usize, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        while batch.len() < most && self.at < self.text.len() {
            match self.layout {
                Layout::Tsv => self.tsv(batch)?,
                Layout::Seq => self.seq(batch)?,
            }
        }
        Ok(())
    }

    /// The next line, without its end.
    fn line(&mut self) -> (usize, usize) {
        let start = self.at;
        let line_end = memchr::memchr(b'\n', &self.text[start..]);
        let end = line_end.map_or(self.text.len(), |length| start + length);
        self.at = (end + 1).min(self.text.len());
        self.line += 1;
        (start, if self.text[start..end].ends_with(b"\r") { end - 1 } else { end })
    }

    fn tsv(&mut self, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        let (start, end) = self.line();
        let line = &self.text[start..end];
        let Some(read) = memchr::memchr(b'\t', line) else {
            return Err(self.error(
                self.line,
                if line.is_empty() {
                    "an empty line where a pair should be; remove it".into()
                } else {
                    "one column where READ<TAB>SEGMENT should be".into()
                },
            ));
        };
        let rest = &line[read + 1..];
        let segment = memchr::memchr(b'\t', rest).map_or(rest, |segment| &rest[..segment]);
        let (read, segment) = (&line[..read], segment);
        self.push(batch, [(self.line, read), (self.line, segment)])
    }

    fn seq(&mut self, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        let read = self.line();
        let read_line = self.line;
        let read = self.marked(read, b'>')?;
        if self.at == self.text.len() {
            return Err(
                self.error(read_line, "the file ends before the segment of this read".into())
            );
        }
        let segment = self.line();
        let segment = self.marked(segment, b'<')?;
        self.push(
            batch,
            [
                (read_line, &self.text[read.0..read.1]),
                (self.line, &self.text[segment.0..segment.1]),
            ],
        )
    }

    /// What follows the mark at the beginning of a line.
    fn marked(&self, (start, end): (usize, usize), mark: u8) -> Result<(usize, usize), Error> {
        match self.text[start..end].first() {
            Some(&first) if first == mark => Ok((start + 1, end)),
            first => {
                let found =
                    first.map_or("is empty".into(), |&byte| format!("begins with {}", shown(byte)));
                let what = if mark == b'>' { "a read" } else { "a segment" };
                let mark = char::from(mark);
                Err(self.error(
                    self.line,
                    format!("{what} should begin with '{mark}', this line {found}"),
                ))
            }
        }
    }

    fn push(
        &self,
        batch: &mut PairBatch<'_>,
        [read, segment]: [(u64, &[u8]); 2],
    ) -> Result<(), Error> {
        let mut add = |(line, letters): (u64, &[u8])| {
            batch.add(letters).map_err(|error| self.error(line, error.to_string()))
        };
        let (read, segment) = (add(read)?, add(segment)?);
        batch.pair(read, segment);
        Ok(())
    }

    fn error(&self, line: u64, problem: String) -> Error {
        Error::Line { input: self.name.to_string(), line, problem }
    }
}
