//! What a damaged database gives away: its format has no checksums, but much that must go together.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_run::{Cancel, run_workers};
use merganser_seq::kmer::Kmer;
use merganser_seq::signature::Rule;
use merganser_seq::with_kmer;

use super::{Database, SCAN_RECORDS, suffix};
use crate::Error;
use crate::tables::bad;

/// Entries of the look-up table that a worker takes at a time.
const PREFIXES: u64 = 1 << 12;

/// Where the signatures of a database of version 0x200 lead.
struct Signatures {
    /// Bases of a signature.
    length: usize,
    /// The norm of each p-mer,
    norms: Vec<u32>,
    /// and the bin of each norm.
    bins: Vec<u32>,
}

impl Signatures {
    fn bin<K: Kmer>(&self, kmer: K, k: usize) -> u64 {
        let mask = (1u64 << (2 * self.length)) - 1;
        let pmer = |at: usize| (kmer.shr(2 * at as u32).low() & mask) as usize;
        let norms = (0..=k - self.length).map(|at| self.norms[pmer(at)]);
        norms.min().map_or(u64::MAX, |norm| self.bins[norm as usize].into())
    }
}

impl Database {
    /// Checks that the look-up table rises from 0 to the number of records, that k-mers rise within
    /// each bin, are canonical if the header says so, and lie in the bin that their signature names,
    /// and that counts lie within the header's bounds.
    ///
    /// # Errors
    /// What is wrong; if a file cannot be read; [`Error::Cancelled`].
    pub(crate) fn verify(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        let first = self.entries(0, 0, 1)?[0];
        let guard = self.header.guard.map(|at| self.number(at)).transpose()?;
        if first != 0 || guard.is_some_and(|guard| guard != self.header.kmers) {
            return Err(self.damaged("its look-up table does not begin with 0, or ends wrong"));
        }
        let signatures = self.signatures()?;
        with_kmer!(self.header.k, K => self.verify_bins::<K>(signatures.as_ref(), threads, cancel))
    }

    /// A number of the prefix file.
    fn number(&self, at: u64) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        self.prefixes.read_exact_at(&mut bytes, at).map_err(|source| self.io(0, source))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads where signatures lead; `None` if the database has none.
    fn signatures(&self) -> Result<Option<Signatures>, Error> {
        let Some((at, length)) = self.header.signatures else { return Ok(None) };
        let (values, k) = (1usize << (2 * length), self.header.k);
        let mut bytes = vec![0; 4 * (values + 1)];
        self.prefixes.read_exact_at(&mut bytes, at).map_err(|source| self.io(0, source))?;
        let bins: Vec<u32> = bytes.chunks_exact(4).map(u32::load).collect();
        if bins.iter().any(|&bin| u64::from(bin) >= self.header.bins) {
            return Err(self.damaged("a signature leads to a bin that it does not have"));
        }
        if !(3..=k).contains(&length) {
            return Err(self.damaged("its signatures are longer than its k-mers"));
        }
        let norms = (0..values as u32).map(|pmer| Rule::Kmc2.norm(pmer, length, true)).collect();
        Ok(Some(Signatures { length, norms, bins }))
    }

    fn verify_bins<K: Kmer>(
        &self,
        signatures: Option<&Signatures>,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let prefixes = 1u64 << (2 * self.header.prefix_bases);
        let next = AtomicU64::new(0);
        run_workers::<Error, _>(threads, |_| {
            let mut bytes = Vec::new();
            loop {
                // Ranges never lie across two bins: both sizes are powers of 2.
                let from = next.fetch_add(PREFIXES.min(prefixes), Ordering::Relaxed);
                if from >= self.header.bins * prefixes {
                    return Ok(());
                }
                let (bin, from) = (from / prefixes, from % prefixes);
                let to = from + PREFIXES.min(prefixes);
                self.verify_range::<K>((bin, from, to), signatures, &mut bytes, cancel)?;
            }
        })
    }

    /// Checks the records of the prefixes `from` to `to` of a bin.
    fn verify_range<K: Kmer>(
        &self,
        (bin, from, to): (u64, u64, u64),
        signatures: Option<&Signatures>,
        bytes: &mut Vec<u8>,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let entries = self.entries(bin, from, to)?;
        let (k, bases) = (self.header.k, self.header.k - self.header.prefix_bases);
        let (mut prefix, mut last) = (0, None);
        let (mut at, end) = (entries[0], entries[entries.len() - 1]);
        while at < end {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let number = (end - at).min(SCAN_RECORDS) as usize;
            self.read_records(at, number, bytes)?;
            for record in at..at + number as u64 {
                while entries[prefix + 1] <= record {
                    prefix += 1;
                }
                let bytes = &bytes[(record - at) as usize * self.record_bytes()..];
                let high = K::from_low(from + prefix as u64).shl(2 * bases as u32);
                let kmer = high.or(suffix(bytes, bases));
                let problem = if last.is_some_and(|last| last >= kmer) {
                    "its k-mer is not above the one before"
                } else if self.header.canonical && kmer.reverse_complement(k) < kmer {
                    "its k-mer is not the smaller one of both strands, as the header says"
                } else if signatures.is_some_and(|signatures| signatures.bin(kmer, k) != bin) {
                    "its k-mer is not in the bin where look-ups search it"
                } else if self.header.count(bytes).is_none() {
                    "its count is outside the header's bounds"
                } else {
                    last = Some(kmer);
                    continue;
                };
                let reason = format!(
                    "record {}: {problem}: the database is damaged; make it again",
                    record + 1
                );
                return Err(bad(&self.names[1], reason));
            }
            at += number as u64;
        }
        Ok(())
    }
}
