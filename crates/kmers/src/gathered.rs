//! Gathers k-mers that come in any order by their first bits, and sorts them range by range. A range with more
//! k-mers than may be sorted at a time, because many have the same first bits, is read in parts.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use merganser_seq::kmer::Kmer;
use merganser_store::BlockPool;

use crate::Error;
use crate::description::Description;
use crate::error::bad;
use crate::ranges::{RangeReader, Ranges, ends};
use crate::scattered::{
    KmerContents, KmerRecords, Scattered, ScatteredWriter, range_bits, sort_range,
};

/// The gathered k-mers of one table.
pub(crate) struct Gathered<'p, K> {
    path: PathBuf,
    scattered: Scattered<'p, K>,
    kmers: u64,
    largest: AtomicU32,
    /// The largest number of k-mers that a worker sorts at a time.
    most: u64,
}

impl<'p, K: Kmer> Gathered<'p, K> {
    /// Creates a collection without k-mers; the arrays of each reader will take `sorting` bytes.
    pub(crate) fn new(
        path: &Path,
        table: &Description,
        pool: &'p BlockPool,
        sorting: u64,
    ) -> Gathered<'p, K> {
        let scattered = Scattered::new(KmerRecords::new(table.k), pool);
        // One array, and one to sort it into.
        let most = (sorting / (2 * size_of::<(K, u32)>() as u64)).max(1);
        let (path, largest) = (path.to_owned(), AtomicU32::new(0));
        Gathered { path, scattered, kmers: 0, largest, most }
    }

    pub(crate) fn k(&self) -> usize {
        self.scattered.records().k()
    }

    /// Returns a writer for one worker.
    pub(crate) fn writer(&self) -> Gathering<'_, 'p, K> {
        Gathering { gathered: self, writer: self.scattered.writer(), largest: Cell::new(0) }
    }

    /// Completes the collection after all writers have finished.
    pub(crate) fn gathered(mut self) -> Gathered<'p, K> {
        self.kmers = (0..self.scattered.ranges()).map(|range| self.scattered.len(range)).sum();
        self
    }

    /// Checks that no k-mer occurs twice among sorted k-mers.
    fn check(&self, kmers: &[(K, u32)]) -> Result<(), Error> {
        match kmers.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(self.twice(pair[0].0)),
            None => Ok(()),
        }
    }

    fn twice(&self, kmer: K) -> Error {
        let mut letters = Vec::new();
        kmer.write_letters(self.scattered.records().k(), &mut letters);
        let kmer = String::from_utf8_lossy(&letters);
        let reason = format!("it has the k-mer {kmer} more than once: not a table");
        bad(&self.path, reason)
    }
}

/// Adds k-mers to the collection.
pub(crate) struct Gathering<'g, 'p, K> {
    gathered: &'g Gathered<'p, K>,
    writer: ScatteredWriter<'g, 'p, K>,
    largest: Cell<u32>,
}

impl<K: Kmer> Gathering<'_, '_, K> {
    #[inline(always)]
    pub(crate) fn add(&mut self, kmer: K, count: u32) -> Result<(), Error> {
        self.largest.set(self.largest.get().max(count));
        Ok(self.writer.keep((kmer, count))?)
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        self.gathered.largest.fetch_max(self.largest.get(), Ordering::Relaxed);
        Ok(self.writer.finish()?)
    }
}

impl<K: Kmer> Ranges<K> for Gathered<'_, K> {
    fn kmers(&self) -> u64 {
        self.kmers
    }

    fn largest_count(&self) -> u32 {
        self.largest.load(Ordering::Relaxed)
    }

    fn reader(&self) -> Box<dyn RangeReader<K> + '_> {
        Box::new(self.open_reader())
    }
}

impl<'p, K: Kmer> Gathered<'p, K> {
    fn open_reader(&self) -> GatheredReader<'_, 'p, K> {
        let (buffer, kmers, swap) = (Vec::new(), Vec::new(), Vec::new());
        let window = (K::from_low(1), K::default());
        GatheredReader { gathered: self, opened: None, buffer, window, kmers, swap }
    }
}

/// The number of first bits by which k-mers that are too many to be sorted at a time are divided.
const DIVIDING_BITS: u32 = 12;

