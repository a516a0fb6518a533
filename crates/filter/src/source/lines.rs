//! Pairs of a read and a reference segment from a single file: `READ<TAB>SEGMENT` lines, or the WFA tools' `>READ`
//! and `<SEGMENT` lines.

use merganser_alignments::ReaderOptions;
use merganser_io::{FileKind, Input, LineChunk, LineReader};
use merganser_seq::planes::TextPlanes;
use merganser_seq::simd::Level;

use crate::{Error, PairBatch};

/// The layout of pairs in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// One line per pair: read, tab, segment, and anything after another tab.
    Tsv,
    /// The `.seq` format of the WFA tools, two lines per pair: `>READ`, then `<SEGMENT`.
    Seq,
}

impl Layout {
    fn of(first_byte: u8) -> Layout {
        if first_byte == b'>' { Layout::Seq } else { Layout::Tsv }
    }

    fn lines(self) -> u64 {
        match self {
            Layout::Tsv => 1,
            Layout::Seq => 2,
        }
    }
}

/// The number of bytes of text that are converted to bit planes ([`TextPlanes`]) at a time, so that they stay in the L1
/// cache.
const WINDOW: usize = 16 << 10;

/// A reader of a file of pairs, which any number of workers share. It returns blocks of whole pairs.
pub(crate) struct Lines(LineReader);

/// A block of whole pairs as text.
#[derive(Default)]
pub(crate) struct LineBlock {
    lines: LineChunk,
    at: usize,
    /// The number of lines of the file before `at`.
    line: u64,
    window: Window,
}

/// The bit planes of a part of the text.
#[derive(Default)]
struct Window {
    planes: TextPlanes,
    from: usize,
}

impl Lines {
    pub(crate) fn open(input: &Input, options: &ReaderOptions) -> Result<Lines, Error> {
        // The kind is detected by the first bytes. `>READ` lines look like FASTA. Lines of counts pass this check, and
        // their digits are refused as invalid letters when the lines are read.
        let pairs = |kind| matches!(kind, FileKind::Pairs | FileKind::Counts | FileKind::Fasta);
        let kind = input.path().and_then(FileKind::of_path);
        if let Some(kind) = kind.filter(|&kind| !pairs(kind) && kind != FileKind::Folder) {
            let maker = "also give a file with the segments of these reads";
            let problem = kind.instead_of("READ<TAB>SEGMENT lines", Some(maker));
            return Err(Error::Line { input: input.to_string(), line: 1, problem });
        }
        let group = |first_byte| Layout::of(first_byte).lines();
        Ok(Lines(LineReader::open(input, options.clone(), group)?))
    }

    pub(crate) fn bytes_total(&self) -> Option<u64> {
        self.0.bytes_total()
    }

    pub(crate) fn stop(&self) {
        self.0.stop();
    }

    /// Fills a block: see [`Source::next`](merganser_run::engine::Source::next). Empty lines at the end
    /// of the file are ignored.
    pub(crate) fn next(&self, block: &mut LineBlock) -> Result<Option<u64>, Error> {
        if !self.0.next_lines(&mut block.lines)? {
            return Ok(None);
        }
        (block.at, block.line) = (0, block.lines.line());
        block.window.from = 0;
        // Empties the window.
        block.window.planes.scan(Level::best(), &[]);
        Ok(Some(block.lines.source_bytes()))
    }
}

impl LineBlock {
    /// Returns the number of blocks before this one: see [`Block::number`](super::Block::number).
    pub(crate) fn number(&self) -> u64 {
        self.lines.number()
    }

    /// Returns the index of the next pair in the file. It follows from the line number, because every line belongs to a
    /// pair.
    pub(crate) fn index(&self) -> u64 {
        self.line / self.layout().lines()
    }

    fn layout(&self) -> Layout {
        Layout::of(self.lines.first_byte())
    }

    /// Takes pairs: see [`Block::take`](super::Block::take).
    pub(crate) fn take(&mut self, most: usize, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        let layout = self.layout();
        while batch.len() < most && self.at < self.lines.text().len() {
            if self.plain(layout, batch) {
                continue;
            }
            if self.move_window() {
                continue;
            }
            match layout {
                Layout::Tsv => self.tsv(batch)?,
                Layout::Seq => self.seq(batch)?,
            }
        }
        Ok(())
    }

    /// Moves the window to the next pair if it does not contain the whole line of that pair. Returns false if the
    /// window is not moved: it contains the whole line, or it already starts at the pair, whose line is longer than a
    /// window.
    fn move_window(&mut self) -> bool {
        let text = self.lines.text();
        let Window { planes, from } = &mut self.window;
        let seen = *from + planes.len();
        let cut = memchr::memchr(b'\n', &text[self.at..seen.max(self.at)]).is_none();
        if cut && (*from < self.at || planes.is_empty()) {
            let end = text.len().min(self.at + WINDOW);
            planes.scan(Level::best(), &text[self.at..end]);
            *from = self.at;
            return true;
        }
        false
    }

