//! FastK's tables (`.ktab`, with its hidden parts) and histograms (`.hist`), as FastK of June 2025 writes them. Numbers are
//! little-endian; bases a c g t are 0 to 3, four a byte, the first one in the highest bits.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use merganser_seq::kmer::{Kmer, MAX_K};

use crate::Error;
use crate::description::{Description, Kind};
use crate::error::bad;
use crate::ranges::{self, RangeReader, Ranges, keep_range};

/// Bytes of the stub before its index: k, parts, least count, bytes of a prefix.
const STUB: u64 = 16;
/// Bytes of a part before its entries: k, how many.
const PART: u64 = 12;
/// Bytes of a count, and the largest one: what occurs more often stands as that.
const COUNT: usize = 2;
const LARGEST: u32 = 32_767;
/// Entries, of the index and of parts, that are read at once.
const AT_ONCE: u64 = 1 << 16;
/// Longer prefixes have no index that fits anywhere.
const MAX_PREFIX_BYTES: u32 = 4;

/// An open table. Nothing of it is in memory.
#[derive(Debug)]
pub(crate) struct FastK {
    path: PathBuf,
    stub: File,
    parts: Vec<TableFile>,
    k: usize,
    min_count: u32,
    prefix_bytes: u32,
    kmers: u64,
}

/// Some of the entries.
#[derive(Debug)]
struct TableFile {
    path: PathBuf,
    file: File,
    /// The number of its first entry, and of the one behind its last.
    from: u64,
    to: u64,
}

/// A number of 4 or 8 bytes, as FastK's files have them.
pub(crate) fn number(bytes: &[u8]) -> i64 {
    let value = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    if bytes.len() == 4 { i64::from(value as u32 as i32) } else { value as i64 }
}

impl FastK {
    /// Opens the table whose stub is at `path`.
    ///
    /// # Errors
    /// If the stub or a part cannot be read, or they are not what FastK writes.
    pub(crate) fn open(path: &Path) -> Result<FastK, Error> {
        let (stub, size) = open(path)?;
        let wrong = |what: &str| {
            bad(path, format!("{what}: it is no table of FastK, or damaged; make it again"))
        };
        let mut head = [0; STUB as usize];
        if size < STUB {
            return Err(wrong("it is truncated"));
        }
        stub.read_exact_at(&mut head, 0).map_err(|source| at(path, source))?;
        let [k, parts, min_count, prefix_bytes] = [0, 4, 8, 12].map(|at| number(&head[at..at + 4]));
        let fits = (1..=MAX_K as i64).contains(&k)
            && (1..=i64::from(u16::MAX)).contains(&parts)
            && min_count >= 0
            && (1..=i64::from(MAX_PREFIX_BYTES)).contains(&prefix_bytes)
            && 4 * prefix_bytes <= k;
        if !fits {
            return Err(wrong(&format!(
                "its header makes no sense (k {k}, {parts} parts, prefixes of {prefix_bytes} bytes)"
            )));
        }
        let prefix_bytes = prefix_bytes as u32;
        if size != STUB + (8u64 << (8 * prefix_bytes)) {
            return Err(wrong("its index has another size than it should"));
        }
        let mut table = FastK {
            path: path.to_owned(),
            stub,
            parts: Vec::new(),
            k: k as usize,
            min_count: (min_count as u32).max(1),
            prefix_bytes,
            kmers: 0,
        };
        for part in 1..=parts {
            table.add(&part_of(path, part))?;
        }
        let indexed = table.index((1 << (8 * prefix_bytes)) - 1, 1)?[1];
        if indexed != table.kmers {
            let found = table.kmers;
            return Err(wrong(&format!(
                "its index has {indexed} k-mers, and its parts have {found}"
            )));
        }
        Ok(table)
    }