struct GatheredReader<'g, 'p, K> {
    gathered: &'g Gathered<'p, K>,
    /// The range that was opened last.
    opened: Option<(usize, Opened<'p, K>)>,
    buffer: Vec<u8>,
    /// The first and the last possible k-mer of the part in `kmers`, which is a whole range or some cells of one.
    window: (K, K),
    kmers: Vec<(K, u32)>,
    swap: Vec<(K, u32)>,
}

/// The state of an open range.
enum Opened<'p, K> {
    /// The range is sorted in memory.
    Sorted,
    /// The range is too large for memory, and is read again for each part.
    Large(KmerContents<'p, K>, Vec<Level<K>>),
}

/// The k-mers with a common prefix, divided into cells by their next bits.
struct Level<K> {
    /// The common prefix.
    prefix: K,
    /// The number of bits of the prefix.
    bits: u32,
    /// The number of next bits, which select a cell.
    next: u32,
    /// The number of k-mers in all cells before each cell, and in all cells.
    before: Vec<u64>,
}

impl<K: Kmer> Level<K> {
    /// Returns the cell of a k-mer of length `k`, or `None` if it has another prefix.
    fn cell(&self, kmer: K, k: usize) -> Option<usize> {
        let rest = 2 * k as u32 - self.bits;
        let cell = kmer.shr(rest - self.next).low() & ((1 << self.next) - 1);
        (kmer.shr(rest) == self.prefix).then_some(cell as usize)
    }

    /// Returns the cells of a range, or `None` if the range is only a part of a cell.
    fn cells(&self, prefix: K, bits: u32) -> Option<std::ops::Range<usize>> {
        let finer = (self.bits + self.next).checked_sub(bits)?;
        let low = prefix.low() & ((1 << (self.next - finer)) - 1);
        Some((low as usize) << finer..(low as usize + 1) << finer)
    }

    fn len(&self, cells: &std::ops::Range<usize>) -> u64 {
        self.before[cells.end] - self.before[cells.start]
    }

    fn prefix_of(&self, cell: usize) -> K {
        self.prefix.shl(self.next).or(K::from_low(cell as u64))
    }
}

impl<K: Kmer> GatheredReader<'_, '_, K> {
    /// Opens a range: reads and sorts it, or divides it if it is large.
    fn open(&mut self, range: usize) -> Result<(), Error> {
        if self.opened.as_ref().is_some_and(|(opened, _)| *opened == range) {
            return Ok(());
        }
        let scattered = &self.gathered.scattered;
        let (k, bits) = (scattered.records().k(), scattered.records().range_bits());
        // Frees the previous range first.
        self.opened = None;
        self.kmers.clear();
        self.window = (K::from_low(1), K::default());
        if scattered.len(range) > self.gathered.most {
            self.swap = Vec::new();
            let contents = scattered.contents(range);
            let level = self.level(&contents, K::from_low(range as u64), bits)?;
            self.opened = Some((range, Opened::Large(contents, vec![level])));
            return Ok(());
        }
        scattered.take(range, &mut self.buffer, &mut self.kmers)?;
        sort_range(&mut self.kmers, &mut self.swap, 2 * k as u32 - bits);
        self.window = ends::<K>(k, K::from_low(range as u64), bits);
        self.opened = Some((range, Opened::Sorted));
        self.gathered.check(&self.kmers)
    }

    /// Counts the k-mers with the first `bits` bits `prefix` by their next bits.
    fn level(
        &mut self,
        contents: &KmerContents<'_, K>,
        prefix: K,
        bits: u32,
    ) -> Result<Level<K>, Error> {
        let k = self.gathered.k();
        let next = DIVIDING_BITS.min(2 * k as u32 - bits);
        let mut level = Level { prefix, bits, next, before: Vec::new() };
        let mut before = vec![0; (1 << next) + 1];
        contents.each(&mut self.buffer, |(kmer, _)| {
            if let Some(cell) = level.cell(kmer, k) {
                before[cell + 1] += 1;
            }
        })?;
        if bits + next == 2 * k as u32
            && let Some(cell) = before[1..].iter().position(|&kmers| kmers > 1)
        {
            return Err(self.gathered.twice(level.prefix_of(cell)));
        }
        for cell in 1..before.len() {
            before[cell] += before[cell - 1];
        }
        level.before = before;
        Ok(level)
    }

