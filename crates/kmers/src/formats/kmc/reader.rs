//! Reads KMC databases. Version 0 is sorted on disk. Version 0x200 consists of sorted bins, which are merged
//! range by range; the k-mers of the largest databases are gathered instead.

mod counts;
mod merged;
mod scan;
mod verify;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use merganser_run::{Cancel, each};
use merganser_seq::kmer::{Kmer, MAX_K};

use super::names;
use crate::Error;
use crate::description::{Description, Kind};
use crate::error::bad;
use crate::formats::is_no_folder;
use crate::gathered::Gathered;
use crate::ranges::{self, RangeReader, Ranges, ends};
use merged::{Index, MergedRanges};
use scan::{Before, is_rising};

/// The size of the end of the prefix file: version, offset of the header, marker.
const END: u64 = 12;
/// The length limit of signatures in bases; the longest one that KMC supports has 11.
const MAX_SIGNATURE: u32 = 12;

/// An open database. Only the look-up tables of bins are in memory.
#[derive(Debug)]
pub struct Database {
    names: [PathBuf; 2],
    prefixes: File,
    suffixes: File,
    header: Header,
    /// The look-up tables of bins that are merged.
    index: Option<Index>,
}

#[derive(Clone, Copy, Debug)]
struct Header {
    k: usize,
    count_bytes: usize,
    prefix_bases: usize,
    min_count: u32,
    max_count: u32,
    kmers: u64,
    canonical: bool,
    /// The number of bins; 1 for version 0.
    bins: u64,
    sorted: bool,
    /// The offset of the number of all records after the look-up table, if it exists.
    guard: Option<u64>,
    /// In version 0x200, the offset of the map from signatures to bins, and the length of a signature in bases.
    signatures: Option<(u64, usize)>,
}

impl Header {
    /// Returns the count of the record at the start of `bytes`, which must extend beyond it; `None` if the
    /// count is outside the bounds of the header, which KMC and kmc_tools never write.
    #[inline(always)]
    fn count(&self, bytes: &[u8]) -> Option<u32> {
        let suffix = (self.k - self.prefix_bases) / 4;
        let mask = u32::MAX.checked_shr(32 - 8 * self.count_bytes as u32).unwrap_or(0);
        let count = match self.count_bytes {
            0 => 1,
            _ => u32::load(&bytes[suffix..]) & mask,
        };
        ((self.min_count..=self.max_count).contains(&count) && count > 0).then_some(count)
    }
}

impl Database {
    /// Returns the name without suffix of the database at `path`, which is the name of either of its files or
    /// the name without suffix; `None` if there is no such database.
    pub fn stem(path: &Path) -> Option<PathBuf> {
        let suffixed = path.extension().is_some_and(|end| end == "kmc_pre" || end == "kmc_suf");
        let stem = if suffixed { path.with_extension("") } else { path.to_owned() };
        let is_there = !path.is_file() || suffixed;
        (is_there && names(&stem).iter().any(|name| is_no_folder(name))).then_some(stem)
    }

    /// Returns the files of the database with this name, whether or not they exist: the file of prefixes and
    /// the file of suffixes.
    pub fn files(stem: &Path) -> [PathBuf; 2] {
        names(stem)
    }

    /// Opens the database with this name.
    ///
    /// # Errors
    /// If a file cannot be read, or is not a file of KMC or kmc_tools.
    pub fn open(stem: &Path) -> Result<Database, Error> {
        let names = names(stem);
        let open = |path: &PathBuf| {
            merganser_io::open_file(path)
                .map_err(|source| Error::File { path: path.clone(), source })
        };
        let (prefixes, suffixes) = (open(&names[0])?, open(&names[1])?);
        let header = read_header(&names, &prefixes, &suffixes)?;
        let mut database = Database { names, prefixes, suffixes, header, index: None };
        database.index = Index::read(&database)?;
        Ok(database)
    }

    /// Returns the names of the two files.
    pub fn names(&self) -> &[PathBuf; 2] {
        &self.names
    }

    /// Whether the k-mers can be read in ascending order, range by range.
    pub(crate) fn is_sorted(&self) -> bool {
        self.header.sorted || self.index.is_some()
    }

    /// Returns the memory in bytes while `threads` workers read the database.
    pub(crate) fn resident(&self, threads: u64) -> u64 {
        self.index.as_ref().map_or(0, |index| index.bytes(self.header.k, threads))
    }

