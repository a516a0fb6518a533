//! A naive parser, and helpers that return the results of the reader in the same form.

use merganser_io::{Chunk, Error, Reader, Sink};
use merganser_run::run_workers_collect;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};

/// The reader options of these tests.
pub(crate) type ReaderOptions = merganser_io::ReaderOptions<crate::Formats>;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Record {
    pub(crate) header: String,
    pub(crate) sequence: String,
    pub(crate) quality: Option<String>,
}

pub(crate) fn record(header: &str, sequence: &str, quality: Option<&str>) -> Record {
    Record { header: header.into(), sequence: sequence.into(), quality: quality.map(Into::into) }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r')
}

/// Parses valid FASTA or FASTQ line by line.
pub(crate) fn naive(bytes: &[u8]) -> Vec<Record> {
    let mut lines: Vec<String> = bytes
        .split(|&byte| byte == b'\n')
        .map(|line| text(line.strip_suffix(b"\r").unwrap_or(line)))
        .collect();
    while lines.last().is_some_and(String::is_empty) && !lines.len().is_multiple_of(4) {
        lines.pop();
    }
    if let Some(first) = lines.first_mut() {
        *first = first.trim_start_matches('\u{feff}').to_owned();
    }
    let is_before = |line: &String| line.trim().is_empty() || line.starts_with(';');
    let lines: Vec<String> = lines.into_iter().skip_while(is_before).collect();
    let mut records: Vec<Record> = Vec::new();
    if lines.first().is_some_and(|line| line.starts_with('@')) {
        for group in lines.chunks(4).filter(|group| !group[0].trim().is_empty()) {
            let quality = group.get(3).map_or("", String::as_str);
            let header = group[0][1..].trim_start_matches(is_blank);
            let sequence = group[1].trim_matches(is_blank);
            records.push(record(header, sequence, Some(quality.trim_end_matches(is_blank))));
        }
        return records;
    }
    for line in lines.into_iter().filter(|line| !line.starts_with(';')) {
        match line.strip_prefix('>') {
            Some(header) => records.push(record(header.trim_start_matches(is_blank), "", None)),
            None => {
                let last = records.last_mut().expect("a header comes first");
                last.sequence.extend(line.chars().filter(|letter| !is_blank(*letter)));
            }
        }
    }
    records
}

/// A sink that collects the pieces in the order in which one worker receives them.
#[derive(Default)]
pub(crate) struct Collector {
    pub(crate) records: Vec<Record>,
    /// The counts of the k-mers within pieces.
    pub(crate) kmers: BTreeMap<String, usize>,
    k: usize,
    piece: String,
    repeated: usize,
    open: bool,
}

impl Collector {
    pub(crate) fn new(k: usize) -> Self {
        Self { k, ..Self::default() }
    }
}

impl Sink for Collector {
    fn begin(&mut self, header: &[u8]) {
        assert!(!self.open, "begin within a record");
        self.open = true;
        self.repeated = 0;
        self.records.push(record(&text(header), "", None));
    }

    fn resume(&mut self) {
        assert!(!self.open, "resume within a record");
        self.open = true;
        if self.records.is_empty() {
            self.records.push(Record::default());
        }
    }

    fn repeated(&mut self, bases: usize) {
        self.repeated = bases;
    }

    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        assert!(self.open, "sequence outside of a record");
        assert!(!line.contains(&b'\n'));
        self.piece.push_str(&text(line));
        if let Some(quality) = quality {
            assert_eq!(line.len(), quality.len());
            self.records.last_mut().expect("begun").quality = Some(text(quality));
        }
    }

    fn end(&mut self) {
        assert!(self.open, "end outside of a record");
        self.open = false;
        let piece = std::mem::take(&mut self.piece);
        count_kmers(&piece, self.k, &mut self.kmers);
        let (again, new) = piece.split_at(self.repeated);
        let record = self.records.last_mut().expect("begun");
        assert!(record.sequence.ends_with(again), "{again} repeated after {record:?}");
        record.sequence.push_str(new);
    }
}