    /// Returns the number of k-mers of a range that is finer than those that were gathered; with `load`, they
    /// are in memory afterwards.
    fn find(&mut self, prefix: K, bits: u32, load: bool) -> Result<u64, Error> {
        let k = self.gathered.k();
        let own = range_bits(self.gathered.k());
        self.open(prefix.shr(bits - own).low() as usize)?;
        let (first, last) = ends::<K>(k, prefix, bits);
        loop {
            if self.window.0 <= first && last <= self.window.1 {
                return Ok(self.within(first, last).len() as u64);
            }
            let Some((range, Opened::Large(contents, mut levels))) = self.opened.take() else {
                return Ok(0);
            };
            // The range is within the first level.
            let begins = |level: &Level<K>| {
                bits >= level.bits && prefix.shr(bits - level.bits) == level.prefix
            };
            while levels.len() > 1 && levels.last().is_some_and(|level| !begins(level)) {
                levels.pop();
            }
            let found = self.part(&contents, &mut levels, (prefix, bits), load);
            self.opened = Some((range, Opened::Large(contents, levels)));
            if let Some(number) = found? {
                return Ok(number);
            }
        }
    }

    /// Returns the number of k-mers of a part of a large range. Returns `None` if the caller must try again,
    /// because a finer level was added or k-mers were loaded.
    fn part(
        &mut self,
        contents: &KmerContents<'_, K>,
        levels: &mut Vec<Level<K>>,
        (prefix, bits): (K, u32),
        load: bool,
    ) -> Result<Option<u64>, Error> {
        let Some(level) = levels.last() else { return Ok(Some(0)) };
        if let Some(cells) = level.cells(prefix, bits) {
            let number = level.len(&cells);
            if !load || number == 0 {
                return Ok(Some(number));
            }
            return self.load(contents, level, cells).map(|()| None);
        }
        let end = level.bits + level.next;
        let one = (prefix.shr(bits - end).low() & ((1 << level.next) - 1)) as usize;
        let number = level.len(&(one..one + 1));
        if number == 0 {
            return Ok(Some(0));
        }
        if number <= self.gathered.most {
            return self.load(contents, level, one..one + 1).map(|()| None);
        }
        let next = self.level(contents, level.prefix_of(one), end)?;
        levels.push(next);
        Ok(None)
    }

    /// Sorts the k-mers of these cells, and of the following ones as far as they fit.
    fn load(
        &mut self,
        contents: &KmerContents<'_, K>,
        level: &Level<K>,
        mut cells: std::ops::Range<usize>,
    ) -> Result<(), Error> {
        let k = self.gathered.k();
        while cells.end < 1 << level.next
            && level.len(&(cells.start..cells.end + 1)) <= self.gathered.most
        {
            cells.end += 1;
        }
        let GatheredReader { buffer, kmers, swap, .. } = self;
        kmers.clear();
        kmers.reserve_exact(level.len(&cells) as usize);
        contents.each(buffer, |(kmer, count)| {
            if level.cell(kmer, k).is_some_and(|cell| cells.contains(&cell)) {
                kmers.push((kmer, count));
            }
        })?;
        sort_range(kmers, swap, 2 * k as u32 - level.bits);
        let end = level.bits + level.next;
        let (first, _) = ends::<K>(k, level.prefix_of(cells.start), end);
        let (_, last) = ends::<K>(k, level.prefix_of(cells.end - 1), end);
        self.window = (first, last);
        self.gathered.check(&self.kmers)
    }

    /// Returns the k-mers in memory that are between `first` and `last`.
    fn within(&self, first: K, last: K) -> &[(K, u32)] {
        let end = self.kmers.partition_point(|&(kmer, _)| kmer <= last);
        let start = self.kmers[..end].partition_point(|&(kmer, _)| kmer < first);
        &self.kmers[start..end]
    }