    /// Adds the next pair if it is entirely within the window and can be read without checks of single letters:
    /// read and segment consist only of bases; a line of TSV may have more columns. Returns whether the pair was
    /// added.
    #[inline]
    fn plain(&mut self, layout: Layout, batch: &mut PairBatch<'_>) -> bool {
        let text = self.lines.text();
        let Window { planes, from } = &self.window;
        let start = self.at - from;
        let text = &text[*from..from + planes.len()];
        let found = match layout {
            Layout::Tsv => plain_tsv(text, planes, start),
            Layout::Seq => plain_seq(text, planes, start),
        };
        let Some(Plain { read, segment, end }) = found else { return false };
        let read = batch.add_stretch(planes, read.0, read.1 - read.0);
        let segment = batch.add_stretch(planes, segment.0, segment.1 - segment.0);
        batch.pair(read, segment);
        self.at = from + end;
        self.line += layout.lines();
        true
    }

    /// Returns the range of the next line, without its line end.
    fn next_line(&mut self) -> (usize, usize) {
        let (start, text) = (self.at, self.lines.text());
        let line_end = memchr::memchr(b'\n', &text[start..]);
        let end = line_end.map_or(text.len(), |length| start + length);
        self.at = (end + 1).min(text.len());
        self.line += 1;
        (start, if text[start..end].ends_with(b"\r") { end - 1 } else { end })
    }

    fn tsv(&mut self, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        let (start, end) = self.next_line();
        let line = &self.lines.text()[start..end];
        let Some(read) = memchr::memchr(b'\t', line) else {
            return Err(self.error(
                self.line,
                if line.is_empty() {
                    "empty line instead of a pair; remove the line".into()
                } else {
                    "the line has only one column; READ<TAB>SEGMENT is expected".into()
                },
            ));
        };
        let rest = &line[read + 1..];
        let segment = memchr::memchr(b'\t', rest).map_or(rest, |segment| &rest[..segment]);
        let (read, segment) = (&line[..read], segment);
        self.push(batch, [(self.line, read), (self.line, segment)])
    }

    fn seq(&mut self, batch: &mut PairBatch<'_>) -> Result<(), Error> {
        let read = self.next_line();
        let read_line = self.line;
        let read = self.marked(read, b'>')?;
        if self.at == self.lines.text().len() {
            return Err(
                self.error(read_line, "the file ends before the segment of this read".into())
            );
        }
        let segment = self.next_line();
        let segment = self.marked(segment, b'<')?;
        let text = self.lines.text();
        if segment.0 == segment.1 && self.at == text.len() && !text.ends_with(b"\n") {
            return Err(self.error(self.line, "the file ends before this segment".into()));
        }
        self.push(
            batch,
            [
                (read_line, &self.lines.text()[read.0..read.1]),
                (self.line, &self.lines.text()[segment.0..segment.1]),
            ],
        )
    }

    /// Returns the rest of a line after the mark at its beginning.
    fn marked(&self, (start, end): (usize, usize), mark: u8) -> Result<(usize, usize), Error> {
        match self.lines.text()[start..end].first() {
            Some(&first) if first == mark => Ok((start + 1, end)),
            first => {
                let found = first.map_or("is empty".into(), |&byte| {
                    format!("begins with {}", merganser_io::shown_byte(byte))
                });
                let (what, remedy) = match mark {
                    b'>' => ("a read", ""),
                    _ => (
                        "a segment",
                        "; for FASTA, also give a file with the segments of its reads",
                    ),
                };
                let mark = char::from(mark);
                Err(self.error(
                    self.line,
                    format!("{what} must begin with '{mark}', but this line {found}{remedy}"),
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
        Error::Line { input: self.lines.name().to_owned(), line, problem }
    }
}

/// The ranges of a pair's sequences in a text, and the start of the next pair.
struct Plain {
    read: (usize, usize),
    segment: (usize, usize),
    end: usize,
}

#[inline]
fn plain_tsv(text: &[u8], planes: &TextPlanes, start: usize) -> Option<Plain> {
    let tab = planes.next_other(start);
    if text.get(tab) != Some(&b'\t') {
        return None;
    }
    let segment = planes.next_other(tab + 1);
    let end = match text.get(segment)? {
        b'\t' => segment + memchr::memchr(b'\n', &text[segment..])? + 1,
        _ => plain_end(text, segment)?,
    };
    Some(Plain { read: (start, tab), segment: (tab + 1, segment), end })
}

#[inline]
fn plain_seq(text: &[u8], planes: &TextPlanes, start: usize) -> Option<Plain> {
    if text.get(start) != Some(&b'>') {
        return None;
    }
    let read = planes.next_other(start + 1);
    let mark = plain_end(text, read)?;
    if text.get(mark) != Some(&b'<') {
        return None;
    }
    let segment = planes.next_other(mark + 1);
    let end = plain_end(text, segment)?;
    Some(Plain { read: (start + 1, read), segment: (mark + 1, segment), end })
}

/// Returns the index after the line end at `at`; `None` if there is no line end.
#[inline]
fn plain_end(text: &[u8], at: usize) -> Option<usize> {
    match (text.get(at)?, text.get(at + 1)) {
        (b'\n', _) => Some(at + 1),
        (b'\r', Some(b'\n')) => Some(at + 2),
        _ => None,
    }
}
