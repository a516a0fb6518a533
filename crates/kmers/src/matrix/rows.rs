//! Workers that make rows, range by range.

use merganser_run::InOrder;
use merganser_seq::kmer::Kmer;

use super::format::{EncodedRows, RowFormat};
use super::sink::Sink;
use super::{MatrixConfig, MatrixOutcome};
use crate::Error;
use crate::algebra::{Cut, Place, Work};

/// A worker that makes the rows of ranges.
pub(super) struct Rows<'r, K> {
    config: &'r MatrixConfig,
    format: &'r RowFormat,
    cuts: &'r [Cut],
    in_order: &'r InOrder<EncodedRows, Sink>,
    /// The k-mers of a range, each with its sample and count.
    entries: Vec<(K, u32, u32)>,
    row: Vec<u32>,
    outcome: MatrixOutcome,
    done: bool,
}

impl<'r, K: Kmer> Rows<'r, K> {
    pub(super) fn new(
        config: &'r MatrixConfig,
        format: &'r RowFormat,
        cuts: &'r [Cut],
        in_order: &'r InOrder<EncodedRows, Sink>,
    ) -> Rows<'r, K> {
        let outcome = MatrixOutcome { filled: vec![0; cuts.len()], ..MatrixOutcome::default() };
        let row = vec![0; cuts.len()];
        Rows { config, format, cuts, in_order, entries: Vec::new(), row, outcome, done: false }
    }

    /// Returns the numbers of this worker after it has taken all its ranges.
    pub(super) fn finish(mut self) -> MatrixOutcome {
        self.done = true;
        std::mem::take(&mut self.outcome)
    }

    /// Fills the row with the counts of a k-mer; returns false if it is not solid in enough samples.
    fn fill(&mut self, entries: std::ops::Range<usize>) -> bool {
        let entries = &self.entries[entries];
        let least = self.config.solid;
        let solid = entries.iter().filter(|entry| entry.2 >= least).count();
        if solid < self.config.min_samples {
            return false;
        }
        let is_rescued = self.config.rescue.is_some_and(|samples| solid >= samples);
        self.row.fill(0);
        for &(_, sample, count) in entries {
            if count >= least || is_rescued {
                self.row[sample as usize] = if self.config.presence { 1 } else { count };
                self.outcome.filled[sample as usize] += 1;
            }
        }
        true
    }
}

impl<K: Kmer> Work<K> for Rows<'_, K> {
    fn range(&mut self, place: Place, tables: &mut [Vec<(K, u32)>]) -> Result<bool, Error> {
        self.entries.clear();
        for ((sample, run), cut) in (0..).zip(tables).zip(self.cuts) {
            let kept = run.iter().filter(|entry| cut.keeps(entry.1));
            self.entries.extend(kept.map(|&(kmer, count)| (kmer, sample, count)));
        }
        // The sort is stable, so the samples of a k-mer keep their order, and it merges runs that are already sorted.
        self.entries.sort_by_key(|entry| entry.0);
        let mut part = EncodedRows::default();
        let mut from = 0;
        while from < self.entries.len() {
            let kmer = self.entries[from].0;
            let same = self.entries[from..].iter().take_while(|entry| entry.0 == kmer).count();
            self.outcome.kmers += 1;
            if self.fill(from..from + same) {
                self.format.put(kmer, &self.row, &mut part);
            }
            from += same;
        }
        self.outcome.rows += part.rows;
        let weight = (part.bytes.len() + 4 * part.cells.len()) / size_of::<(K, u32)>();
        Ok(self.in_order.hand_in_some(place.section as u64, part, weight as u64, place.last))
    }
}

impl<K> Drop for Rows<'_, K> {
    fn drop(&mut self) {
        // After an error or a panic, the other workers must not wait for this worker's section.
        if !self.done {
            self.in_order.stop();
        }
    }
}
