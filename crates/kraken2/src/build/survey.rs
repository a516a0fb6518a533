//! The first pass over a library, which lists its sequences and estimates the number of their minimizers.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_io::{InputSet, RecordBatch};
use merganser_run::Unit;
use merganser_run::engine::each_batch;
use merganser_run::locks::{into_inner, lock};

use super::super::library::{Kraken2Sequence, LibraryReader, Seen, in_order};
use super::super::minimizers::{Entries, Minimizers};
use super::super::options::Kraken2Options;
use super::super::table::hash;

use super::size::{SAMPLE_MASK, SAMPLED};
use crate::Error;

/// The results of the first pass.
pub(super) struct Survey {
    pub(super) sequences: Vec<Kraken2Sequence>,
    /// The number of distinct minimizers in the sample.
    pub(super) sampled: u64,
    /// The number of letters of all sequences.
    pub(super) letters: u64,
    /// The number of letters that are U, which is not a base in Kraken 2 databases, by file.
    pub(super) uracil: BTreeMap<String, u64>,
    /// The numbers of the inputs without a minimizer.
    pub(super) without: Vec<usize>,
}

/// Reads all sequences. `check` gets the memory of all names so far, in bytes, and can refuse it.
///
/// # Errors
/// If reading fails; if an input cannot be read again; any error of `check`.
pub(super) fn survey(
    reading: &LibraryReader<'_>,
    options: &Kraken2Options,
    check: impl Fn(u64) -> Result<(), Error> + Sync,
) -> Result<Survey, Error> {
    let records = reading.open()?;
    // The total is known only if all inputs are regular files.
    if records.bytes_total().is_none() {
        return Err(Error::Input(
            "a library is read twice, and a pipe or standard input only once: give files"
                .to_owned(),
        ));
    }
    reading.progress.stage("minimizers", Unit::Bytes, records.bytes_total());
    let (seen, samples) = (Mutex::new(Vec::new()), Mutex::new(HashSet::new()));
    let (letters, names) = (AtomicU64::new(0), AtomicU64::new(0));
    let uracil = Mutex::new(BTreeMap::new());
    let LibraryReader { threads, progress, cancel, .. } = *reading;
    let own = || Sampler::new(options);
    let samplers = each_batch(&records, threads, progress, cancel, own, |sampler, batch| {
        reading.check(batch)?;
        reading.mask(batch);
        let some: u64 = (0..batch.len()).map(|at| reading.new_letters(batch, at)).sum();
        letters.fetch_add(some, Ordering::Relaxed);
        for at in 0..batch.len() {
            let count = reading.new_uracil(batch, at);
            if count > 0 {
                let file = batch.place(at).0.to_owned();
                *lock(&uracil).entry(file).or_default() += count;
            }
        }
        lock(&samples).extend(sampler.sample(reading, batch));
        let new: Vec<Seen> = reading.seen(batch).collect();
        let taken: u64 = new.iter().filter_map(|seen| seen.header.as_deref()).map(name_bytes).sum();
        check(taken + names.fetch_add(taken, Ordering::Relaxed))?;
        lock(&seen).extend(new);
        Ok::<(), Error>(())
    })?;
    progress.finish();
    let (sampled, letters) = (into_inner(samples).len() as u64, letters.into_inner());
    let (sequences, uracil) = (in_order(into_inner(seen), reading.inputs), into_inner(uracil));
    let mut with = InputSet::default();
    samplers.iter().for_each(|sampler| with.merge(&sampler.with));
    let without = with.missing(reading.inputs.len());
    Ok(Survey { sequences, sampled, letters, uracil, without })
}

/// Returns the memory of a sequence in bytes: its facts, and its name while its taxid is looked up.
pub(super) fn name_bytes(header: &str) -> u64 {
    256 + header.len() as u64
}

/// Finds the minimizers of batches that are in the sample.
struct Sampler {
    scanner: Minimizers,
    entries: Entries,
    found: Vec<u64>,
    /// The inputs that have a minimizer.
    with: InputSet,
}

impl Sampler {
    fn new(options: &Kraken2Options) -> Sampler {
        let (scanner, entries) = (Minimizers::new(options), Entries::default());
        Sampler { scanner, entries, found: Vec::new(), with: InputSet::default() }
    }

    /// Returns the distinct sampled minimizers of a batch.
    fn sample(
        &mut self,
        reading: &LibraryReader<'_>,
        batch: &RecordBatch,
    ) -> impl Iterator<Item = u64> {
        let Sampler { scanner, entries, found, with } = self;
        let mut has_minimizers = false;
        for at in 0..batch.len() {
            let mut take = |entries: &mut Entries| {
                let sampled = |minimizer: &u64| hash(*minimizer) & SAMPLE_MASK < SAMPLED;
                has_minimizers |= !entries.minimizers.is_empty();
                found.extend(entries.minimizers.drain(..).filter(sampled));
                entries.runs.clear();
                Ok::<(), std::convert::Infallible>(())
            };
            let Ok(()) = scanner.scan(reading.letters(batch, at), entries, &mut take);
            let Ok(()) = take(entries);
        }
        if has_minimizers {
            with.insert(batch.segment());
        }
        found.sort_unstable();
        found.dedup();
        found.drain(..)
    }
}
