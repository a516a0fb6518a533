//! The counts of many k-mers at once: sorted, so that each block is read and decoded once.

use merganser_run::{Cancel, run_workers_collect};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;

use super::reader::Table;
use crate::Error;

/// k-mers that a worker takes at least: fewer are faster looked up than shared out.
const LEAST_SHARE: usize = 512;

impl Table {
    /// The count of each of `kmers`, given by letters on either strand if the table is canonical; 0
    /// for those that it has not and for what is no k-mer of its k.
    ///
    /// # Errors
    /// If a block cannot be read or is damaged, or [`Error::Cancelled`].
    pub fn counts(
        &self,
        kmers: &[impl AsRef<[u8]> + Sync],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Vec<u32>, Error> {
        with_kmer!(self.header().k, K => self.counts_as::<K>(kmers, threads, cancel))
    }

    fn counts_as<K: Kmer>(
        &self,
        kmers: &[impl AsRef<[u8]> + Sync],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Vec<u32>, Error> {
        let (k, canonical) = (self.header().k, self.header().canonical);
        let parse = |(place, letters): (usize, &[u8])| {
            let kmer = K::from_letters(letters).filter(|_| letters.len() == k)?;
            let own = if canonical { kmer.least(kmer.reverse_complement(k)) } else { kmer };
            Some((own, place))
        };
        let letters = kmers.iter().map(AsRef::as_ref).enumerate();
        let mut wanted: Vec<(K, usize)> = letters.filter_map(parse).collect();
        wanted.sort_unstable();
        let share = wanted.len().div_ceil(threads.max(1)).max(LEAST_SHARE);
        let shares: Vec<&[(K, usize)]> = wanted.chunks(share).collect();
        let found = run_workers_collect(shares.len().max(1), |number| {
            shares.get(number).map_or(Ok(Vec::new()), |share| self.look_up(share, cancel))
        })?;
        let mut counts = vec![0; kmers.len()];
        for ((_, place), count) in wanted.iter().zip(found.into_iter().flatten()) {
            counts[*place] = count;
        }
        Ok(counts)
    }

    /// The counts of sorted k-mers.
    fn look_up<K: Kmer>(&self, wanted: &[(K, usize)], cancel: &Cancel) -> Result<Vec<u32>, Error> {
        let (mut block, mut bytes, mut kmers) = (None, Vec::new(), Vec::new());
        let mut counts = Vec::with_capacity(wanted.len());
        for (number, &(kmer, _)) in wanted.iter().enumerate() {
            if number % 4096 == 0 && cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let (from, to) = self.blocks_between(kmer, kmer);
            if from == to {
                counts.push(0);
                continue;
            }
            if block != Some(from) {
                kmers.clear();
                self.read_blocks::<K>(from, to, &mut bytes, &mut kmers)?;
                block = Some(from);
            }
            let place = kmers.binary_search_by_key(&kmer, |&(kmer, _)| kmer);
            counts.push(place.map_or(0, |at| kmers[at].1));
        }
        Ok(counts)
    }
}
