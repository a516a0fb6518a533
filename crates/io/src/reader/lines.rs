//! Reading of the lines of one input, in any format, by any number of workers.

use super::ReaderOptions;
use super::expand::expand;
use super::fetch::{Fetched, Fetcher, Origin};
use super::warn_of_end;
use crate::alignment::Formats;
use crate::input::check;
use crate::{Chunk, Error, Input};
use memchr::{memchr, memchr_iter, memrchr};
use merganser_inflate::parallel::Plan;
use merganser_run::locks::{lock, wait};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// A reader that returns the lines of one input chunk by chunk, to any number of workers at once, for formats that
/// a [`Reader`](super::Reader) does not know. Its steps are those of a reader: the workers fetch one after the
/// other, then read or inflate in parallel, and then learn one after the other where the lines in their text begin
/// and end.
pub struct LineReader {
    options: ReaderOptions,
    name: Arc<str>,
    bytes_total: Option<u64>,
    source: Mutex<LineFetcher>,
    chain: Mutex<Chain>,
    changed: Condvar,
    /// Whether waiting for the input must end.
    stopped: AtomicBool,
    /// The number of lines in a group, given the first byte of the input.
    group: fn(u8) -> u64,
}

/// A chunk of whole groups of lines. Each worker creates one and refills it with [`LineReader::next_lines`], which
/// reuses its memory.
#[derive(Default)]
pub struct LineChunk {
    chunk: Chunk,
    number: u64,
    line: u64,
    first_byte: u8,
}

struct LineFetcher {
    fetcher: Fetcher,
    /// Whether nothing more is to be fetched.
    done: bool,
    /// The number of fetches so far.
    tickets: u64,
}

/// The order of the chunks.
#[derive(Default)]
struct Chain {
    /// The ticket whose turn it is.
    ticket: u64,
    /// The number of chunks returned so far.
    handed: u64,
    ended: bool,
    carry: Carry,
}

/// The text that a chunk leaves to the next one: incomplete lines or groups, and blank lines, because they may be
/// at the end of the input.
#[derive(Default)]
struct Carry {
    bytes: Vec<u8>,
    /// The number of line ends in `bytes`.
    newlines: u64,
    /// The number of lines before `bytes`.
    line: u64,
    /// Whether `bytes` contains more than blank lines.
    filled: bool,
    first_byte: Option<u8>,
}

impl LineReader {
    /// Opens a reader of `input` in chunks of about `options.chunk_bytes` bytes. It returns whole groups of lines;
    /// `group` returns the size of a group, given the first byte of the text. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// If the input does not exist, is a directory, or is not readable.
    pub fn open<F: Formats>(
        input: &Input,
        options: ReaderOptions<F>,
        group: fn(u8) -> u64,
    ) -> Result<Self, Error> {
        let options = options.of_any();
        let plan = options.plan();
        Self::open_with(input, options, plan, group)
    }

    fn open_with(
        input: &Input,
        options: ReaderOptions,
        plan: Option<Plan>,
        group: fn(u8) -> u64,
    ) -> Result<Self, Error> {
        let bytes_total = check(input)?;
        let fetcher = Fetcher::new(0, Origin::Input(input.clone()), plan);
        Ok(Self {
            options: ReaderOptions { chunk_bytes: options.chunk_bytes.max(1), ..options },
            name: Arc::from(input.to_string()),
            bytes_total,
            source: Mutex::new(LineFetcher { fetcher, done: false, tickets: 0 }),
            chain: Mutex::default(),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            group,
        })
    }

    /// Refills `lines` with the next lines. Returns `false` if no lines remain or the reader was stopped. Blank
    /// lines at the end of the input are skipped. Any number of workers may call it at the same time, each with its
    /// own chunk.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or decompressed, or has no line ends. All chunks before the fault are returned,
    /// and [`LineChunk::number`] is the number that this chunk would have had.
    pub fn next_lines(&self, lines: &mut LineChunk) -> Result<bool, Error> {
        // If this worker panics, the others must not wait for its ticket.
        let guard = StopOnPanic(self);
        let result = self.next_text(lines);
        std::mem::forget(guard);
        result
    }

