//! Reading the records of a database in their order on disk, and what must hold of them.

use std::ops::Range;
use std::os::unix::fs::FileExt;

use merganser_run::{Cancel, each};
use merganser_seq::kmer::Kmer;

use super::{Database, suffix};
use crate::Error;
use crate::error::bad;

/// Records that a scan reads at once.
const SCAN_RECORDS: u64 = 1 << 16;
/// Entries of the look-up table that a worker takes at a time.
const RANGE_PREFIXES: u64 = 1 << 12;

/// The k-mer of the record before, by which order is checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<K> {
    kmer: Option<K>,
    /// The number of the next record, from 0.
    pub(super) record: u64,
}

impl<K: Kmer> Before<K> {
    pub(super) fn new(record: u64) -> Before<K> {
        Before { kmer: None, record }
    }

    /// Takes the next k-mer, which must be above the one before.
    #[inline(always)]
    pub(super) fn check(&mut self, database: &Database, kmer: K) -> Result<(), Error> {
        if self.kmer.is_some_and(|before| before >= kmer) {
            return Err(database.bad_record(self.record, "its k-mer is not above the one before"));
        }
        self.kmer = Some(kmer);
        self.record += 1;
        Ok(())
    }
}

/// Whether each k-mer is above the one before.
pub(super) fn is_rising<K: Kmer>(kmers: &[(K, u32)]) -> bool {
    kmers.is_sorted_by(|one, other| one.0 < other.0)
}

impl Database {
    /// Gives `visit` the records between these entries of the look-up table of a bin, of which the
    /// first is that of the prefix `from`: the k-mer of each and its count.
    ///
    /// Their order is for `visit` to check.
    ///
    /// # Errors
    /// If a count is outside the header's bounds, or `visit` says so.
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

    /// Replaces `bytes` by so many records, and some zeros: the widest word is read at the last one,
    /// too.
    fn read_records(&self, at: u64, number: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let record = self.record_bytes();
        bytes.resize(number * record + 40, 0);
        self.suffixes
            .read_exact_at(&mut bytes[..number * record], 4 + at * record as u64)
            .map_err(|source| self.io(1, source))
    }

    /// The records of one prefix.
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
        // Without a way out of the loop but for `visit`'s, which most callers do not take: it costs a seventh more.
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

    /// An error about a record, numbered from 0.
    #[cold]
    pub(super) fn bad_record(&self, record: u64, problem: &str) -> Error {
        let number = record + 1;
        let reason = format!("record {number}: {problem}: the database is damaged; make it again");
        bad(&self.names[1], reason)
    }

    /// Visits the ranges of the look-up table, a bin with the first and the last entry, by `threads` workers, each with a
    /// state that `make` made; returns the states.
    pub(super) fn each_range<S: Send>(
        &self,
        threads: usize,
        cancel: &Cancel,
        make: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, u64, u64, u64) -> Result<(), Error> + Sync,
    ) -> Result<Vec<S>, Error> {
        let prefixes = 1u64 << (2 * self.header.prefix_bases);
        let size = RANGE_PREFIXES.min(prefixes);
        // No range lies across two bins: both sizes are powers of 2.
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
