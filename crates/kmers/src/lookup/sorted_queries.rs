//! Looks up a few k-mers in a large `.mgk` table: they are sorted, so that only the blocks that may contain
//! them are read and decoded, each once.

use merganser_run::{Cancel, side_by_side};
use merganser_seq::kmer::Kmer;

use super::Lookup;
use super::sliding::Sliding;
use crate::algebra::Cut;
use crate::tables::AnyTable;
use crate::{Error, Table};

/// The minimum number of k-mers for a worker: for fewer, distributing them takes longer than looking them up.
const MIN_SHARE: usize = 512;
/// The number of k-mers that are looked up together.
const AT_ONCE: usize = 1 << 20;
/// The number of k-mers between checks for cancellation.
const PATIENCE: usize = 4096;

pub(crate) struct SortedQueries<K> {
    table: AnyTable,
    cut: Cut,
    threads: usize,
    cancel: Cancel,
    width: std::marker::PhantomData<fn(K)>,
}

impl<K: Kmer> SortedQueries<K> {
    pub(super) fn new(
        table: AnyTable,
        cut: Cut,
        threads: usize,
        cancel: &Cancel,
    ) -> SortedQueries<K> {
        let (cancel, width) = (cancel.clone(), std::marker::PhantomData);
        SortedQueries { table, cut, threads: threads.max(1), cancel, width }
    }

    /// Returns the counts of sorted k-mers.
    fn look_up(&self, table: &Table, wanted: &[(K, u32)]) -> Result<Vec<u32>, Error> {
        let (mut bytes, mut block, mut at) = (Vec::new(), Vec::<(K, u32)>::new(), 0);
        let mut counts = Vec::with_capacity(wanted.len());
        for (number, &(kmer, _)) in wanted.iter().enumerate() {
            if number % PATIENCE == 0 && self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if block.last().is_none_or(|&(last, _)| last < kmer) {
                (at, block) = (0, {
                    block.clear();
                    block
                });
                let (from, to) = table.blocks_between(kmer, kmer);
                if from < to {
                    table.read_blocks::<K>(from, to, &mut bytes, &mut block)?;
                }
            }
            at += block[at..].partition_point(|&(other, _)| other < kmer);
            let found =
                block.get(at).filter(|&&(other, count)| other == kmer && self.cut.keeps(count));
            counts.push(found.map_or(0, |&(_, count)| count));
        }
        Ok(counts)
    }
}

impl<K: Kmer> Lookup for SortedQueries<K> {
    fn k(&self) -> usize {
        self.table.description().k
    }

    fn letters_at_once(&self) -> usize {
        AT_ONCE * (self.k() + 1)
    }

    fn takes_all_threads(&self) -> bool {
        true
    }

    fn counts(&self, letters: &[u8], stride: usize, counts: &mut Vec<u32>) -> Result<(), Error> {
        let sliding = Sliding::of(self.table.description(), stride);
        sliding.begin(letters, counts);
        let Some(table) = self.table.as_mgk() else { return Ok(()) };
        let mut wanted: Vec<(K, u32)> = Vec::with_capacity(counts.len());
        sliding.each(letters, |kmer, place| wanted.push((kmer, place as u32)));
        wanted.sort_unstable();
        let share = wanted.len().div_ceil(self.threads).max(MIN_SHARE);
        let found = side_by_side(wanted.chunks(share), |share| self.look_up(table, share))?;
        for (share, found) in wanted.chunks(share).zip(found) {
            for (&(_, place), count) in share.iter().zip(found) {
                counts[place as usize] = count;
            }
        }
        Ok(())
    }
}