    /// Opens the next part.
    fn add(&mut self, path: &Path) -> Result<(), Error> {
        let (file, size) = open(path)?;
        let again = "copy it again, or make the table again";
        if size < PART {
            return Err(bad(path, format!("is truncated: {again}")));
        }
        let mut head = [0; PART as usize];
        file.read_exact_at(&mut head, 0).map_err(|source| at(path, source))?;
        let (k, kmers) = (number(&head[..4]), number(&head[4..]));
        if k != self.k as i64 {
            let stub = self.path.display();
            return Err(bad(path, format!("its k is {k}, that of {stub} is {}: {again}", self.k)));
        }
        let entries = u64::try_from(kmers).ok();
        let bytes = entries.and_then(|entries| entries.checked_mul(self.entry_bytes() as u64));
        if bytes.and_then(|bytes| bytes.checked_add(PART)) != Some(size) {
            return Err(bad(
                path,
                format!("has {size} bytes, which are not those of {kmers} k-mers: {again}"),
            ));
        }
        let from = self.kmers;
        self.kmers += entries.unwrap_or(0);
        self.parts.push(TableFile { path: path.to_owned(), file, from, to: self.kmers });
        Ok(())
    }

    /// Bytes of an entry: what the prefix leaves of a k-mer, and its count.
    fn entry_bytes(&self) -> usize {
        self.k.div_ceil(4) - self.prefix_bytes as usize + COUNT
    }

    /// The stub and all parts.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let parts = self.parts.iter().map(|part| part.path.clone());
        std::iter::once(self.path.clone()).chain(parts).collect()
    }

    pub(crate) fn description(&self) -> Description {
        Description {
            min_count: self.min_count,
            kmers: Some(self.kmers),
            largest_count: Some(LARGEST),
            ..Description::unread(Kind::FastK, self.k, true)
        }
    }

    /// Where the k-mers of so many prefixes from `first` on begin, and where those of the last one end.
    fn index(&self, first: u64, prefixes: u64) -> Result<Vec<u64>, Error> {
        // An entry says where its prefix ends.
        let before = u64::from(first > 0);
        let mut bytes = vec![0; 8 * (prefixes + before) as usize];
        self.stub
            .read_exact_at(&mut bytes, STUB + 8 * (first - before))
            .map_err(|source| at(&self.path, source))?;
        let ends = bytes.chunks_exact(8).map(|entry| number(entry) as u64);
        let begin = (before == 0).then_some(0);
        let entries: Vec<u64> = begin.into_iter().chain(ends).collect();
        match entries.is_sorted() {
            true => Ok(entries),
            false => Err(self.damaged("its index does not rise")),
        }
    }

    fn damaged(&self, what: &str) -> Error {
        bad(&self.path, format!("{what}: the table is damaged; make it again"))
    }

    /// Replaces `bytes` by some entries, and zeros behind them.
    fn read(&self, from: u64, to: u64, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let entry = self.entry_bytes() as u64;
        bytes.clear();
        bytes.resize(((to - from) * entry) as usize + MAX_K, 0);
        for part in self.parts.iter().filter(|part| part.from < to && part.to > from) {
            let (first, last) = (from.max(part.from), to.min(part.to));
            let place = ((first - from) * entry) as usize..((last - from) * entry) as usize;
            part.file
                .read_exact_at(&mut bytes[place], PART + (first - part.from) * entry)
                .map_err(|source| at(&part.path, source))?;
        }
        Ok(())
    }

    /// The prefixes, from and up to, in which the k-mers of a range lie.
    fn prefixes<K: Kmer>(&self, prefix: K, bits: u32) -> (u64, u64) {
        ranges::prefixes(8 * self.prefix_bytes, prefix, bits)
    }

    /// Checks all that can be wrong: what is read in order is.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        merganser_seq::with_kmer!(self.k, K => {
            let mut kmers = Vec::<(K, u32)>::new();
            let mut reader = FastKReader { table: self, bytes: Vec::new() };
            (0..256).try_for_each(|byte| reader.read(K::from_low(byte), 8, &mut kmers))
        })
    }
}

/// The file of a part: hidden, beside the stub.
fn part_of(stub: &Path, number: i64) -> PathBuf {
    let name = stub.file_name().unwrap_or_default().to_string_lossy();
    stub.with_file_name(format!(".{name}.{number}"))
}

