//! Reads a database of version 0x200 range by range: the k-mers of a range are read from each bin and sorted
//! together.

use merganser_seq::kmer::Kmer;

use super::{Database, is_rising};
use crate::Error;
use crate::error::bad;
use crate::ranges::{RangeReader, Ranges, ends, keep_range};
use crate::scattered::sort_range;

/// The largest look-up tables, in bytes, with which a database is merged instead of gathered; they stay in memory.
const MAX_TABLE: u64 = 32 << 20;
/// The largest number of k-mers of all bins with the same prefix; each worker keeps those of one prefix in memory.
const MAX_GROUP: u64 = 1 << 19;

/// The look-up tables of all bins.
#[derive(Debug)]
pub(super) struct Index {
    /// The numbers of the first records of each prefix, bin by bin, followed by the number of all records.
    entries: Vec<u64>,
    /// The number of records of all bins with a smaller prefix, for each prefix and after the last one.
    before: Vec<u64>,
}

impl Index {
    /// Reads the tables; returns `None` if the database must be gathered.
    pub(super) fn read(database: &Database) -> Result<Option<Index>, Error> {
        let prefixes = 1u64 << (2 * database.header.prefix_bases);
        let bins = database.header.bins;
        if database.header.sorted || 8 * prefixes * bins > MAX_TABLE {
            return Ok(None);
        }
        let mut entries = Vec::with_capacity((prefixes * bins) as usize + 1);
        for bin in 0..bins {
            entries.truncate((bin * prefixes) as usize);
            let more = database.entries(bin, 0, prefixes)?;
            let before = entries.last().is_none_or(|&last| last <= more[0]);
            if !before {
                return Err(database.damaged("its look-up table is inconsistent"));
            }
            entries.extend(more);
        }
        let prefixes = prefixes as usize;
        let mut before = vec![0; prefixes + 1];
        for prefix in 0..prefixes {
            let ends = entries[prefix..].windows(2).step_by(prefixes);
            before[prefix + 1] = before[prefix] + ends.map(|ends| ends[1] - ends[0]).sum::<u64>();
        }
        let fits = before.windows(2).all(|ends| ends[1] - ends[0] <= MAX_GROUP);
        Ok(fits.then_some(Index { entries, before }))
    }

    /// Returns the memory in bytes while `threads` workers read the database, for k-mers of length `k`.
    pub(super) fn bytes(&self, k: usize, threads: u64) -> u64 {
        let groups = self.before.windows(2).map(|ends| ends[1] - ends[0]);
        let entry = [8, 16, 32, 48, 48][(k - 1) / 32 + usize::from(k > 16)];
        8 * (self.entries.len() + self.before.len()) as u64
            + 2 * threads * entry * groups.max().unwrap_or(0)
    }
}

/// The ranges of a database of version 0x200.
pub(super) struct MergedRanges<'t> {
    pub(super) database: &'t Database,
    pub(super) index: &'t Index,
}

impl<K: Kmer> Ranges<K> for MergedRanges<'_> {
    fn kmers(&self) -> u64 {
        self.database.header.kmers
    }

    fn largest_count(&self) -> u32 {
        self.database.description().largest_count.unwrap_or(u32::MAX)
    }

    fn together(&self) -> u32 {
        2 * self.database.header.prefix_bases as u32
    }

    fn reader(&self) -> Box<dyn RangeReader<K> + '_> {
        let (database, index) = (self.database, self.index);
        let (bytes, kmers, swap) = (Vec::new(), Vec::new(), Vec::new());
        Box::new(MergedReader { database, index, loaded: None, bytes, kmers, swap })
    }
}

struct MergedReader<'t, K> {
    database: &'t Database,
    index: &'t Index,
    /// The prefix of the k-mers in `kmers`.
    loaded: Option<u64>,
    bytes: Vec<u8>,
    kmers: Vec<(K, u32)>,
    swap: Vec<(K, u32)>,
}