    /// Returns the k-mers of a database that [is sorted](Self::is_sorted).
    pub(crate) fn ranges<K: Kmer>(&self) -> Box<dyn Ranges<K> + '_> {
        match &self.index {
            Some(index) => Box::new(MergedRanges { database: self, index }),
            None => Box::new(KmcRanges(self)),
        }
    }

    pub(crate) fn description(&self) -> Description {
        let header = &self.header;
        let widest = u32::MAX >> (32 - 8 * header.count_bytes.max(1) as u32);
        let widest = if header.count_bytes == 0 { 1 } else { widest };
        Description {
            kind: if header.sorted { Kind::Kmc1 } else { Kind::Kmc2 },
            k: header.k,
            canonical: header.canonical,
            homopolymer_compressed: false,
            min_count: header.min_count.max(1),
            max_count: header.max_count,
            kmers: Some(header.kmers),
            largest_count: Some(widest.min(header.max_count)),
            header: None,
        }
    }

    fn record_bytes(&self) -> usize {
        (self.header.k - self.header.prefix_bases) / 4 + self.header.count_bytes
    }

    /// Returns the entries `from` to `to` (inclusive) of the look-up table of a bin: numbers of records.
    fn entries(&self, bin: u64, from: u64, to: u64) -> Result<Vec<u64>, Error> {
        let prefixes = 1u64 << (2 * self.header.prefix_bases);
        let first = bin * prefixes + from;
        let last = bin * prefixes + to;
        let all = self.header.bins * prefixes;
        // Version 0 may have no entry after the last prefix.
        let guarded = last == all;
        let number = (last - first) as usize + usize::from(!guarded);
        let mut bytes = vec![0; 8 * number];
        self.prefixes
            .read_exact_at(&mut bytes, 4 + 8 * first)
            .map_err(|source| self.io(0, source))?;
        let mut entries: Vec<u64> = bytes.chunks_exact(8).map(u64::load).collect();
        if guarded {
            entries.push(self.header.kmers);
        }
        let sound =
            entries.is_sorted() && entries.last().is_none_or(|&last| last <= self.header.kmers);
        if sound { Ok(entries) } else { Err(self.damaged("its look-up table is inconsistent")) }
    }

    fn io(&self, file: usize, source: std::io::Error) -> Error {
        Error::File { path: self.names[file].clone(), source }
    }

    fn damaged(&self, what: &str) -> Error {
        bad(&self.names[0], format!("{what}: the database is damaged; make it again"))
    }

    /// Returns the number of the first record among the ordered records `all` of a prefix for whose k-mer
    /// `before` is false.
    fn before<K: Kmer>(
        &self,
        prefix: u64,
        all: (u64, u64),
        before: impl Fn(K) -> bool,
    ) -> Result<u64, Error> {
        let bases = self.header.k - self.header.prefix_bases;
        let high = K::from_low(prefix).shl(2 * bases as u32);
        let (mut low, mut end) = all;
        let mut bytes = [0; 40];
        while low < end {
            let middle = low.midpoint(end);
            let record = self.record_bytes();
            self.suffixes
                .read_exact_at(&mut bytes[..record], 4 + middle * record as u64)
                .map_err(|source| self.io(1, source))?;
            match before(high.or(suffix(&bytes, bases))) {
                true => low = middle + 1,
                false => end = middle,
            }
        }
        Ok(low)
    }

    /// Gathers the k-mers of all bins.
    pub(crate) fn gather<'p, K: Kmer>(
        &self,
        gathered: Gathered<'p, K>,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Gathered<'p, K>, Error> {
        each(threads, 0..self.header.bins as usize, cancel, |bins| {
            let mut writer = gathered.writer();
            let mut bytes = Vec::new();
            for bin in bins {
                let entries = self.entries(bin as u64, 0, 1 << (2 * self.header.prefix_bases))?;
                let mut before = Before::new(entries[0]);
                self.scan::<K>(&entries, 0, &mut bytes, |kmer, count| {
                    before.check(self, kmer)?;
                    writer.add(kmer, count)
                })?;
            }
            writer.finish()
        })?;
        Ok(gathered.gathered())
    }

    /// Returns the half-open range of prefixes that contains a range of k-mers.
    fn prefixes<K: Kmer>(&self, prefix: K, bits: u32) -> (u64, u64) {
        ranges::prefixes(2 * self.header.prefix_bases as u32, prefix, bits)
    }
}

/// Returns the last `bases` bases of a k-mer, with which a record begins.
#[inline(always)]
fn suffix<K: Kmer>(bytes: &[u8], bases: usize) -> K {
    if bases == 0 { K::default() } else { K::from_packed(bytes, bases) }
}