fn open(path: &Path) -> Result<(File, u64), Error> {
    let file = merganser_io::open_file(path).map_err(|source| at(path, source))?;
    let size = file.metadata().map_err(|source| at(path, source))?.len();
    Ok((file, size))
}

fn at(path: &Path, source: std::io::Error) -> Error {
    Error::File { path: path.to_owned(), source }
}

/// A table by ranges.
pub(crate) struct FastKRanges<'t>(pub(crate) &'t FastK);

impl<K: Kmer> Ranges<K> for FastKRanges<'_> {
    fn kmers(&self) -> u64 {
        self.0.kmers
    }

    fn largest_count(&self) -> u32 {
        LARGEST
    }

    fn reader(&self) -> Box<dyn RangeReader<K> + '_> {
        Box::new(FastKReader { table: self.0, bytes: Vec::new() })
    }
}

struct FastKReader<'t> {
    table: &'t FastK,
    bytes: Vec<u8>,
}

impl<K: Kmer> RangeReader<K> for FastKReader<'_> {
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error> {
        let (from, to) = self.table.prefixes(prefix, bits);
        let begin = self.table.index(from, 1)?[0];
        let end = self.table.index(to - 1, 1)?[1];
        match end.checked_sub(begin) {
            Some(kmers) => Ok(kmers),
            None => Err(self.table.damaged("its index does not rise")),
        }
    }

    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        let table = self.table;
        kmers.clear();
        let (mut from, to) = table.prefixes(prefix, bits);
        while from < to {
            let prefixes = (to - from).min(AT_ONCE);
            let index = table.index(from, prefixes)?;
            self.entries(from, &index, kmers)?;
            from += prefixes;
        }
        keep_range(kmers, table.k, prefix, bits);
        Ok(())
    }
}

impl FastKReader<'_> {
    /// Appends the k-mers between the entries of an index that begins with the prefix `first`.
    fn entries<K: Kmer>(
        &mut self,
        first: u64,
        index: &[u64],
        kmers: &mut Vec<(K, u32)>,
    ) -> Result<(), Error> {
        let table = self.table;
        let (mut at, end) = (index[0], index[index.len() - 1]);
        if end > table.kmers {
            return Err(table.damaged("its index goes beyond its parts"));
        }
        let entry = table.entry_bytes();
        let (prefix_bytes, suffix_bytes) = (table.prefix_bytes as usize, entry - COUNT);
        // As long as the widest k-mer is read, whatever k.
        let mut packed = [0; 2 * MAX_K];
        let mut place = 0;
        while at < end {
            let to = end.min(at + AT_ONCE);
            table.read(at, to, &mut self.bytes)?;
            for bytes in self.bytes.chunks_exact(entry).take((to - at) as usize) {
                while index[place + 1] <= at {
                    place += 1;
                }
                let prefix = (first + place as u64).to_be_bytes();
                packed[..prefix_bytes].copy_from_slice(&prefix[8 - prefix_bytes..]);
                packed[prefix_bytes..prefix_bytes + suffix_bytes]
                    .copy_from_slice(&bytes[..suffix_bytes]);
                let kmer = K::from_packed(&packed, table.k);
                let count =
                    u32::from(bytes[suffix_bytes]) | u32::from(bytes[suffix_bytes + 1]) << 8;
                table.check(kmer, count, kmers.last())?;
                kmers.push((kmer, count));
                at += 1;
            }
        }
        Ok(())
    }
}

impl FastK {
    /// Sees to it that an entry makes sense, and comes behind the one before.
    fn check<K: Kmer>(&self, kmer: K, count: u32, before: Option<&(K, u32)>) -> Result<(), Error> {
        if !(1..=LARGEST).contains(&count) {
            return Err(self.damaged(&format!("a k-mer has count {count}")));
        }
        if before.is_some_and(|&(before, _)| before >= kmer) {
            return Err(self.damaged("its k-mers do not rise"));
        }
        if kmer > kmer.reverse_complement(self.k) {
            return Err(bad(
                &self.path,
                "it has k-mers that are larger than their reverse complements (Symmex writes both): give FastK's own table",
            ));
        }
        Ok(())
    }
}
