//! Reads tables from text, which can be compressed like sequence files: lines `KMER COUNT` with a tab or blanks
//! between (`kmc_dump`, `jellyfish dump -c`, Merganser), or FASTA whose headers are counts (`jellyfish dump`).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use merganser_io::{Input, LineChunk, LineReader, ReaderOptions, SequencesOnly};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, Context, run_workers};
use merganser_seq::kmer::{Kmer, MAX_K, Wide};

use crate::Error;
use crate::description::{Description, Kind};
use crate::error::bad;
use crate::formats::not_a_table;
use crate::gathered::{Gathered, Gathering};

/// The size of text that is read at a time, in bytes.
const PIECE_BYTES: usize = 1 << 20;
/// The largest size of a line, or of a header and its k-mer, in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// A text whose first lines have been read.
pub(crate) struct Text {
    input: Input,
    path: PathBuf,
    k: usize,
    canonical: bool,
    kind: Kind,
    /// Whether k-mers with the count 0 are taken, with the count 1.
    pub(crate) takes_zeros: bool,
    /// The reader and the first chunk; taken when the text is gathered for the first time.
    rest: Mutex<Option<(LineReader, LineChunk)>>,
}

impl std::fmt::Debug for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Text").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Text {
    /// Opens a text. If it is a large gzip file, all workers that gather it decompress it in parallel.
    pub(crate) fn open(path: &Path, canonical: bool, context: &Context) -> Result<Text, Error> {
        let input = match path.as_os_str() == "-" {
            true => Input::Stdin,
            false => Input::File(path.to_owned()),
        };
        let (reader, head) = begin(&input, context.threads, &context.cancel)?;
        let path = PathBuf::from(reader.name());
        let (kind, k) = first_line(&path, head.text())?;
        let rest = Mutex::new(Some((reader, head)));
        Ok(Text { input, path, k, canonical, kind, takes_zeros: false, rest })
    }

    /// Whether the text comes from a pipe and can be read only once.
    pub(crate) fn is_read_once(&self) -> bool {
        !self.input.is_file()
    }

    pub(crate) fn description(&self) -> Description {
        Description::unread(self.kind, self.k, self.canonical)
    }

    pub(crate) fn gather<'p, K: Kmer>(
        &self,
        gathered: Gathered<'p, K>,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Gathered<'p, K>, Error> {
        let first = lock(&self.rest).take();
        let (reader, chunk) = match first {
            Some(begun) => begun,
            None if self.is_read_once() => {
                return Err(bad(&self.path, "this text can be read only once: give a file"));
            }
            None => begin(&self.input, threads, cancel)?,
        };
        // A header and its k-mer may be separated by blank lines or by the end of a chunk.
        let threads = if self.kind == Kind::Fasta { 1 } else { threads };
        let first = Mutex::new(Some(chunk));
        let earliest: Mutex<Option<(u64, Error)>> = Mutex::new(None);
        run_workers(threads, |_| {
            let chunk = lock(&first).take();
            let writer = gathered.writer();
            let mut lines = Lines { text: self, writer, line: 0, count: None };
            if let Err(error) = lines.all(&reader, chunk, cancel) {
                reader.stop();
                let mut earliest = lock(&earliest);
                if earliest.as_ref().is_none_or(|(line, _)| lines.line < *line) {
                    *earliest = Some((lines.line, error));
                }
                return Ok(());
            }
            lines.finish()
        })?;
        match into_inner(earliest) {
            Some((_, error)) => Err(error),
            None => Ok(gathered.gathered()),
        }
    }
}

/// Opens a text and reads its first lines.
fn begin(input: &Input, threads: usize, cancel: &Cancel) -> Result<(LineReader, LineChunk), Error> {
    let options = ReaderOptions::<SequencesOnly> {
        chunk_bytes: PIECE_BYTES,
        workers: threads,
        max_record: LONGEST_LINE,
        cancel: cancel.clone(),
        ..ReaderOptions::default()
    };
    let reader = LineReader::open(input, options, group)?;
    let mut head = LineChunk::default();
    if !reader.next_lines(&mut head)? {
        return Err(bad(Path::new(reader.name()), "it is empty, so its k is unknown"));
    }
    Ok((reader, head))
}

/// The number of bytes that are examined to distinguish a dump from reads.
const DUMP_HEAD: u64 = 1 << 14;
/// The largest number of records that are examined.
const DUMP_RECORDS: usize = 64;

/// Whether a FASTA file, plain or compressed, is an output of `jellyfish dump`: headers are counts, and
/// sequences are canonical k-mers of one length. About half of the reads in other files would not be canonical.
pub(crate) fn is_dump(path: &Path) -> Result<bool, Error> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let mut head = Vec::new();
    let file = File::open(path).map_err(failed)?;
    let text = merganser_io::decompress(file).map_err(failed)?;
    text.take(DUMP_HEAD).read_to_end(&mut head).map_err(failed)?;
    // The last line may be incomplete.
    let whole = if (head.len() as u64) < DUMP_HEAD {
        head.len()
    } else {
        head.iter().rposition(|&byte| byte == b'\n').unwrap_or(0)
    };
    let lines: Vec<&[u8]> =
        head[..whole].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect();
    let records = lines.chunks_exact(2).take(DUMP_RECORDS);
    let k = lines.get(1).map_or(0, |kmer| kmer.len());
    let is_kmer = |record: &[&[u8]]| {
        let count = record[0].strip_prefix(b">").unwrap_or_default();
        let canonical =
            Wide::from_letters(record[1]).is_some_and(|kmer| kmer <= kmer.reverse_complement(k));
        !count.is_empty()
            && count.iter().all(u8::is_ascii_digit)
            && record[1].len() == k
            && canonical
    };
    Ok((1..=MAX_K).contains(&k) && records.len() > 0 && records.clone().all(is_kmer))
}

