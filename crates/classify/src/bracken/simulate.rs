//! A library read by all threads, each of which classifies the reads of the sequences that it takes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use merganser_io::RecordBatch;
use merganser_run::Unit;
use merganser_run::engine::each_batch;
use merganser_run::locks::{into_inner, lock};

use super::{Distribution, sum};
use crate::Error;
use crate::kraken2::library::{Kraken2Taxids, Reading, Seen, first_sequence, in_order};

/// Counts the reads of a sequence, or a stretch of one, by taxid; a thread's own.
pub(super) type Counter<'a> =
    Box<dyn FnMut(&[u8]) -> Result<BTreeMap<u32, u64>, Error> + Send + 'a>;

/// A library whose reads are to be classified.
pub(super) struct Simulation<'a> {
    pub(super) reading: Reading<'a>,
    /// Makes a thread's counter.
    pub(super) counter: &'a (dyn Fn() -> Counter<'a> + Sync),
}

/// What all threads found so far.
#[derive(Default)]
struct Found {
    sequences: Vec<Seen>,
    /// By sequence.
    counts: HashMap<u64, BTreeMap<u32, u64>>,
}

impl Simulation<'_> {
    /// The distribution; `taxids` finds the genomes of all sequences.
    ///
    /// # Errors
    /// As reading, classifying, and `taxids`.
    pub(super) fn run(self, taxids: Kraken2Taxids<'_>) -> Result<Distribution, Error> {
        let Reading { inputs, progress, threads, cancel, .. } = self.reading;
        let records = self.reading.open()?;
        progress.stage("distribution", Unit::Bytes, records.bytes_total());
        let found = Mutex::default();
        each_batch(&records, threads, progress, cancel, self.counter, |counter, batch| {
            self.add(batch, counter, &found)
        })?;
        progress.finish();
        let Found { sequences, counts } = into_inner(found);
        let sequences = in_order(sequences, inputs);
        let taxids = taxids(&sequences)?;
        Ok(sum(&sequences, &taxids, &counts))
    }

    /// Adds the counts of a batch.
    fn add(
        &self,
        batch: &RecordBatch,
        counter: &mut Counter<'_>,
        found: &Mutex<Found>,
    ) -> Result<(), Error> {
        self.reading.check(batch)?;
        let first = first_sequence(batch);
        let mut counts = Vec::with_capacity(batch.len());
        for at in 0..batch.len() {
            counts.push((first + at as u64, counter(batch.record(at).letters)?));
        }
        let mut found = lock(found);
        found.sequences.extend(Seen::of(batch));
        for (sequence, counts) in counts {
            let own = found.counts.entry(sequence).or_default();
            counts.into_iter().for_each(|(taxid, reads)| {
                *own.entry(taxid).or_default() += reads;
            });
        }
        Ok(())
    }
}
