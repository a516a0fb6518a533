//! Verifies databases. The format has no checksums, but damage shows in parts that contradict each other.

use std::os::unix::fs::FileExt;

use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;
use merganser_seq::signature::Rule;
use merganser_seq::with_kmer;

use super::{Before, Database};
use crate::Error;

/// The map from signatures to bins in a database of version 0x200.
struct Signatures {
    /// The length of a signature, in bases.
    length: usize,
    /// The norm of each p-mer.
    norms: Vec<u32>,
    /// The bin of each norm.
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
    /// Checks that the look-up table ascends from 0 to the number of records, that k-mers are ascending in each
    /// bin, canonical if the header says so, and in the bin of their signature, and that counts are within the
    /// bounds of the header.
    ///
    /// # Errors
    /// If a check fails, a file cannot be read, or the run was cancelled ([`Error::Cancelled`]).
    pub(crate) fn verify(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        let first = self.entries(0, 0, 1)?[0];
        let guard = self.header.guard.map(|at| self.number(at)).transpose()?;
        if first != 0 || guard.is_some_and(|guard| guard != self.header.kmers) {
            return Err(self.damaged("its look-up table begins or ends with a wrong number"));
        }
        let signatures = self.signatures()?;
        with_kmer!(self.header.k, K => self.verify_bins::<K>(signatures.as_ref(), threads, cancel))
    }

    /// Reads a number from the prefix file.
    fn number(&self, at: u64) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        self.prefixes.read_exact_at(&mut bytes, at).map_err(|source| self.io(0, source))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads the map from signatures to bins; `None` if the database has none.
    fn signatures(&self) -> Result<Option<Signatures>, Error> {
        let Some((at, length)) = self.header.signatures else { return Ok(None) };
        let (values, k) = (1usize << (2 * length), self.header.k);
        let mut bytes = vec![0; 4 * (values + 1)];
        self.prefixes.read_exact_at(&mut bytes, at).map_err(|source| self.io(0, source))?;
        let bins: Vec<u32> = bytes.chunks_exact(4).map(u32::load).collect();
        if bins.iter().any(|&bin| u64::from(bin) >= self.header.bins) {
            return Err(self.damaged("a signature points to a bin that does not exist"));
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
        let k = self.header.k;
        self.each_range(threads, cancel, Vec::new, |bytes, bin, from, to| {
            let entries = self.entries(bin, from, to)?;
            let mut before = Before::new(entries[0]);
            self.scan::<K>(&entries, from, bytes, |kmer, _| {
                let record = before.record;
                before.check(self, kmer)?;
                let problem = if self.header.canonical && kmer.reverse_complement(k) < kmer {
                    "its k-mer is larger than its reverse complement, but the header says canonical"
                } else if signatures.is_some_and(|signatures| signatures.bin(kmer, k) != bin) {
                    "its k-mer is not in the bin of its signature"
                } else {
                    return Ok(());
                };
                Err(self.bad_record(record, problem))
            })
        })?;
        Ok(())
    }
}