    /// Appends a whole range as it was gathered, regardless of its number of k-mers.
    fn whole(&mut self, range: usize, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        self.open(range)?;
        let k = self.gathered.k();
        let bits = range_bits(self.gathered.k());
        if let Some((_, Opened::Large(contents, levels))) = &mut self.opened {
            // The caller has room for all k-mers of the range.
            let from = kmers.len();
            contents.each(&mut self.buffer, |pair| kmers.push(pair))?;
            levels.clear();
            kmers[from..].sort_unstable_by_key(|&(kmer, _)| kmer);
            return self.gathered.check(&kmers[from..]);
        }
        let (first, last) = ends::<K>(k, K::from_low(range as u64), bits);
        kmers.extend_from_slice(self.within(first, last));
        Ok(())
    }
}

impl<K: Kmer> RangeReader<K> for GatheredReader<'_, '_, K> {
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error> {
        let scattered = &self.gathered.scattered;
        let own = scattered.records().range_bits();
        if bits <= own {
            let (finer, prefix) = (own - bits, prefix.low() as usize);
            let ranges = prefix << finer..(prefix + 1) << finer;
            return Ok(ranges.map(|range| scattered.len(range)).sum());
        }
        self.find(prefix, bits, false)
    }

    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        kmers.clear();
        let own = range_bits(self.gathered.k());
        if bits <= own {
            let (finer, prefix) = (own - bits, prefix.low() as usize);
            return (prefix << finer..(prefix + 1) << finer)
                .try_for_each(|range| self.whole(range, kmers));
        }
        if self.find(prefix, bits, true)? > 0 {
            let (first, last) = ends::<K>(self.gathered.k(), prefix, bits);
            kmers.extend_from_slice(self.within(first, last));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::Kind;
    use merganser_seq::kmer::Wide;
    use merganser_store::{Spilling, Storage};
    use proptest::prelude::*;

    /// Halves ranges until they fit, like the engine.
    fn halve<K: Kmer>(
        reader: &mut dyn RangeReader<K>,
        (prefix, bits): (K, u32),
        (k, most): (usize, u64),
        all: &mut Vec<(K, u32)>,
    ) -> Result<(), Error> {
        let number = reader.at_most(prefix, bits)?;
        if number > most && bits < 2 * k as u32 {
            let lower = prefix.shl(1);
            halve(reader, (lower, bits + 1), (k, most), all)?;
            return halve(reader, (lower.or(K::from_low(1)), bits + 1), (k, most), all);
        }
        let mut kmers = Vec::new();
        reader.read(prefix, bits, &mut kmers)?;
        assert_eq!(kmers.len() as u64, number);
        all.append(&mut kmers);
        Ok(())
    }

    fn gather<K: Kmer>(
        kmers: &[(K, u32)],
        k: usize,
        (at_once, most): (u64, u64),
    ) -> Result<Vec<(K, u32)>, Error> {
        let spilling =
            Spilling { storage: Storage::Auto, limit: 1 << 12, directory: std::env::temp_dir() };
        let pool = BlockPool::new(256, spilling);
        let description = Description::unread(Kind::Columns, k, true);
        let sorting = at_once * 2 * size_of::<(K, u32)>() as u64;
        let gathered = Gathered::<K>::new(Path::new("t"), &description, &pool, sorting);
        let mut writer = gathered.writer();
        kmers.iter().try_for_each(|&(kmer, count)| writer.add(kmer, count))?;
        writer.finish()?;
        let gathered = gathered.gathered();
        assert_eq!(gathered.kmers, kmers.len() as u64);
        let mut reader = gathered.open_reader();
        let mut all = Vec::new();
        // Sections, as workers take them.
        for section in 0..8 {
            halve(&mut reader, (K::from_low(section), 3), (k, most), &mut all)?;
        }
        let held = reader.kmers.capacity() as u64;
        assert!(held <= 2 * at_once.max(most).max(4), "{held}");
        Ok(all)
    }

    fn check<K: Kmer>(k: usize, values: &[u64], shift: u32, limits: (u64, u64)) {
        let kmers = values.iter().map(|&value| K::from_low(value).shl(shift).and(K::mask(k)));
        let mut kmers: Vec<(K, u32)> = kmers.zip(1..).collect();
        kmers.sort_unstable();
        kmers.dedup_by_key(|entry| entry.0);
        let mut mixed = kmers.clone();
        mixed.sort_by_key(|entry| entry.1.wrapping_mul(2_654_435_761));
        assert_eq!(gather(&mixed, k, limits).unwrap(), kmers);
        mixed.push(mixed[0]);
        let error = gather(&mixed, k, limits).unwrap_err().to_string();
        assert!(error.contains(" more than once: not a table"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn ranges_are_those_of_what_was_gathered_however_few_are_sorted_at_once(
            values in proptest::collection::vec(0u64..1 << 20, 1..300),
            shift in 0u32..60,
            at_once in 1u64..50,
            most in 1u64..50,
        ) {
            check::<u32>(13, &values, shift % 7, (at_once, most));
            check::<u64>(31, &values, shift, (at_once, most));
            check::<u128>(50, &values, shift, (at_once, most));
            check::<Wide>(100, &values, 3 * shift, (at_once, most));
        }
    }
}
