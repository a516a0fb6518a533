//! The first reading of a library: its sequences, and how many minimizers they have, about.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_io::{Input, RecordBatch};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{OnFailure, Unit, run_workers};

use super::super::minimizers::{Entries, Minimizers};
use super::super::options::Kraken2Options;
use super::super::table::hash;
use super::reading::Reading;
use super::size::{SAMPLE_MASK, SAMPLED};
use crate::Error;

/// A sequence of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kraken2Sequence {
    /// Which of the inputs it is in.
    pub input: usize,
    /// Its header, without `>`.
    pub header: String,
}

impl Kraken2Sequence {
    /// Its name: the header up to the first blank.
    pub fn name(&self) -> &str {
        self.header.split_ascii_whitespace().next().unwrap_or_default()
    }

    /// The taxid that the header names by `kraken:taxid|`, if it does.
    pub fn taxid(&self) -> Option<u32> {
        let (_, rest) = self.header.split_once("kraken:taxid|")?;
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    }
}

/// What the first reading found.
pub(super) struct Survey {
    pub(super) sequences: Vec<Kraken2Sequence>,
    /// Distinct minimizers that are counted.
    pub(super) sampled: u64,
    /// Letters of all sequences.
    pub(super) letters: u64,
}

/// A sequence as a batch has it.
struct Seen {
    number: u64,
    /// Which record of its file it is, from 1.
    record: u64,
    file: String,
    header: String,
}

/// Reads all sequences.
///
/// # Errors
/// As reading.
pub(super) fn survey(reading: &Reading<'_>, options: &Kraken2Options) -> Result<Survey, Error> {
    let records = reading.open()?;
    reading.progress.stage("minimizers", Unit::Bytes, records.bytes_total());
    let (seen, samples) = (Mutex::new(Vec::new()), Mutex::new(HashSet::new()));
    let letters = AtomicU64::new(0);
    run_workers(reading.threads, |_| {
        let gone = OnFailure::new(|| records.stop());
        let mut batch = RecordBatch::default();
        let mut sampler = Sampler::new(options);
        while let Some(bytes) = records.next(&mut batch)? {
            reading.check(&batch)?;
            let some: u64 = (0..batch.len()).map(|at| reading.new_letters(&batch, at)).sum();
            letters.fetch_add(some, Ordering::Relaxed);
            lock(&samples).extend(sampler.sample(&batch));
            if batch.stretch().is_none_or(|stretch| stretch.begins) {
                let new: Vec<Seen> = (0..batch.len()).map(|at| seen_at(&batch, at)).collect();
                lock(&seen).extend(new);
            }
            reading.progress.advance(bytes);
        }
        gone.disarm();
        Ok::<(), Error>(())
    })
    .map_err(|error| reading.or_cancelled(error))?;
    reading.refuse_cancelled()?;
    reading.progress.finish();
    let (sampled, letters) = (into_inner(samples).len() as u64, letters.into_inner());
    Ok(Survey { sequences: in_order(into_inner(seen), reading.inputs), sampled, letters })
}

fn seen_at(batch: &RecordBatch, at: usize) -> Seen {
    let (file, record) = batch.place(at);
    Seen {
        number: batch.first() + at as u64,
        record,
        file: file.to_owned(),
        header: String::from_utf8_lossy(batch.record(at).header).into_owned(),
    }
}

/// The sequences in the order of the inputs, each with its input: the next one of its name begins with
/// its record 1, as inputs without records have none.
fn in_order(mut seen: Vec<Seen>, inputs: &[Input]) -> Vec<Kraken2Sequence> {
    seen.sort_unstable_by_key(|sequence| sequence.number);
    let names: Vec<String> = inputs.iter().map(ToString::to_string).collect();
    let (mut next, mut input) = (0, 0);
    let placed = seen.into_iter().map(|Seen { record, file, header, .. }| {
        if record == 1 {
            let skipped = names[next..].iter().position(|name| *name == file).unwrap_or(0);
            input = next + skipped;
            next = input + 1;
        }
        Kraken2Sequence { input, header }
    });
    placed.collect()
}

/// Finds the minimizers that are counted.
struct Sampler {
    scanner: Minimizers,
    entries: Entries,
    found: Vec<u64>,
}

impl Sampler {
    fn new(options: &Kraken2Options) -> Sampler {
        let (scanner, entries) = (Minimizers::new(options), Entries::default());
        Sampler { scanner, entries, found: Vec::new() }
    }

    /// Those of a batch, each once.
    fn sample(&mut self, batch: &RecordBatch) -> impl Iterator<Item = u64> {
        let Sampler { scanner, entries, found } = self;
        for at in 0..batch.len() {
            let mut take = |entries: &mut Entries| {
                let sampled = |minimizer: &u64| hash(*minimizer) & SAMPLE_MASK < SAMPLED;
                found.extend(entries.minimizers.drain(..).filter(sampled));
                entries.runs.clear();
                Ok::<(), std::convert::Infallible>(())
            };
            let Ok(()) = scanner.scan(batch.record(at).letters, entries, &mut take);
            let Ok(()) = take(entries);
        }
        found.sort_unstable();
        found.dedup();
        found.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_given_their_inputs() {
        let input = |name: &str| Input::File(name.into());
        let seen = |number, record, file: &str| Seen {
            number,
            record,
            file: file.to_owned(),
            header: format!("s{number}"),
        };
        let inputs = ["a", "empty", "b", "a"].map(input);
        let all = vec![seen(3, 1, "a"), seen(2, 1, "b"), seen(0, 1, "a"), seen(1, 2, "a")];
        let placed: Vec<(usize, String)> =
            in_order(all, &inputs).into_iter().map(|one| (one.input, one.header)).collect();
        let expected = [(0, "s0"), (0, "s1"), (2, "s2"), (3, "s3")];
        assert_eq!(placed, expected.map(|(input, header)| (input, header.to_owned())));
    }

    #[test]
    fn headers_tell_names_and_taxids() {
        let of = |header: &str| {
            let sequence = Kraken2Sequence { input: 0, header: header.to_owned() };
            (sequence.name().to_owned(), sequence.taxid())
        };
        assert_eq!(of("s1|kraken:taxid|562 text"), ("s1|kraken:taxid|562".to_owned(), Some(562)));
        assert_eq!(of("kraken:taxid|9|NC_1"), ("kraken:taxid|9|NC_1".to_owned(), Some(9)));
        assert_eq!(of("s2 taxid|5"), ("s2".to_owned(), None));
        assert_eq!(of("s2 kraken:taxid|99999999999"), ("s2".to_owned(), None));
    }
}