/// Returns the number of lines that belong together, depending on the first byte of the text.
fn group(first_byte: u8) -> u64 {
    if first_byte == b'>' { 2 } else { 1 }
}

/// Returns the kind of text, and the length of its first k-mer.
fn first_line(path: &Path, head: &[u8]) -> Result<(Kind, usize), Error> {
    let lines = head.split(|&byte| byte == b'\n');
    let mut lines = lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next().ok_or_else(|| bad(path, "it is empty, so its k is unknown"))?;
    let fasta = first[0] == b'>';
    let line = if fasta { lines.next().unwrap_or_default() } else { first };
    let kmer = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let other = || merganser_io::in_stream(path, head).unwrap_or_else(|| not_a_table(path));
    let letters = kmer.iter().all(|&letter| merganser_seq::base::is_base(letter));
    if kmer.is_empty() || !letters {
        return Err(bad(path, other()));
    }
    let count = !fasta || first[1..].trim_ascii().iter().all(u8::is_ascii_digit);
    if !count || (kmer.len() > MAX_K && fasta) {
        return Err(bad(path, other()));
    }
    if kmer.len() > MAX_K {
        let k = kmer.len();
        return Err(bad(path, format!("its k is {k}: k can be at most {MAX_K}")));
    }
    Ok((if fasta { Kind::Fasta } else { Kind::Columns }, kmer.len()))
}

/// Parses lines and gathers their k-mers.
struct Lines<'t, 'p, K> {
    text: &'t Text,
    writer: Gathering<'t, 'p, K>,
    /// The number of the current line, 1-based.
    line: u64,
    /// The count of the preceding header.
    count: Option<u32>,
}

impl<K: Kmer> Lines<'_, '_, K> {
    /// Parses the lines of the first chunk, if one is given, and then those of further chunks of the reader.
    fn all(
        &mut self,
        reader: &LineReader,
        first: Option<LineChunk>,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let (mut chunk, mut ready) = match first {
            Some(chunk) => (chunk, true),
            None => (LineChunk::default(), false),
        };
        loop {
            if !ready {
                // If reading fails, that error comes after all lines that were returned.
                self.line = u64::MAX;
                if !reader.next_lines(&mut chunk)? {
                    self.line = 0;
                    return Ok(());
                }
            }
            ready = false;
            cancel.check()?;
            self.line = chunk.line();
            self.take(chunk.text())?;
        }
    }

    /// Parses complete lines.
    fn take(&mut self, text: &[u8]) -> Result<(), Error> {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest);
            let line = rest[..end].trim_ascii_end();
            rest = &rest[(end + 1).min(rest.len())..];
            self.line += 1;
            if line.is_empty() {
                continue;
            }
            if self.text.kind == Kind::Fasta { self.fasta(line)? } else { self.columns(line)? }
        }
        Ok(())
    }

    fn columns(&mut self, line: &[u8]) -> Result<(), Error> {
        let kmer = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let count = self.number(line[kmer..].trim_ascii_start())?;
        self.add(&line[..kmer], count)
    }

    fn fasta(&mut self, line: &[u8]) -> Result<(), Error> {
        match (line.strip_prefix(b">"), self.count.take()) {
            (Some(count), None) => {
                self.count = Some(self.number(count)?);
                Ok(())
            }
            (None, Some(count)) => self.add(line, count),
            _ => Err(self.bad("a header >COUNT and then a line with its k-mer are expected")),
        }
    }

    fn add(&mut self, letters: &[u8], count: u32) -> Result<(), Error> {
        let k = self.text.k;
        let kmer = match K::from_letters(letters) {
            Some(kmer) if letters.len() == k => kmer,
            Some(_) => {
                let reason = format!("a k-mer of {} letters, but {k} before", letters.len());
                return Err(self.bad(&reason));
            }
            None => return Err(self.bad("this is not a k-mer of letters A C G T (or U)")),
        };
        if self.text.canonical && kmer.reverse_complement(k) < kmer {
            let letters = String::from_utf8_lossy(letters);
            return Err(self.bad(&format!(
                "{letters} is greater than its reverse complement: give --forward-only if strands \
                 were counted apart"
            )));
        }
        match count {
            0 if self.text.takes_zeros => self.writer.add(kmer, 1),
            0 => Ok(()),
            _ => self.writer.add(kmer, count),
        }
    }

    fn number(&self, text: &[u8]) -> Result<u32, Error> {
        let mut number = 0u64;
        for &digit in text {
            if !digit.is_ascii_digit() || number > u64::from(u32::MAX) {
                number = u64::MAX;
                break;
            }
            number = 10 * number + u64::from(digit - b'0');
        }
        match u32::try_from(number) {
            Ok(number) if !text.is_empty() => Ok(number),
            _ => {
                let text = String::from_utf8_lossy(text);
                Err(self.bad(&format!("'{text}' is not a count: 0 to {}", u32::MAX)))
            }
        }
    }

    fn bad(&self, reason: &str) -> Error {
        bad(&self.text.path, format!("line {}: {reason}", self.line))
    }

    fn finish(self) -> Result<(), Error> {
        if self.count.is_some() {
            return Err(self.bad("the text ends after a header; is it truncated?"));
        }
        self.writer.finish()
    }
}

fn memchr(byte: u8, text: &[u8]) -> usize {
    text.iter().position(|&other| other == byte).unwrap_or(text.len())
}
