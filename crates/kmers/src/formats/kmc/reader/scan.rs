//! Reads the records of a database in their order on disk, and checks them.

use std::ops::Range;
use std::os::unix::fs::FileExt;

use merganser_run::{Cancel, each};
use merganser_seq::kmer::Kmer;

use super::{Database, suffix};
use crate::Error;
use crate::error::bad;

/// The number of records that a scan reads at a time.
const SCAN_RECORDS: u64 = 1 << 16;
/// The number of entries of the look-up table that a worker takes at a time.
const RANGE_PREFIXES: u64 = 1 << 12;

/// The previous k-mer, which is used to check the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<K> {
    kmer: Option<K>,
    /// The number of the next record, 0-based.
    pub(super) record: u64,
}

impl<K: Kmer> Before<K> {
    pub(super) fn new(record: u64) -> Before<K> {
        Before { kmer: None, record }
    }

    /// Takes the next k-mer, which must be greater than the previous one.
    #[inline(always)]
    pub(super) fn check(&mut self, database: &Database, kmer: K) -> Result<(), Error> {
        if self.kmer.is_some_and(|before| before >= kmer) {
            return Err(
                database.bad_record(self.record, "its k-mer is not greater than the previous one")
            );
        }
        self.kmer = Some(kmer);
        self.record += 1;
        Ok(())
    }
}

/// Whether each k-mer is greater than the previous one.
pub(super) fn is_rising<K: Kmer>(kmers: &[(K, u32)]) -> bool {
    kmers.is_sorted_by(|one, other| one.0 < other.0)
}

impl Database {
    /// Calls `visit` with the k-mer and the count of each record between these entries of the look-up table of
    /// a bin. The first entry is that of the prefix `from`. The order of k-mers is not checked.
    ///
    /// # Errors
    /// If a count is outside the bounds of the header, or `visit` fails.
    #[inline(always)]
    pub(super) fn scan<K: Kmer>(
        &self,
        entries: &[u64],
        from: u64,
        bytes: &mut Vec<u8>,
        mut visit: impl FnMut(K, u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let record = self.record_bytes();
        let mut prefix = 0usize;
        let (mut at, end) = (entries[0], entries[entries.len() - 1]);
        while at < end {
            let number = (end - at).min(SCAN_RECORDS) as usize;
            self.read_records(at, number, bytes)?;
            let mut done = 0;
            while done < number {
                while entries[prefix + 1] <= at + done as u64 {
                    prefix += 1;
                }
                let until = (entries[prefix + 1] - at).min(number as u64) as usize;
                let high = K::from_low(from + prefix as u64);
                let records = at + done as u64..at + until as u64;
                self.records(high, &bytes[done * record..], records, &mut visit)?;
                done = until;
            }
            at += number as u64;
        }
        Ok(())
    }

    /// Replaces `bytes` by `number` records, followed by zeros, so that the widest word can be loaded at the
    /// last record.
    fn read_records(&self, at: u64, number: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let record = self.record_bytes();
        bytes.resize(number * record + 40, 0);
        self.suffixes
            .read_exact_at(&mut bytes[..number * record], 4 + at * record as u64)
            .map_err(|source| self.io(1, source))
    }

    /// Visits the records of one prefix.
    #[inline(always)]
    fn records<K: Kmer>(
        &self,
        prefix: K,
        bytes: &[u8],
        records: Range<u64>,
        visit: &mut impl FnMut(K, u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let header = self.header;
        let (bases, size) = (header.k - header.prefix_bases, self.record_bytes());
        let high = prefix.shl(2 * bases as u32);
        let number = (records.end - records.start) as usize;
        // The only exit from the loop is that of `visit`, which most callers never take. Returning early for a
        // count outside the bounds would slow the loop by a seventh.
        let mut visited = 0;
        for number in 0..number {
            let bytes = &bytes[number * size..];
            let low = suffix(bytes, bases);
            if let Some(count) = header.count(bytes) {
                visit(high.or(low), count)?;
                visited += 1;
            }
        }
        if visited == number {
            return Ok(());
        }
        let is_outside = |number: &usize| header.count(&bytes[number * size..]).is_none();
        let record = records.start + (0..number).find(is_outside).unwrap_or(0) as u64;
        Err(self.bad_record(record, "its count is outside the header's bounds"))
    }

    /// Returns an error about a record, numbered from 0.
    #[cold]
    pub(super) fn bad_record(&self, record: u64, problem: &str) -> Error {
        let number = record + 1;
        let reason = format!("record {number}: {problem}: the database is damaged; make it again");
        bad(&self.names[1], reason)
    }

    /// Calls `visit` for each range of the look-up table with a bin, the first entry and the last entry, on
    /// `threads` workers. Each worker has a state created by `make`; the states are returned.
    pub(super) fn each_range<S: Send>(
        &self,
        threads: usize,
        cancel: &Cancel,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, u64, u64, u64) -> Result<(), Error> + Sync,
    ) -> Result<Vec<S>, Error> {
        let prefixes = 1u64 << (2 * self.header.prefix_bases);
        let size = RANGE_PREFIXES.min(prefixes);
        // No range spans two bins, since both sizes are powers of 2.
        let ranges = self.header.bins * (prefixes / size);
        each(threads, 0..ranges as usize, cancel, |ranges| {
            let mut state = make();
            for from in ranges.map(|range| range as u64 * size) {
                let (bin, from) = (from / prefixes, from % prefixes);
                visit(&mut state, bin, from, from + size)?;
            }
            Ok(state)
        })
    }
}
