//! Simulation of reads from a library by all threads; each classifies the reads of the sequences that it takes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use merganser_io::RecordBatch;
use merganser_run::Unit;
use merganser_run::engine::each_batch;
use merganser_run::locks::{into_inner, lock};

use merganser_taxreport::bracken::{Distribution, Share};

use super::library::{
    Kraken2Sequence, Kraken2Taxids, LibraryReader, Seen, first_sequence, in_order,
};
use crate::Error;

/// Counts the reads of a sequence, or of a stretch of one, by taxid. Each thread has its own counter.
pub type Counter<'a> = Box<dyn FnMut(&[u8]) -> Result<BTreeMap<u32, u64>, Error> + Send + 'a>;

/// A library from which reads are simulated; see [`begin_simulation`](crate::begin_simulation).
pub struct Simulation<'a> {
    pub(crate) reading: LibraryReader<'a>,
}

/// The results of all threads so far.
#[derive(Default)]
struct Found {
    sequences: Vec<Seen>,
    /// The reads by taxid of each sequence, by the sequence's number.
    counts: HashMap<u64, BTreeMap<u32, u64>>,
}

impl Simulation<'_> {
    /// Computes the distribution. `counter` makes the counter of a thread; `taxids` finds the genome of each sequence.
    ///
    /// # Errors
    /// If reading or classifying fails; any error of `taxids`.
    pub fn run<'c>(
        self,
        counter: &'c (dyn Fn() -> Counter<'c> + Sync),
        taxids: Kraken2Taxids<'_>,
    ) -> Result<Distribution, Error> {
        let LibraryReader { inputs, progress, threads, cancel, .. } = self.reading;
        let records = self.reading.open()?;
        progress.stage("distribution", Unit::Bytes, records.bytes_total());
        let found = Mutex::default();
        each_batch(&records, threads, progress, cancel, counter, |counter, batch| {
            self.add(batch, counter, &found)
        })?;
        progress.finish();
        let Found { sequences, counts } = into_inner(found);
        let sequences = in_order(sequences, inputs);
        let taxids = taxids(&sequences)?;
        Ok(sum(&sequences, &taxids, &counts))
    }

    /// Counts the reads of a batch.
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
        found.sequences.extend(self.reading.seen(batch));
        for (sequence, counts) in counts {
            let own = found.counts.entry(sequence).or_default();
            counts.into_iter().for_each(|(taxid, reads)| {
                *own.entry(taxid).or_default() += reads;
            });
        }
        Ok(())
    }
}

/// Sums the counts of the sequences of each genome; `counts` has the reads of each sequence by taxid.
fn sum(
    sequences: &[Kraken2Sequence],
    taxids: &[Option<u32>],
    counts: &HashMap<u64, BTreeMap<u32, u64>>,
) -> Distribution {
    let mut distribution = Distribution::default();
    let mut totals: HashMap<u32, u64> = HashMap::new();
    // The index of a taxon's row, and of each genome in it.
    let mut places: HashMap<u32, (usize, HashMap<u32, usize>)> = HashMap::new();
    for (number, sequence) in sequences.iter().enumerate() {
        let Some(genome) = taxids.get(number).copied().flatten() else {
            distribution.unmapped.push(sequence.name().to_owned());
            continue;
        };
        let Some(counts) = counts.get(&(number as u64)) else { continue };
        *totals.entry(genome).or_default() += counts.values().sum::<u64>();
        for (&taxid, &reads) in counts {
            let rows = &mut distribution.rows;
            let (row, genomes) = places.entry(taxid).or_insert_with(|| {
                rows.push((taxid, Vec::new()));
                (rows.len() - 1, HashMap::new())
            });
            let shares = &mut rows[*row].1;
            let place = *genomes.entry(genome).or_insert_with(|| {
                shares.push(Share { genome, reads: 0, total: 0 });
                shares.len() - 1
            });
            shares[place].reads += reads;
        }
    }
    for share in distribution.rows.iter_mut().flat_map(|row| &mut row.1) {
        share.total = totals.get(&share.genome).copied().unwrap_or(0);
    }
    distribution
}