    fn next_text(&self, lines: &mut LineChunk) -> Result<bool, Error> {
        let mut source_bytes = 0;
        loop {
            lines.chunk.name = Arc::clone(&self.name);
            (lines.chunk.text.start, lines.chunk.text.end) = (0, 0);
            let Some((ticket, fetched)) = self.fetch(&mut lines.chunk) else { return Ok(false) };
            let expanded = fetched.and_then(|mut fetched| {
                source_bytes += fetched.source_bytes;
                let (chunk, stopped) = (&mut lines.chunk, &self.stopped);
                let newlines = expand(chunk, &mut fetched, &self.options, stopped)?;
                Ok((newlines, fetched))
            });
            lines.chunk.source_bytes = source_bytes;
            match self.join(ticket, lines, expanded)? {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => return Ok(false),
            }
        }
    }

    /// Fetches the next data and returns them with their ticket; one worker at a time.
    fn fetch(&self, chunk: &mut Chunk) -> Option<(u64, Result<Fetched, Error>)> {
        let mut source = lock(&self.source);
        if source.done {
            return None;
        }
        let fetched = source.fetcher.fetch(chunk, &self.options, &self.stopped);
        source.done = fetched.as_ref().map_or(true, |fetched| fetched.last);
        source.tickets += 1;
        Some((source.tickets - 1, fetched))
    }

    /// Waits for the turn of the chunk and joins it to the previous one. Returns `None` if reading ended in the
    /// meantime, and `Some(false)` if no whole lines are left in the chunk.
    fn join(
        &self,
        ticket: u64,
        lines: &mut LineChunk,
        expanded: Result<(u64, Fetched), Error>,
    ) -> Result<Option<bool>, Error> {
        let mut chain = lock(&self.chain);
        while chain.ticket != ticket && !chain.ended {
            chain = wait(&self.changed, chain);
        }
        if chain.ended {
            return Ok(None);
        }
        lines.number = chain.handed;
        let joined = expanded.and_then(|(newlines, fetched)| {
            fetched.check(&mut lines.chunk)?;
            if fetched.ends_early {
                warn_of_end(&self.name, &self.options);
            }
            chain.carry.join(lines, newlines, fetched.last, (self.group, self.options.max_record))
        });
        chain.ticket += 1;
        match &joined {
            Ok(text) => chain.handed += u64::from(*text),
            Err(_) => chain.ended = true,
        }
        drop(chain);
        self.changed.notify_all();
        if joined.is_err() {
            // Set this before locking: the holder of the lock may be waiting for data that will never come.
            self.stopped.store(true, Ordering::Release);
            lock(&self.source).done = true;
        }
        joined.map(Some)
    }

    /// Ends the reading: all calls of [`next_lines`](Self::next_lines) that have no chunk yet return `false` as
    /// soon as they need not wait for the input.
    pub fn stop(&self) {
        // In this order: a worker that sees `stopped` may have cut its text short, and must then find that the chain has
        // ended. It locks the chain after it read the flag, and so after this lock.
        lock(&self.chain).ended = true;
        self.stopped.store(true, Ordering::Release);
        self.changed.notify_all();
        lock(&self.source).done = true;
    }

    /// Returns the size of the input on disk in bytes, if it is a regular file.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// Returns the name of the input, as shown in messages.
    pub fn name(&self) -> &str {
        &self.name
    }
}

struct StopOnPanic<'a>(&'a LineReader);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl LineChunk {
    /// Returns the lines with their line ends; the last line of the input may have none.
    pub fn text(&self) -> &[u8] {
        self.chunk.text()
    }

    /// Returns the number of chunks before this one, whichever workers received them.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of lines of the input before this chunk.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the first byte of the input.
    pub fn first_byte(&self) -> u8 {
        self.first_byte
    }

    /// Returns the name of the input, as shown in messages.
    pub fn name(&self) -> &str {
        &self.chunk.name
    }

    /// Returns the approximate number of bytes on disk of this chunk.
    pub fn source_bytes(&self) -> u64 {
        self.chunk.source_bytes
    }
}