pub(crate) fn count_kmers(sequence: &str, k: usize, into: &mut BTreeMap<String, usize>) {
    let bytes = sequence.as_bytes();
    if k > 0 {
        for window in bytes.windows(k) {
            *into.entry(text(window)).or_default() += 1;
        }
    }
}

pub(crate) fn kmers_of(records: &[Record], k: usize) -> BTreeMap<String, usize> {
    let mut kmers = BTreeMap::new();
    for record in records {
        count_kmers(&record.sequence, k, &mut kmers);
    }
    kmers
}

pub(crate) fn options(chunk_bytes: usize, overlap: usize, workers: usize) -> ReaderOptions {
    ReaderOptions { chunk_bytes, overlap, workers, ..ReaderOptions::default() }
}

/// Reads everything with one worker.
pub(crate) fn read_alone(reader: &Reader, k: usize) -> Result<Collector, Error> {
    let (mut chunk, mut sink) = (Chunk::default(), Collector::new(k));
    let (mut records, mut bases) = (0, 0);
    while reader.next_chunk(&mut chunk)? {
        assert!(chunk.text_len() > 0);
        let stats = chunk.parse(&mut sink)?;
        records += stats.records;
        bases += stats.bases;
    }
    assert!(!reader.next_chunk(&mut chunk)?, "the end stays the end");
    assert_eq!(records, sink.records.len() as u64);
    assert_eq!(bases, sink.records.iter().map(|record| record.sequence.len() as u64).sum::<u64>());
    Ok(sink)
}

/// The results of several workers, independent of their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) headers: Vec<String>,
    pub(crate) bases: u64,
    pub(crate) kmers: BTreeMap<String, usize>,
}

impl Sums {
    pub(crate) fn of(records: &[Record], k: usize) -> Self {
        let mut headers: Vec<_> = records.iter().map(|record| record.header.clone()).collect();
        headers.sort();
        let bases = records.iter().map(|record| record.sequence.len() as u64).sum();
        Self { headers, bases, kmers: kmers_of(records, k) }
    }
}

struct Unordered {
    sums: Sums,
    piece: String,
    k: usize,
}

impl Sink for Unordered {
    fn begin(&mut self, header: &[u8]) {
        self.sums.headers.push(text(header));
    }

    fn resume(&mut self) {}

    fn sequence(&mut self, line: &[u8], _quality: Option<&[u8]>) {
        self.piece.push_str(&text(line));
    }

    fn end(&mut self) {
        count_kmers(&self.piece, self.k, &mut self.sums.kmers);
        self.piece.clear();
    }
}

pub(crate) fn read_together(reader: &Reader, workers: usize, k: usize) -> Result<Sums, Error> {
    let parts = run_workers_collect(workers, |_| {
        let mut chunk = Chunk::default();
        let mut sink = Unordered { sums: Sums::default(), piece: String::new(), k };
        while reader.next_chunk(&mut chunk)? {
            let stats = chunk.parse(&mut sink).inspect_err(|_| reader.stop())?;
            sink.sums.bases += stats.bases;
        }
        Ok(sink.sums)
    })
    .map_err(|error| reader.earliest_error(error))?;
    let mut all = Sums::default();
    for part in parts {
        all.headers.extend(part.headers);
        all.bases += part.bases;
        for (kmer, count) in part.kmers {
            *all.kmers.entry(kmer).or_default() += count;
        }
    }
    all.headers.sort();
    Ok(all)
}

/// A reader that returns a few bytes at a time, as a pipe may.
pub(crate) struct Dribble(pub(crate) Cursor<Vec<u8>>, pub(crate) usize);

impl Read for Dribble {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1 % 5 + 1;
        let most = buffer.len().min(self.1);
        self.0.read(&mut buffer[..most])
    }
}

pub(crate) fn reader_of(bytes: &[u8], options: ReaderOptions) -> Reader {
    let bytes = Dribble(Cursor::new(bytes.to_vec()), 0);
    Reader::from_readers(vec![("test".to_owned(), Box::new(bytes))], options)
}
