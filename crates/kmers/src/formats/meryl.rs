//! meryl's databases (`NAME.meryl`, a folder), as meryl 1.4 writes them: an index, and 2^f data files. Each
//! data file has the k-mers whose codes begin with its f bits, in one block for each prefix. meryl's codes are
//! A C T G = 0 1 2 3, and of a k-mer and its reverse complement it stores the one that is smaller in that
//! order. Merganser's order differs, so the k-mers are gathered.

mod bits;

use std::path::{Path, PathBuf};

use merganser_run::{Cancel, each};
use merganser_seq::kmer::Kmer;

use crate::description::{Description, Kind};
use crate::error::bad;
use crate::formats::is_no_folder;
use crate::gathered::{Gathered, Gathering};
use crate::{Error, Histogram};
use bits::{Bits, Objects};

/// The largest k of meryl.
const MAX_K: u32 = 64;
/// The first bytes of an index, which are followed by its version.
const INDEX: &[u8; 15] = b"merylIndex__v.0";
/// The first bytes of a block of data.
const DATA: &[u8; 16] = b"merylDataFile00\n";
/// The flag of an index with k-mers that occur more than once.
const MULTISET: u64 = 1;
/// The largest accepted number of bits that select a data file.
const MAX_FILE_BITS: u32 = 10;

/// An open database. Only its histogram is in memory.
#[derive(Debug)]
pub(crate) struct Meryl {
    path: PathBuf,
    files: Vec<PathBuf>,
    k: usize,
    prefix_bits: u32,
    file_bits: u32,
    canonical: bool,
    kmers: u64,
    /// The histogram, which version 3 of the index has.
    histogram: Option<Histogram>,
    /// The size of the largest block, in bytes.
    largest_block: u64,
}

impl Meryl {
    /// Whether a folder is a database.
    pub(crate) fn is_at(path: &Path) -> bool {
        is_no_folder(&path.join("merylIndex"))
    }

    /// Opens the database in the folder `path`. meryl does not record whether k-mers are canonical, so the
    /// caller tells.
    ///
    /// # Errors
    /// If a file cannot be read, or is not a file of meryl.
    pub(crate) fn open(path: &Path, canonical: bool) -> Result<Meryl, Error> {
        let index = path.join("merylIndex");
        let mut meryl = Meryl::of_index(path, &index, canonical)?;
        for number in 0..1usize << meryl.file_bits {
            let bits = meryl.file_bits as usize;
            let file = path.join(format!("0x{number:0bits$b}.merylData"));
            meryl.largest_block = meryl.largest_block.max(bits::largest_object(&file)?);
            meryl.files.push(file);
        }
        Ok(meryl)
    }

    /// Reads the index.
    fn of_index(path: &Path, index: &Path, canonical: bool) -> Result<Meryl, Error> {
        let wrong =
            |what: &str| bad(index, format!("{what}: copy the database again, or make it again"));
        let mut objects = Objects::open(index)?;
        let Some(object) = objects.next()? else { return Err(wrong("is empty")) };
        let mut bits = object.bits(index);
        let magic = bits.bytes::<16>()?;
        let version = magic[15].wrapping_sub(b'0');
        if magic[..15] != INDEX[..] {
            return Err(wrong("is not an index of meryl"));
        }
        if !(1..=3).contains(&version) {
            let reason = format!(
                "version {version} of meryl's databases is not supported: convert it to text with `meryl print {}`",
                path.display()
            );
            return Err(bad(index, reason));
        }
        let [prefix_bits, suffix_bits, file_bits, _] =
            [bits.take(32)?, bits.take(32)?, bits.take(32)?, bits.take(32)?]
                .map(|bits| bits as u32);
        let flags = if version >= 2 { bits.take(32)? } else { 0 };
        if flags & MULTISET != 0 {
            return Err(bad(path, "it has k-mers more than once (a multi-set): not a table"));
        }
        let both = prefix_bits.checked_add(suffix_bits).filter(|both| both.is_multiple_of(2));
        let k = both.map_or(0, |both| both / 2);
        let fits = (1..=MAX_K).contains(&k)
            && file_bits <= MAX_FILE_BITS.min(prefix_bits)
            && prefix_bits < u64::BITS;
        if !fits {
            return Err(wrong(&format!(
                "is inconsistent (prefixes of {prefix_bits} bits, suffixes of {suffix_bits}, 2^{file_bits} files)"
            )));
        }
        let [_, kmers, _] = [bits.take(64)?, bits.take(64)?, bits.take(64)?];
        let histogram = match version {
            3 => Some(histogram(&mut bits, kmers)?),
            _ => None,
        };
        let (path, files, k) = (path.to_owned(), Vec::new(), k as usize);
        Ok(Meryl {
            path,
            files,
            k,
            prefix_bits,
            file_bits,
            canonical,
            kmers,
            histogram,
            largest_block: 0,
        })
    }