impl Carry {
    /// Prepends the rest of the previous chunk to this one, whose text has `newlines` line ends, and cuts off the
    /// incomplete end. Returns `false` if no text is left. The time depends on the sizes of the cut-off and the
    /// prepended text, not on the size of the chunk.
    fn join(
        &mut self,
        lines: &mut LineChunk,
        newlines: u64,
        last: bool,
        (group, most): (fn(u8) -> u64, usize),
    ) -> Result<bool, Error> {
        let chunk = &mut lines.chunk;
        if self.first_byte.is_none() {
            chunk.pass_mark()?;
        }
        let Some(first_byte) = self.first_byte.or_else(|| chunk.text().first().copied()) else {
            return Ok(false);
        };
        self.first_byte = Some(first_byte);
        let total = self.newlines + newlines;
        let group = group(first_byte).max(1);
        // A line larger than a chunk is collected here, which copies each byte once. So are blank lines, because
        // they may be at the end of the input.
        let filled = self.filled || without_blank(chunk.text()) > 0;
        let collect = !last && (total < group || !filled);
        let cut = if collect {
            0
        } else {
            chunk.text.prepend(&mut self.bytes);
            if last { without_blank(chunk.text()) } else { whole(chunk.text(), total, group) }
        };
        let rest = &chunk.text.buffer[chunk.text.start + cut..chunk.text.end];
        self.filled = if cut > 0 { without_blank(rest) > 0 } else { filled };
        let left = if cut > 0 { memchr_iter(b'\n', rest).count() as u64 } else { total };
        self.bytes.extend_from_slice(rest);
        chunk.text.end = chunk.text.start + cut;
        (lines.line, lines.first_byte) = (self.line, first_byte);
        self.newlines = left;
        self.line += total - left;
        if cut == 0 && !last && self.bytes.len() > most {
            return Err(self.too_long(lines, most));
        }
        Ok(cut > 0)
    }

    fn too_long(&self, lines: &LineChunk, most: usize) -> Error {
        let (input, limit) = (lines.name().to_owned(), most as u64);
        Error::LongLine { input, line: self.line + self.newlines + 1, limit }
    }
}

/// Returns the length of a text without the blank lines at its end.
fn without_blank(text: &[u8]) -> usize {
    let last = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    last.map_or(0, |last| memchr(b'\n', &text[last..]).map_or(text.len(), |end| last + end + 1))
}