/// The bytes of a header.
struct RawHeader {
    version: u32,
    bytes: Vec<u8>,
    /// The offset of the header.
    at: u64,
    /// The size of the suffix file, in bytes.
    suffix_size: u64,
}

/// Reads the header and checks the markers of both files.
fn read_raw_header(
    names: &[PathBuf; 2],
    prefixes: &File,
    suffixes: &File,
) -> Result<RawHeader, Error> {
    let io = |file: usize| {
        let path = names[file].clone();
        move |source| Error::File { path, source }
    };
    let size = prefixes.metadata().map_err(io(0))?.len();
    let suffix_size = suffixes.metadata().map_err(io(1))?.len();
    let none = || not_kmc(&names[0]);
    // A file that is too short is not a database; other errors of reading say nothing about the format.
    let read = |file: usize, bytes: &mut [u8], at: u64| {
        let read = [prefixes, suffixes][file].read_exact_at(bytes, at);
        read.map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => none(),
            _ => io(file)(error),
        })
    };
    let mut end = [0; END as usize];
    read(0, &mut end, size.saturating_sub(END))?;
    let (version, offset) = (u32::load(&end), u64::from(u32::load(&end[4..]) & 0xff));
    let at = size.checked_sub(offset + 8).filter(|_| offset >= 64).ok_or_else(none)?;
    let marked = |file: usize, at: u64, marker: &[u8; 4]| {
        let mut bytes = [0; 4];
        read(file, &mut bytes, at).map(|()| bytes == *marker)
    };
    let all_marked = marked(0, 0, b"KMCP")?
        && marked(0, size - 4, b"KMCP")?
        && marked(1, 0, b"KMCS")?
        && marked(1, suffix_size.saturating_sub(4), b"KMCS")?;
    if !all_marked || ![0, 0x200].contains(&version) {
        return Err(none());
    }
    let mut bytes = vec![0; offset as usize];
    read(0, &mut bytes, at)?;
    Ok(RawHeader { version, bytes, at, suffix_size })
}

fn not_kmc(name: &Path) -> Error {
    bad(name, "not a KMC database, or a truncated one: make it again")
}

/// Parses the header, and checks everything that later reads rely on.
fn read_header(names: &[PathBuf; 2], prefixes: &File, suffixes: &File) -> Result<Header, Error> {
    let raw = read_raw_header(names, prefixes, suffixes)?;
    let RawHeader { version, bytes: header, at, suffix_size } = raw;
    let none = || not_kmc(&names[0]);
    let number = |place: usize| u32::load(&header[4 * place..]);
    // Version 0x200 has the length of signatures before the bounds of counts.
    let more = usize::from(version != 0);
    let total = 24 + 4 * more;
    let kmers = u64::load(&header[total..]);
    let (k, prefix_bases) = (number(0) as usize, number(3) as usize);
    let (count_bytes, quality_mode) = (number(2) as usize, number(1) != 0);
    if quality_mode {
        return Err(bad(
            &names[0],
            "its counts are sums of qualities (kmc -q): run kmc without -q",
        ));
    }
    let legal = (1..=15.min(k)).contains(&prefix_bases)
        && k <= MAX_K
        && (k - prefix_bases).is_multiple_of(4)
        && count_bytes <= 4
        && (more == 0 || number(4) <= MAX_SIGNATURE);
    if k > MAX_K {
        return Err(bad(&names[0], format!("its k is {k}: k can be at most {MAX_K}")));
    }
    let table = 8u64 << (2 * prefix_bases.min(15));
    let signatures =
        if more == 1 { 4 * ((1u64 << (2 * number(4).min(MAX_SIGNATURE))) + 1) } else { 0 };
    let tables = at.checked_sub(4 + signatures + 8 * more as u64).ok_or_else(none)?;
    let bins = if more == 1 { tables / table } else { 1 };
    let record = (k.saturating_sub(prefix_bases) / 4 + count_bytes) as u64;
    let whole =
        kmers.checked_mul(record).and_then(|bytes| bytes.checked_add(8)) == Some(suffix_size);
    // kmc_tools may omit the last entry, which its readers add.
    let tables_fit = tables == bins * table || (more == 0 && tables == table + 8);
    if !(legal && whole && tables_fit && bins > 0) {
        return Err(none());
    }
    let behind = 4 + bins * table;
    let high = if more == 0 { u32::load(&header[36..]) } else { 0 };
    Ok(Header {
        k,
        count_bytes,
        prefix_bases,
        min_count: number(4 + more),
        max_count: if high > 0 { u32::MAX } else { number(5 + more) },
        kmers,
        canonical: header[total + 8] == 0,
        bins,
        sorted: more == 0,
        guard: (tables + 8 * more as u64 > bins * table).then_some(behind),
        signatures: (more == 1).then_some((behind + 8, number(4) as usize)),
    })
}

