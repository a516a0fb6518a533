//! FastK's tables (`.ktab`, with their hidden parts) and histograms (`.hist`), as FastK of June 2025 writes
//! them. Numbers are little-endian; the bases a c g t are 0 to 3, four in a byte, the first one in the highest
//! bits.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use merganser_seq::kmer::{Kmer, MAX_K};

use crate::Error;
use crate::description::{Description, Kind};
use crate::error::bad;
use crate::ranges::{self, RangeReader, Ranges, keep_range};

/// The size of the stub before its index: k, number of parts, least count, bytes of a prefix.
const STUB: u64 = 16;
/// The size of the header of a part: k, number of entries.
const PART: u64 = 12;
/// The size of a count in bytes.
const COUNT: usize = 2;
/// The largest count; k-mers that occur more often have this one, too.
const LARGEST: u32 = 32_767;
/// The number of entries, of the index or of parts, that are read at a time.
const AT_ONCE: u64 = 1 << 16;
/// The length limit of prefixes, in bytes. The index of longer ones would be too large for any memory.
const MAX_PREFIX_BYTES: u32 = 4;

/// An open table; neither its index nor its entries are in memory.
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

/// A part file with some of the entries.
#[derive(Debug)]
struct TableFile {
    path: PathBuf,
    file: File,
    /// The number of the first entry.
    from: u64,
    /// The number of the entry after the last one.
    to: u64,
}

/// Converts a number of 4 or 8 bytes from FastK's files.
pub(crate) fn number(bytes: &[u8]) -> i64 {
    let value = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    if bytes.len() == 4 { i64::from(value as u32 as i32) } else { value as i64 }
}

impl FastK {
    /// Opens the table whose stub is at `path`.
    ///
    /// # Errors
    /// If the stub or a part cannot be read or is not valid.
    pub(crate) fn open(path: &Path) -> Result<FastK, Error> {
        let (stub, size) = open(path)?;
        let wrong = |what: &str| {
            bad(path, format!("{what}: it is not a table of FastK, or damaged; make it again"))
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
                "its header is inconsistent (k {k}, {parts} parts, prefixes of {prefix_bytes} bytes)"
            )));
        }
        let prefix_bytes = prefix_bytes as u32;
        if size != STUB + (8u64 << (8 * prefix_bytes)) {
            return Err(wrong("its index has the wrong size"));
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
                "its index has {indexed} k-mers, but its parts have {found}"
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
                format!("has {size} bytes, which do not fit {kmers} k-mers: {again}"),
            ));
        }
        let from = self.kmers;
        self.kmers += entries.unwrap_or(0);
        self.parts.push(TableFile { path: path.to_owned(), file, from, to: self.kmers });
        Ok(())
    }

    /// Returns the size of an entry in bytes: the rest of a k-mer after its prefix, and its count.
    fn entry_bytes(&self) -> usize {
        self.k.div_ceil(4) - self.prefix_bytes as usize + COUNT
    }

    /// Returns the paths of the stub and of all parts.
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

    /// Returns the numbers of the first entries of `prefixes` prefixes from `first` on, followed by the end of
    /// the last one.
    fn index(&self, first: u64, prefixes: u64) -> Result<Vec<u64>, Error> {
        // The index has the end of each prefix.
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
            false => Err(self.damaged("its index is not ascending")),
        }
    }

    fn damaged(&self, what: &str) -> Error {
        bad(&self.path, format!("{what}: the table is damaged; make it again"))
    }

    /// Replaces `bytes` by the entries from `from` to `to`, followed by zeros.
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

    /// Returns the half-open range of prefixes that contains a range of k-mers.
    fn prefixes<K: Kmer>(&self, prefix: K, bits: u32) -> (u64, u64) {
        ranges::prefixes(8 * self.prefix_bytes, prefix, bits)
    }

    /// Checks the whole table by reading its k-mers in ascending order.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        merganser_seq::with_kmer!(self.k, K => {
            let mut kmers = Vec::<(K, u32)>::new();
            let mut reader = FastKReader { table: self, bytes: Vec::new() };
            (0..256).try_for_each(|byte| reader.read(K::from_low(byte), 8, &mut kmers))
        })
    }
}

/// Returns the path of a part: a hidden file in the same folder as the stub.
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

/// A table that is read by ranges.
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
            None => Err(self.table.damaged("its index is not ascending")),
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
        // Long enough for the widest k-mer, since reading one does not depend on k.
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
    /// Checks that an entry is valid and greater than the previous one.
    fn check<K: Kmer>(&self, kmer: K, count: u32, before: Option<&(K, u32)>) -> Result<(), Error> {
        if !(1..=LARGEST).contains(&count) {
            return Err(self.damaged(&format!("a k-mer has count {count}")));
        }
        if before.is_some_and(|&(before, _)| before >= kmer) {
            return Err(self.damaged("its k-mers are not ascending"));
        }
        if kmer > kmer.reverse_complement(self.k) {
            return Err(bad(
                &self.path,
                "it has k-mers that are larger than their reverse complements (Symmex writes both): give the table that FastK wrote",
            ));
        }
        Ok(())
    }
}