impl<K: Kmer> MergedReader<'_, K> {
    /// Replaces `kmers` by the k-mers of all bins with prefixes from `from` to `to` (exclusive), in ascending order;
    /// they share their first `bits` bits.
    fn merge(
        &mut self,
        (from, to): (u64, u64),
        bits: u32,
        kmers: &mut Vec<(K, u32)>,
    ) -> Result<(), Error> {
        kmers.clear();
        let Database { header, .. } = self.database;
        let prefixes = 1usize << (2 * header.prefix_bases);
        for bin in 0..header.bins as usize {
            let entries = &self.index.entries[bin * prefixes..][from as usize..=to as usize];
            let first = kmers.len();
            self.database.scan::<K>(entries, from, &mut self.bytes, |kmer, count| {
                kmers.push((kmer, count));
                Ok(())
            })?;
            if !is_rising(&kmers[first..]) {
                return Err(self.database.damaged("its k-mers are out of order"));
            }
        }
        sort_range(kmers, &mut self.swap, 2 * header.k as u32 - bits);
        match kmers.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(()),
            Some(pair) => {
                let mut letters = Vec::new();
                pair[0].0.write_letters(header.k, &mut letters);
                let kmer = String::from_utf8_lossy(&letters);
                let reason = format!("it has the k-mer {kmer} more than once: not a table");
                Err(bad(&self.database.names[0], reason))
            }
        }
    }

    /// Returns the k-mers of a range within one prefix, and loads the prefix if needed.
    fn within(&mut self, prefix: K, bits: u32) -> Result<&[(K, u32)], Error> {
        let (one, behind) = self.database.prefixes(prefix, bits);
        if self.loaded != Some(one) {
            let mut kmers = std::mem::take(&mut self.kmers);
            let own = 2 * self.database.header.prefix_bases as u32;
            self.merge((one, behind), own, &mut kmers)?;
            (self.kmers, self.loaded) = (kmers, Some(one));
        }
        let (first, last) = ends::<K>(self.database.header.k, prefix, bits);
        let end = self.kmers.partition_point(|&(kmer, _)| kmer <= last);
        let start = self.kmers[..end].partition_point(|&(kmer, _)| kmer < first);
        Ok(&self.kmers[start..end])
    }

    fn is_finer(&self, bits: u32) -> bool {
        bits > 2 * self.database.header.prefix_bases as u32
    }
}

