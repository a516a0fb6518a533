//! Reads files of Jellyfish, whose k-mers are in the order of any hash.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use merganser_run::Cancel;
use merganser_seq::kmer::{Kmer, MAX_K};
use merganser_seq::with_kmer;

use super::header::{DIGITS, FORMAT, Header};
use crate::Error;
use crate::description::{Description, Kind};
use crate::error::bad;
use crate::gathered::Gathered;

/// The largest accepted header in bytes. Most of it is the command line, which has the names of all inputs.
const MAX_HEADER: u64 = 1 << 24;
/// The largest size of a count in bytes.
const MAX_COUNT_BYTES: usize = 8;
/// The number of records that are read at a time.
const BATCH: u64 = 1 << 14;

/// A file of Jellyfish whose header has been read.
#[derive(Debug)]
pub(crate) struct Jf {
    path: PathBuf,
    header: Header,
    k: usize,
    /// The offset of the first record.
    start: u64,
    /// The number of records.
    records: u64,
}

impl Jf {
    pub(crate) fn open(path: &Path) -> Result<Jf, Error> {
        let mut file = merganser_io::open_file(path).map_err(|source| at(path, source))?;
        let length = file.metadata().map_err(|source| at(path, source))?.len();
        let (header, start) = read_header(path, &mut file)?;
        check(path, &header)?;
        let record = (header.key_len.div_ceil(8) + header.counter_len) as u64;
        let bytes = length.saturating_sub(start);
        if start > length || !bytes.is_multiple_of(record) {
            return Err(bad(path, "truncated: it ends within a record; copy it again"));
        }
        let k = header.key_len / 2;
        Ok(Jf { path: path.to_owned(), header, k, start, records: bytes / record })
    }

    pub(crate) fn description(&self) -> Description {
        // The number of k-mers is unknown: those with count 0 are skipped.
        Description::unread(Kind::Jellyfish, self.k, self.header.canonical)
    }

    pub(crate) fn gather<'p, K: Kmer>(
        &self,
        gathered: Gathered<'p, K>,
        cancel: &Cancel,
    ) -> Result<Gathered<'p, K>, Error> {
        let mut writer = gathered.writer();
        self.each::<K>(cancel, |kmer, count| match count {
            // k-mers of `jellyfish count --if` that no read has.
            0 => Ok(()),
            _ => writer.add(kmer, count),
        })?;
        writer.finish()?;
        Ok(gathered.gathered())
    }

    /// Checks that the k-mers are in the order of the hash, canonical if the header says so, and have counts.
    ///
    /// # Errors
    /// If a check fails, the file cannot be read, or the run was cancelled ([`Error::Cancelled`]).
    pub(crate) fn verify(&self, cancel: &Cancel) -> Result<(), Error> {
        with_kmer!(self.k, K => self.verify_as::<K>(cancel))
    }

    fn verify_as<K: Kmer>(&self, cancel: &Cancel) -> Result<(), Error> {
        let hash = self.header.hash();
        let hash = hash.ok_or_else(|| self.damaged("its header has an inconsistent matrix"))?;
        // These options keep k-mers that no read has.
        let has_zeros = self.header.cmdline.iter().any(|word| word.starts_with("--if"));
        let mut last = None;
        self.each::<K>(cancel, |kmer, count| {
            let place = (hash.of(kmer), kmer);
            if last.is_some_and(|last| last >= place) {
                return Err(self.damaged("its k-mers are not in the order of its hash"));
            }
            last = Some(place);
            if self.header.canonical && kmer.reverse_complement(self.k) < kmer {
                return Err(self.damaged("a k-mer is larger than its reverse complement"));
            }
            if count == 0 && !has_zeros {
                return Err(self.damaged("a count of 0, which readers skip"));
            }
            Ok(())
        })
    }

    /// Calls `take` with each k-mer and its count.
    fn each<K: Kmer>(
        &self,
        cancel: &Cancel,
        mut take: impl FnMut(K, u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut file = File::open(&self.path).map_err(|source| at(&self.path, source))?;
        file.seek(SeekFrom::Start(self.start)).map_err(|source| at(&self.path, source))?;
        let (key, count) = (self.header.key_len.div_ceil(8), self.header.counter_len);
        let mask = K::mask(self.k);
        let mut bytes = Vec::new();
        for first in (0..self.records).step_by(BATCH as usize) {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            bytes.resize(BATCH.min(self.records - first) as usize * (key + count), 0);
            file.read_exact(&mut bytes).map_err(|source| at(&self.path, source))?;
            for record in bytes.chunks_exact(key + count) {
                let (kmer, count) = record.split_at(key);
                let kmer: K = load(kmer);
                if kmer.and(mask) != kmer {
                    return Err(self.damaged("a k-mer has more bases than its header says"));
                }
                let count = count.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
                let Ok(count) = u32::try_from(count) else {
                    let reason = format!("a count of {count}: counts can be at most {}", u32::MAX);
                    return Err(bad(&self.path, reason));
                };
                take(kmer, count)?;
            }
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> Error {
        bad(&self.path, format!("damaged: {what}; make it again"))
    }
}

/// Reads a k-mer without the zero bytes at its end.
#[inline(always)]
fn load<K: Kmer>(bytes: &[u8]) -> K {
    let mut whole = [0; MAX_K / 4];
    whole[..bytes.len()].copy_from_slice(bytes);
    K::load(&whole[..K::BYTES])
}

/// Reads the header, and returns it with its end.
fn read_header(path: &Path, file: &mut File) -> Result<(Header, u64), Error> {
    let wrong = |what: &str| bad(path, format!("damaged: {what}; copy it again, or make it again"));
    let mut stream = BufReader::new(file);
    let mut digits = [0; DIGITS];
    stream.read_exact(&mut digits).map_err(|source| at(path, source))?;
    let length = std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse().ok());
    let length: u64 = length.ok_or_else(|| wrong("its header has no length"))?;
    if length > MAX_HEADER {
        return Err(wrong("its header is too long"));
    }
    let mut json = Vec::new();
    stream.take(length).read_to_end(&mut json).map_err(|source| at(path, source))?;
    if (json.len() as u64) < length {
        return Err(at(path, io::ErrorKind::UnexpectedEof.into()));
    }
    let end = json.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let header = serde_json::from_slice(&json[..end]);
    Ok((header.map_err(|_| wrong("its header cannot be read"))?, DIGITS as u64 + length))
}

/// Checks the parameters of a header.
fn check(path: &Path, header: &Header) -> Result<(), Error> {
    if header.format != FORMAT {
        let format = header.format.chars().take(40).collect::<String>();
        let remedy = match &format[..] {
            "bloomcounter" => "it has no k-mers; give the file of jellyfish count",
            _ => "convert it to text with jellyfish dump -c",
        };
        return Err(bad(path, format!("its format is {format:?}, and not {FORMAT:?}: {remedy}")));
    }
    let Header { key_len, counter_len, .. } = *header;
    if key_len > 2 * MAX_K {
        return Err(bad(path, format!("its k is {}: k can be at most {MAX_K}", key_len / 2)));
    }
    let sound = key_len > 0 && key_len.is_multiple_of(2);
    if !sound || !(1..=MAX_COUNT_BYTES).contains(&counter_len) {
        let what = "its header is inconsistent";
        let reason = format!("damaged: {what}: key_len {key_len}, counter_len {counter_len}");
        return Err(bad(path, reason));
    }
    Ok(())
}

fn at(path: &Path, source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::UnexpectedEof {
        return bad(path, "truncated: the file ends before it is complete; copy it again");
    }
    Error::File { path: path.to_owned(), source }
}
