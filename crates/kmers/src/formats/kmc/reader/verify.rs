//! What a damaged database gives away: its format has no checksums, but much that must go together.

use std::os::unix::fs::FileExt;

use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;
use merganser_seq::signature::Rule;
use merganser_seq::with_kmer;

use super::{Before, Database};
use crate::Error;

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
        let k = self.header.k;
        self.each_range(threads, cancel, Vec::new, |bytes, bin, from, to| {
            let entries = self.entries(bin, from, to)?;
            let mut before = Before::new(entries[0]);
            self.scan::<K>(&entries, from, bytes, |kmer, _| {
                let record = before.record;
                before.check(self, kmer)?;
                let problem = if self.header.canonical && kmer.reverse_complement(k) < kmer {
                    "its k-mer is not the smaller one of both strands, as the header says"
                } else if signatures.is_some_and(|signatures| signatures.bin(kmer, k) != bin) {
                    "its k-mer is not in the bin where look-ups search it"
                } else {
                    return Ok(());
                };
                Err(self.bad_record(record, problem))
            })
        })?;
        Ok(())
    }
}