impl<K: Kmer> RangeReader<K> for MergedReader<'_, K> {
    fn at_most(&mut self, prefix: K, bits: u32) -> Result<u64, Error> {
        let (from, to) = self.database.prefixes(prefix, bits);
        let all = self.index.before[to as usize] - self.index.before[from as usize];
        if !self.is_finer(bits) || all == 0 {
            return Ok(all);
        }
        self.within(prefix, bits).map(|kmers| kmers.len() as u64)
    }

    fn read(&mut self, prefix: K, bits: u32, kmers: &mut Vec<(K, u32)>) -> Result<(), Error> {
        if self.is_finer(bits) {
            kmers.clear();
            let found = self.within(prefix, bits)?;
            kmers.extend_from_slice(found);
        } else {
            let prefixes = self.database.prefixes(prefix, bits);
            self.merge(prefixes, bits, kmers)?;
        }
        keep_range(kmers, self.database.header.k, prefix, bits);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathered::Gathered;
    use merganser_run::Cancel;
    use merganser_store::{BlockPool, Spilling, Storage};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    const K: usize = 12;
    const PREFIX: usize = 4;
    const BINS: u32 = 3;

    /// Writes a database with counts of two bytes, between 2 and 900.
    fn write(folder: &Path, kmers: &BTreeMap<u32, u32>) -> PathBuf {
        let stem = folder.join("db");
        let (mut before, mut suffixes) = (b"KMCP".to_vec(), b"KMCS".to_vec());
        let mut records = 0u64;
        for bin in 0..BINS {
            let own: Vec<_> = kmers.iter().filter(|(kmer, _)| *kmer % BINS == bin).collect();
            for prefix in 0..1u32 << (2 * PREFIX) {
                before.extend(records.to_le_bytes());
                for (kmer, count) in own.iter().filter(|(kmer, _)| *kmer >> 16 == prefix) {
                    suffixes.extend(&kmer.to_be_bytes()[2..]);
                    suffixes.extend(&count.to_le_bytes()[..2]);
                    records += 1;
                }
            }
        }
        suffixes.extend(b"KMCS");
        before.extend(records.to_le_bytes());
        before.extend(vec![0; 4 * ((1 << 10) + 1)]);
        for number in [K as u32, 0, 2, PREFIX as u32, 5, 2, 900] {
            before.extend(number.to_le_bytes());
        }
        before.extend(records.to_le_bytes());
        before.extend(vec![0; 28]);
        before.extend([0x200u32.to_le_bytes(), 68u32.to_le_bytes()].concat());
        before.extend(b"KMCP");
        std::fs::write(folder.join("db.kmc_pre"), before).unwrap();
        std::fs::write(folder.join("db.kmc_suf"), suffixes).unwrap();
        stem
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn merged_bins_are_what_is_gathered(
            kmers in proptest::collection::btree_map(0u32..1 << 24, 2u32..900, 0..600),
            dense in any::<bool>(),
            bits in 0u32..24,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let kmers = kmers.into_iter().map(|(k, c)| (if dense { k >> 9 } else { k }, c)).collect();
            let database = Database::open(&write(dir.path(), &kmers)).unwrap();
            prop_assert!(database.is_sorted());
            let expected: Vec<(u32, u32)> = kmers.into_iter().collect();
            let pool = BlockPool::new(1 << 10, Spilling {
                storage: Storage::Ram,
                limit: 1 << 26,
                directory: dir.path().to_owned(),
            });
            let gathered = Gathered::<u32>::new(Path::new("db"), &database.description(), &pool, 2000);
            let gathered = database.gather(gathered, 2, &Cancel::default()).unwrap();
            let merged = database.ranges::<u32>();
            for ranges in [&gathered as &dyn Ranges<u32>, &*merged] {
                let (mut reader, mut all, mut kmers) = (ranges.reader(), Vec::new(), Vec::new());
                // Only the ranges that have k-mers, since fine ranges are many.
                let prefixes = expected.iter().map(|(kmer, _)| kmer >> (24 - bits));
                for prefix in prefixes.collect::<std::collections::BTreeSet<_>>() {
                    let most = reader.at_most(prefix, bits).unwrap();
                    reader.read(prefix, bits, &mut kmers).unwrap();
                    prop_assert!(kmers.len() as u64 <= most);
                    all.append(&mut kmers);
                }
                prop_assert_eq!(&all, &expected);
            }
        }
    }

    /// The k-mer of A only is the least one, and a record of zeros looks like it.
    #[test]
    fn zeros_are_no_record() {
        let read = |kmers: &[(u32, u32)], zeros: std::ops::Range<usize>| {
            let dir = tempfile::tempdir().unwrap();
            let stem = write(dir.path(), &kmers.iter().copied().collect());
            let path = dir.path().join("db.kmc_suf");
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[zeros].fill(0);
            std::fs::write(&path, bytes).unwrap();
            let database = Database::open(&stem).unwrap();
            let mut found = Vec::new();
            let read = database.ranges::<u32>().reader().read(0, 0, &mut found);
            let counted =
                database.histogram(1, &Cancel::default()).map(|histogram| histogram.max());
            (read.map(|()| found).map_err(|error| error.to_string()), counted.is_ok())
        };
        assert_eq!(read(&[(0, 5)], 0..0), (Ok(vec![(0, 5)]), true));
        assert_eq!(read(&[(0, 5), (3, 7)], 0..0), (Ok(vec![(0, 5), (3, 7)]), true));
        // Two bytes of the suffix, and two of the count.
        for (kmers, zeros, number) in [(&[(0, 5)][..], 4..8, 1), (&[(0, 5), (3, 7)], 8..12, 2)] {
            let (read, counted) = read(kmers, zeros);
            let part = format!("record {number}: its count is outside");
            assert!(read.as_ref().is_err_and(|error| error.contains(&part)), "{read:?}");
            assert!(!counted);
        }
    }

    #[test]
    fn a_kmer_of_two_bins_is_no_table() {
        let dir = tempfile::tempdir().unwrap();
        let stem = write(dir.path(), &[(7, 5), (8, 5)].into());
        let path = dir.path().join("db.kmc_suf");
        let mut bytes = std::fs::read(&path).unwrap();
        // The last byte of a suffix has the last base.
        bytes[4..].iter_mut().for_each(|byte| *byte = if *byte == 8 { 7 } else { *byte });
        std::fs::write(&path, bytes).unwrap();
        let database = Database::open(&stem).unwrap();
        let ranges = database.ranges::<u32>();
        let error = ranges.reader().read(0, 0, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("it has the k-mer AAAAAAAAAACT more than once"), "{error}");
    }
}