/// Returns the length of the whole groups of lines at the start of a text with `newlines` line ends, without blank
/// lines after them.
fn whole(text: &[u8], newlines: u64, group: u64) -> usize {
    let lines = memrchr(b'\n', text).map_or(0, |end| end + 1);
    let mut cut = without_blank(&text[..lines]);
    let count = newlines - memchr_iter(b'\n', &text[cut..]).count() as u64;
    for _ in 0..count % group {
        cut = memrchr(b'\n', &text[..cut - 1]).map_or(0, |end| end + 1);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SequencesOnly;
    use proptest::prelude::*;
    use std::io::Write;

    /// Returns all chunks of a file, in order, as read by `workers` threads.
    fn read(
        input: &Input,
        chunk_bytes: usize,
        workers: usize,
        group: fn(u8) -> u64,
    ) -> Result<Vec<(u64, u64, Vec<u8>)>, Error> {
        let options = ReaderOptions::<SequencesOnly> { chunk_bytes, ..ReaderOptions::default() };
        collect(&LineReader::open(input, options, group)?, workers)
    }

    fn collect(reader: &LineReader, workers: usize) -> Result<Vec<(u64, u64, Vec<u8>)>, Error> {
        let work = |_| {
            let (mut lines, mut chunks) = (LineChunk::default(), Vec::new());
            while reader.next_lines(&mut lines)? {
                chunks.push((lines.number(), lines.line(), lines.text().to_vec()));
            }
            Ok::<_, Error>(chunks)
        };
        let mut chunks = merganser_run::run_workers_collect(workers, work)?.concat();
        chunks.sort();
        Ok(chunks)
    }

    fn check_chunks(chunks: &[(u64, u64, Vec<u8>)], text: &[u8], group: u64) {
        let (mut line, mut all) = (0, Vec::new());
        for (i, (number, first, text)) in chunks.iter().enumerate() {
            assert_eq!((*number, *first), (i as u64, line));
            assert!(!text.is_empty());
            let ends = memchr_iter(b'\n', text).count() as u64;
            assert!(i + 1 == chunks.len() || (text.ends_with(b"\n") && ends.is_multiple_of(group)));
            line += ends;
            all.extend_from_slice(text);
        }
        assert_eq!(all, text[..without_blank(text)]);
    }

    proptest! {
        #[test]
        fn any_lines_come_whole_and_in_order(
            text in proptest::collection::vec(proptest::sample::select(b"AC\n\n\r".to_vec()), 0..300),
            chunk_bytes in 1usize..80,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("text");
            std::fs::write(&path, &text).unwrap();
            for workers in [1, 3] {
                for (group, number) in [((|_| 1) as fn(u8) -> u64, 1), (|_| 2, 2)] {
                    let chunks = read(&Input::File(path.clone()), chunk_bytes, workers, group).unwrap();
                    check_chunks(&chunks, &text, number);
                }
            }
        }
    }

    #[test]
    fn compressed_text_is_the_same_and_faults_come_in_their_turn() {
        let dir = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..5000u32).flat_map(|i| format!("{i}\t\r\n").into_bytes()).collect();
        let packed = dir.path().join("packed");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&text).unwrap();
        let gz = gz.finish().unwrap();
        std::fs::write(&packed, &gz).unwrap();
        for chunk_bytes in [7, 4096, 1 << 20] {
            check_chunks(
                &read(&Input::File(packed.clone()), chunk_bytes, 2, |_| 1).unwrap(),
                &text,
                1,
            );
        }
        std::fs::write(&packed, &gz[..gz.len() / 2]).unwrap();
        let options =
            ReaderOptions::<SequencesOnly> { chunk_bytes: 512, ..ReaderOptions::default() };
        let reader = LineReader::open(&Input::File(packed), options, |_| 1).unwrap();
        let (mut lines, mut before) = (LineChunk::default(), 0);
        let error = loop {
            match reader.next_lines(&mut lines) {
                Ok(true) => before += 1,
                Ok(false) => panic!("no error"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::Truncated { .. }), "{error}");
        assert!(before > 3 && lines.number() == before);
        assert!(!reader.next_lines(&mut lines).unwrap());
    }

    /// Lines of numbers, which compress to a third.
    fn numbers() -> Vec<u8> {
        let number = |i: u32| format!("{}\t{i}\n", i.wrapping_mul(2_654_435_761)).into_bytes();
        (0..60_000).flat_map(number).collect()
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        gz.write_all(text).unwrap();
        gz.finish().unwrap()
    }

    #[test]
    fn gzip_in_ranges_gives_the_same_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("packed");
        let text = numbers();
        std::fs::write(&path, packed(&text)).unwrap();
        let input = Input::File(path);
        for (range, workers) in [(5000, 1), (20_000, 4), (100_000, 3), (1 << 20, 2)] {
            let options = ReaderOptions::<SequencesOnly> {
                chunk_bytes: 1 << 16,
                workers,
                ..Default::default()
            };
            let plan = Some(Plan::of(range));
            let reader = LineReader::open_with(&input, options.of_any(), plan, |_| 2).unwrap();
            check_chunks(&collect(&reader, workers).unwrap(), &text, 2);
        }
    }

    #[test]
    fn damage_in_ranges_ends_all_workers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("packed");
        let whole = packed(&numbers());
        for (kind, at) in [("cut", 3), ("cut", 2), ("changed", 3), ("changed", 2), ("sum", 1)] {
            let mut bytes = whole.clone();
            match kind {
                "cut" => bytes.truncate(whole.len() * at / 4),
                "changed" => bytes[whole.len() * at / 4..][..40].fill(0xff),
                _ => bytes[whole.len() - 5] ^= 1,
            }
            std::fs::write(&path, bytes).unwrap();
            let input = Input::File(path.clone());
            for workers in [1, 4] {
                let options = ReaderOptions::<SequencesOnly> {
                    chunk_bytes: 1 << 16,
                    workers,
                    ..Default::default()
                };
                let plan = Some(Plan::of(20_000));
                let reader = LineReader::open_with(&input, options.of_any(), plan, |_| 1).unwrap();
                let error = collect(&reader, workers).unwrap_err();
                let known = matches!(error, Error::Truncated { .. } | Error::Corrupt { .. });
                assert!(known, "{kind}: {error}");
            }
        }
    }

    #[test]
    fn a_reader_in_ranges_can_be_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("packed");
        std::fs::write(&path, packed(&numbers())).unwrap();
        let options = ReaderOptions::<SequencesOnly> {
            chunk_bytes: 1 << 16,
            workers: 4,
            ..Default::default()
        };
        let plan = Some(Plan::of(5000));
        let reader =
            LineReader::open_with(&Input::File(path), options.of_any(), plan, |_| 1).unwrap();
        let chunks = merganser_run::run_workers_collect(4, |worker| {
            let mut lines = LineChunk::default();
            let mut chunks = 0;
            while reader.next_lines(&mut lines)? {
                chunks += 1;
                if worker == 0 {
                    reader.stop();
                }
            }
            Ok::<_, Error>(chunks)
        });
        assert!(chunks.unwrap().iter().sum::<u64>() < 100);
    }
}