    /// Returns the paths of the index and of all data files.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        std::iter::once(self.path.join("merylIndex")).chain(self.files.iter().cloned()).collect()
    }

    /// Returns the number of k-mers with each count, if the index has it.
    pub(crate) fn histogram(&self) -> Option<&Histogram> {
        self.histogram.as_ref()
    }

    pub(crate) fn description(&self) -> Description {
        let counts: Vec<u32> =
            self.histogram.iter().flat_map(Histogram::iter).map(|(count, _)| count).collect();
        Description {
            // A table that was cut has no lower counts.
            min_count: counts.iter().copied().min().unwrap_or(1),
            kmers: Some(self.kmers),
            largest_count: counts.iter().copied().max(),
            ..Description::unread(Kind::Meryl, self.k, self.canonical)
        }
    }

    /// Returns the memory in bytes that `threads` workers need, each for a block and its k-mers.
    pub(crate) fn resident(&self, threads: u64) -> u64 {
        4 * threads * self.largest_block
    }

    pub(crate) fn gather<'p, K: Kmer>(
        &self,
        gathered: Gathered<'p, K>,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Gathered<'p, K>, Error> {
        self.walk(threads, cancel, || gathered.writer(), Gathering::add, Gathering::finish)?;
        Ok(gathered.gathered())
    }

    /// Checks the whole database by reading it.
    pub(crate) fn verify(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        merganser_seq::with_kmer!(self.k, K => {
            self.walk(threads, cancel, || (), |(), _: K, _| Ok(()), |()| Ok(()))
        })
    }

    /// Reads all k-mers, in no particular order. `begin` creates a state for each worker, to which `take` adds
    /// k-mers.
    fn walk<K: Kmer, W>(
        &self,
        threads: usize,
        cancel: &Cancel,
        begin: impl Fn() -> W + Sync,
        take: impl Fn(&mut W, K, u32) -> Result<(), Error> + Sync,
        finish: impl Fn(W) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let found = each(threads, 0..self.files.len(), cancel, |files| {
            let (mut worker, mut found) = (begin(), 0);
            for number in files {
                let file = &self.files[number];
                let mut objects = Objects::open(file)?;
                let mut block = Block { meryl: self, file, number: number as u64, after: None };
                while let Some(object) = objects.next()? {
                    cancel.check()?;
                    let add = |kmer, count| take(&mut worker, kmer, count);
                    found += block.read(&mut object.bits(file), add)?;
                }
            }
            finish(worker).map(|()| found)
        })?;
        let found: u64 = found.into_iter().sum();
        match found == self.kmers {
            true => Ok(()),
            false => Err(bad(
                &self.path,
                format!(
                    "its index has {} k-mers, but its files have {found}: copy it again",
                    self.kmers
                ),
            )),
        }
    }
}

/// Reads the histogram of an index, whose sum must be `kmers`.
fn histogram(bits: &mut Bits<'_>, kmers: u64) -> Result<Histogram, Error> {
    let mut histogram = Histogram::default();
    let mut sum = 0u64;
    for _ in 0..bits.take(64)? {
        let (count, number) = (bits.take(64)?, bits.take(64)?);
        let count = small(count).ok_or_else(|| bits.damaged(&format!("a count of {count}")))?;
        sum = sum.saturating_add(number);
        histogram.add_many(count, number);
    }
    match sum == kmers {
        true => Ok(histogram),
        false => Err(bits.damaged(&format!("a histogram with {sum} of {kmers} k-mers"))),
    }
}

/// Converts a count, unless tables cannot have it.
fn small(count: u64) -> Option<u32> {
    u32::try_from(count).ok().filter(|&count| count > 0)
}

/// The blocks of one file, read one after the other.
struct Block<'b> {
    meryl: &'b Meryl,
    file: &'b Path,
    number: u64,
    /// The smallest prefix that the next block may have.
    after: Option<u64>,
}

