//! Sequence text, read by the crate and by a naive parser.

use std::collections::BTreeMap;
use std::io::Cursor;

use merganser_alignments::ReaderOptions;
use merganser_io::{BYTE_ORDER_MARK, Chunk, Error, Input, Reader, Sink};

use crate::files::{folder, write};

/// Sequences with their qualities, which are empty for FASTA.
pub type Records = Vec<(Vec<u8>, Vec<u8>)>;

/// The amount of text after which reading stops: a few bytes of input may decompress to any amount.
const MAX_TEXT: usize = 1 << 20;
/// The maximum length of a record. The chunks in these tests are so small that a long record would be copied many
/// times.
const LONGEST: usize = 1 << 16;

/// The records and k-mers that a single worker receives.
#[derive(Debug, Default)]
pub struct Collector {
    pub records: Records,
    /// The number of occurrences of each window of `k` letters.
    pub kmers: BTreeMap<Vec<u8>, usize>,
    k: usize,
    /// Whether reading stopped before the end of the text.
    pub partial: bool,
    piece: Vec<u8>,
    repeated: usize,
    open: bool,
}

impl Sink for Collector {
    fn begin(&mut self, _header: &[u8]) {
        self.records.push(Default::default());
        assert!(!self.open);
        (self.open, self.repeated) = (true, 0);
    }

    fn resume(&mut self) {
        assert!(!self.open);
        self.open = true;
    }

    fn repeated(&mut self, bases: usize) {
        self.repeated = bases;
    }

    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        assert!(self.open && !line.contains(&b'\n'));
        self.piece.extend_from_slice(line);
        if let Some(quality) = quality {
            assert_eq!(line.len(), quality.len());
            self.records.last_mut().expect("a record").1.extend_from_slice(quality);
        }
    }

    fn end(&mut self) {
        assert!(self.open);
        self.open = false;
        let piece = std::mem::take(&mut self.piece);
        add_kmers(&piece, self.k, &mut self.kmers);
        let sequence = &mut self.records.last_mut().expect("a record").0;
        assert!(sequence.ends_with(&piece[..self.repeated]), "the repeated bases differ");
        sequence.extend_from_slice(&piece[self.repeated..]);
    }
}

/// Compares the content that must not depend on the borders of chunks.
impl PartialEq for Collector {
    fn eq(&self, other: &Collector) -> bool {
        self.records == other.records && self.kmers == other.kmers
    }
}

/// Adds the windows of `k` letters of `sequence`.
pub fn add_kmers(sequence: &[u8], k: usize, kmers: &mut BTreeMap<Vec<u8>, usize>) {
    for kmer in sequence.windows(k) {
        *kmers.entry(kmer.to_vec()).or_default() += 1;
    }
}

/// Reads `bytes` with one worker, in chunks of `chunk_bytes` bytes, with the overlap that k-mers of `k` letters need.
pub fn read(bytes: &[u8], chunk_bytes: usize, k: usize) -> Result<Collector, Error> {
    let input: Box<dyn std::io::Read + Send> = Box::new(Cursor::new(bytes.to_vec()));
    let options = ReaderOptions {
        chunk_bytes,
        overlap: k - 1,
        workers: 1,
        max_record: LONGEST,
        ..ReaderOptions::default()
    };
    collect(&Reader::from_readers(vec![("fuzz".into(), input)], options), k)
}

/// Reads `bytes`, if they are gzip, in ranges of `range` bytes, with the settings for `workers` workers.
pub fn read_in_ranges(
    bytes: &[u8],
    range: u64,
    workers: usize,
    k: usize,
) -> Result<Collector, Error> {
    let folder = folder();
    let file = folder.path().join("reads");
    write(&file, bytes);
    let options =
        ReaderOptions { chunk_bytes: 1 << 12, overlap: k - 1, workers, ..ReaderOptions::default() };
    let inputs = [Input::File(file)];
    collect(&Reader::open_in_ranges(&inputs, options, range)?, k)
}

fn collect(reader: &Reader, k: usize) -> Result<Collector, Error> {
    let (mut chunk, mut sink) = (Chunk::default(), Collector { k, ..Collector::default() });
    let mut text = 0;
    while text < MAX_TEXT && reader.next_chunk(&mut chunk)? {
        chunk.parse(&mut sink)?;
        chunk.check()?;
        text += chunk.text_len();
    }
    sink.partial = text >= MAX_TEXT;
    Ok(sink)
}

/// Parses text that the reader has accepted.
pub fn naive(bytes: &[u8]) -> Records {
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    let lines = text.split(|&byte| byte == b'\n');
    let lines: Vec<&[u8]> = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let mut records = Records::new();
    let is_blank = |byte: &u8| matches!(*byte, b' ' | b'\t' | b'\r');
    if text.first() == Some(&b'@') {
        for record in lines.chunks(4).filter(|record| !record[0].iter().all(is_blank)) {
            // Blanks around the sequence do not count, nor do those behind a quality that is longer.
            let start = record[1].iter().take_while(|byte| is_blank(byte)).count();
            let trim_end = |line: &[u8]| {
                let blanks = line.iter().rev().take_while(|byte| is_blank(byte)).count();
                line[..line.len() - blanks].to_vec()
            };
            let sequence = trim_end(&record[1][start..]);
            let quality = record.get(3).copied().unwrap_or_default();
            let is_longer = quality.len() > sequence.len();
            records.push((sequence, if is_longer { trim_end(quality) } else { quality.to_vec() }));
        }
        return records;
    }
    for line in lines {
        match records.last_mut() {
            _ if line.first() == Some(&b'>') => records.push(Default::default()),
            _ if line.first() == Some(&b';') => {}
            Some((sequence, _)) => {
                sequence.extend(line.iter().filter(|byte| !is_blank(byte)));
            }
            None => assert!(line.is_empty(), "accepted without a header"),
        }
    }
    records
}