/// The ranges of a database of version 0.
struct KmcRanges<'t>(&'t Database);

impl<K: Kmer> Ranges<K> for KmcRanges<'_> {
    fn kmers(&self) -> u64 {
        self.0.header.kmers
    }

    fn largest_count(&self) -> u32 {
        self.0.description().largest_count.unwrap_or(u32::MAX)
    }

    fn reader(&self) -> Box<dyn RangeReader<K> + '_> {
        Box::new(KmcReader { database: self.0, bytes: Vec::new(), entries: Vec::new() })
    }
}

struct KmcReader<'t> {
    database: &'t Database,
    bytes: Vec<u8>,
    /// The numbers of the first records of the range's prefixes, followed by the end of the last prefix.
    entries: Vec<u64>,
}

impl KmcReader<'_> {
    /// Puts the numbers of the records of a range into `entries`, and returns the first prefix. The records of
    /// a part of a prefix are found by binary search.
    fn find<K: Kmer>(&mut self, prefix: K, bits: u32) -> Result<u64, Error> {
        let (database, k) = (self.database, self.database.header.k);
        let (from, to) = database.prefixes(prefix, bits);
        self.entries = database.entries(0, from, to)?;
        if bits > 2 * database.header.prefix_bases as u32 {
            let (first, last) = ends::<K>(k, prefix, bits);
            let all = (self.entries[0], self.entries[1]);
            let start = database.before::<K>(from, all, |kmer| kmer < first)?;
            let end = database.before::<K>(from, (start, all.1), |kmer| kmer <= last)?;
            self.entries = vec![start, end];
        }
        Ok(from)
    }
}

impl<K: Kmer> RangeReader<K> for KmcReader<'_> {
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error> {
        self.find(prefix, bits)?;
        Ok(self.entries[self.entries.len() - 1] - self.entries[0])
    }

    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        kmers.clear();
        let database = self.database;
        let from = self.find(prefix, bits)?;
        kmers.reserve((self.entries[self.entries.len() - 1] - self.entries[0]) as usize);
        database.scan::<K>(&self.entries, from, &mut self.bytes, |kmer, count| {
            kmers.push((kmer, count));
            Ok(())
        })?;
        // If records are not sorted, the search may have returned records outside the range.
        let (first, last) = ends::<K>(database.header.k, prefix, bits);
        let within = kmers.first().is_none_or(|entry| first <= entry.0)
            && kmers.last().is_none_or(|entry| entry.0 <= last);
        if !within || !is_rising(kmers) {
            return Err(database.damaged("its k-mers are out of order"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a file with the given bytes at its ends and zeros between them.
    fn sparse(path: &Path, bytes: u64, start: &[u8], end: &[u8]) {
        let file = File::create(path).unwrap();
        file.set_len(bytes).unwrap();
        file.write_all_at(start, 0).unwrap();
        file.write_all_at(end, bytes - end.len() as u64).unwrap();
    }

    #[test]
    fn signatures_longer_than_any_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let stem = directory.path().join("t");
        let names = names(&stem);
        let open = |signature: u32| {
            // k, no qualities, bytes of a count, bases of a prefix.
            let mut header: Vec<u8> = [5, 0, 1, 1, signature, 1, 9].map(u32::to_le_bytes).concat();
            header.resize(60, 0);
            header.extend([0x200u32, 64].map(u32::to_le_bytes).concat());
            header.extend(b"KMCP");
            // The table of one bin, the number of records, and a bin for each signature of 12 bases.
            let tables = 8 * 4 + 8 + 4 * ((1 << 24) + 1);
            sparse(&names[0], 4 + tables + header.len() as u64, b"KMCP", &header);
            sparse(&names[1], 8, b"KMCS", b"KMCS");
            Database::open(&stem).and_then(|database| database.verify(1, &Cancel::default()))
        };
        for signature in [13, 31, 32, u32::MAX] {
            let error = open(signature).unwrap_err().to_string();
            assert!(error.contains("not a KMC database"), "{signature}: {error}");
        }
    }
}