impl Block<'_> {
    /// Passes the k-mers of a block to `add`, and returns their number.
    fn read<K: Kmer>(
        &mut self,
        bits: &mut Bits<'_>,
        mut add: impl FnMut(K, u32) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let magic = bits.bytes::<16>()?;
        if magic != *DATA {
            return Err(match magic.starts_with(&DATA[..14]) {
                true => bad(
                    self.file,
                    "k-mers with labels are not supported: convert it to text with `meryl print`",
                ),
                false => bits.damaged("a block with a wrong beginning"),
            });
        }
        let (prefix, kmers) = (bits.take(64)?, bits.take(64)?);
        self.check_prefix(bits, prefix)?;
        let suffix_bits = 2 * self.meryl.k as u32 - self.meryl.prefix_bits;
        let (code, _, low_bits) = (bits.take(8)?, bits.take(32)?, bits.take(32)? as u32);
        let _ = bits.take(64)?;
        let count_words = bits.take(8)?;
        let _ = (bits.take(64)?, bits.take(64)?);
        if code != 1 || !(1..=2).contains(&count_words) || low_bits > suffix_bits {
            return Err(bits.damaged(&format!(
                "a block with an unknown code ({code}, {low_bits}, {count_words})"
            )));
        }
        let suffixes = suffixes(bits, kmers, low_bits, suffix_bits)?;
        for suffix in suffixes {
            let count = bits.take(32 * count_words as u32)?;
            let count = small(count).ok_or_else(|| {
                bad(self.file, format!("a count of {count}: counts must be 1 to {}", u32::MAX))
            })?;
            let high = u128::from(prefix).checked_shl(suffix_bits).unwrap_or(0);
            add(self.ours(high | suffix)?, count)?;
        }
        Ok(kmers)
    }

    /// Checks that a block belongs to its file and comes after the previous block.
    fn check_prefix(&mut self, bits: &Bits<'_>, prefix: u64) -> Result<(), Error> {
        let own = prefix >> (self.meryl.prefix_bits - self.meryl.file_bits) == self.number;
        if !own || self.after.is_some_and(|after| prefix < after) {
            return Err(bits.damaged(&format!(
                "a block with the prefix {prefix}, which does not belong there"
            )));
        }
        self.after = Some(prefix + 1);
        Ok(())
    }

    /// Returns a k-mer in Merganser's code and, if requested, in the canonical form of Merganser's order.
    fn ours<K: Kmer>(&self, code: u128) -> Result<K, Error> {
        let k = self.meryl.k;
        let kmer = other_code(code);
        let mut least = kmer;
        if self.meryl.canonical {
            let complement = kmer.reverse_complement(k);
            if other_code(complement) < code {
                let reason = "has k-mers of one strand (of count-forward or count-reverse): give --forward-only";
                return Err(bad(&self.meryl.path, reason));
            }
            least = kmer.min(complement);
        }
        Ok(K::from_low((least >> 64) as u64).shl(64).or(K::from_low(least as u64)))
    }
}

/// Converts between meryl's code of bases (A C T G) and Merganser's (A C G T), in both directions.
fn other_code(kmer: u128) -> u128 {
    const LOW: u128 = u128::MAX / 3;
    kmer ^ (kmer >> 1 & LOW)
}

/// Reads the suffixes of a block: each is the difference of its high bits from the previous one, in unary,
/// followed by its low bits.
fn suffixes(
    bits: &mut Bits<'_>,
    kmers: u64,
    low_bits: u32,
    suffix_bits: u32,
) -> Result<Vec<u128>, Error> {
    let most = 1u128.checked_shl(suffix_bits - low_bits).unwrap_or(u128::MAX);
    // Each suffix takes at least one bit.
    let mut suffixes = Vec::with_capacity(kmers.min(bits.left()) as usize);
    let mut high = 0u128;
    for _ in 0..kmers {
        high += u128::from(bits.unary()?);
        let low = match low_bits {
            0..=64 => u128::from(bits.take(low_bits)?),
            _ => u128::from(bits.take(low_bits - 64)?) << 64 | u128::from(bits.take(64)?),
        };
        let suffix = high.checked_shl(low_bits).unwrap_or(0) | low;
        if high >= most || suffixes.last().is_some_and(|&last| last >= suffix) {
            return Err(bits.damaged("k-mers that are not ascending"));
        }
        suffixes.push(suffix);
    }
    Ok(suffixes)
}
