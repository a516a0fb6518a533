//! Batches of reads on their way: while all workers look up and work on one, one of them reads the
//! next before it joins in, and another writes what was made of the last.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use merganser_io::Output;
use merganser_run::run_workers_collect;

use super::Resources;
use super::records::Record;
use super::units::Units;
use crate::Error;

/// Letters of a batch at least: so many make up for starting the workers.
const LEAST_LETTERS: usize = 2 << 20;
/// Tasks of a batch for each worker, so that none waits long for the last.
const TASKS: usize = 2;
/// Letters of a task, where they are looked up together before.
const TASK_LETTERS: usize = 128 << 10;
/// Bytes that batches take, readers and outputs included: what is read, worked on, and written.
pub(super) const BASE_BYTES: u64 = 40 << 20;
/// More for each worker.
pub(super) const WORKER_BYTES: u64 = 6 << 20;

/// What is made of reads and the counts of their k-mers.
pub(super) trait Work: Sync {
    type Tally: Default + Send;

    /// How many outputs it writes.
    fn outputs(&self) -> usize;

    /// Takes a unit of reads; appends to the text of each output.
    fn unit(
        &self,
        reads: &mut [Record],
        counts: Counts<'_>,
        texts: &mut [Vec<u8>],
        tally: &mut Self::Tally,
    );
}

/// The counts of the k-mers of a unit's reads, one read after the other.
pub(super) struct Counts<'c> {
    counts: &'c mut [u32],
    k: usize,
}

impl<'c> Counts<'c> {
    /// Those of the next read.
    pub(super) fn next(&mut self, read: &Record) -> &'c mut [u32] {
        let letters = read.sequence.len();
        let (own, rest) = std::mem::take(&mut self.counts).split_at_mut(letters + 1);
        self.counts = rest;
        &mut own[..(letters + 1).saturating_sub(self.k)]
    }
}

/// What was made of a task: its number, a text for each output, the tally.
type Made<T> = (usize, Vec<Vec<u8>>, T);

/// Takes all reads of `units` through `work`, and writes what it makes of them in their order.
/// Returns the tallies of all tasks.
pub(super) fn run<W: Work>(
    resources: Resources<'_>,
    work: &W,
    mut units: Units,
    outputs: &mut [Output],
) -> Result<Vec<W::Tally>, Error> {
    let Resources { lookup, threads, progress, cancel } = resources;
    let together = lookup.takes_all_threads();
    let letters = match together {
        true => lookup.letters_at_once(),
        false => (TASKS * threads * lookup.letters_at_once()).max(LEAST_LETTERS),
    };
    let (mut tallies, mut texts) = (Vec::new(), Vec::new());
    let mut counts = Vec::new();
    let mut batch = units.next(letters);
    // What was made before an error stands.
    while let Ok(reads) = batch.as_mut() {
        if reads.is_empty() || cancel.is_cancelled() {
            break;
        }
        progress.advance(units.take_bytes());
        if together {
            write(outputs, &std::mem::take(&mut texts))?;
            lookup.counts(&joined(reads), 1, &mut counts)?;
        }
        let tasks = tasks(reads, units.reads(), resources, &mut counts);
        let (ahead, behind) = (Mutex::new((&mut units, None)), Mutex::new(&mut *outputs));
        let before = std::mem::take(&mut texts);
        let next = AtomicUsize::new(0);
        let done = run_workers_collect(threads, |number| {
            if number == 0 && !together {
                let mut ahead = ahead.lock().unwrap_or_else(PoisonError::into_inner);
                let batch = ahead.0.next(letters);
                ahead.1 = Some(batch);
            }
            if number + 1 == threads {
                write(&mut behind.lock().unwrap_or_else(PoisonError::into_inner), &before)?;
            }
            worker(resources, work, &tasks, &next)
        })?;
        let mut done: Vec<Made<W::Tally>> = done.into_iter().flatten().collect();
        done.sort_unstable_by_key(|made| made.0);
        for (_, text, tally) in done {
            texts.push(text);
            tallies.push(tally);
        }
        let read = ahead.into_inner().unwrap_or_else(PoisonError::into_inner).1;
        drop(tasks);
        batch = match read {
            Some(read) => read,
            None => {
                // Two batches at once would be one too many.
                drop(batch);
                units.next(letters)
            }
        };
    }
    write(outputs, &texts)?;
    if cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    batch.map(|_| tallies)
}

/// Units that one worker takes together, and their counts if these are known.
struct Task<'t> {
    reads: &'t mut [Record],
    /// Reads of a unit.
    of_unit: usize,
    counts: Option<&'t mut [u32]>,
    k: usize,
}

fn tasks<'t>(
    mut reads: &'t mut [Record],
    of_unit: usize,
    resources: Resources<'_>,
    counts: &'t mut [u32],
) -> Vec<Mutex<Task<'t>>> {
    let lookup = resources.lookup;
    let k = lookup.k();
    let together = lookup.takes_all_threads();
    let most = if together { TASK_LETTERS } else { lookup.letters_at_once() };
    let mut left = if together { counts } else { &mut [] };
    let mut tasks = Vec::new();
    while !reads.is_empty() {
        let (mut number, mut letters) = (0, 0);
        while number < reads.len() && letters < most {
            let unit = &reads[number..number + of_unit];
            letters += unit.iter().map(|read| read.sequence.len() + 1).sum::<usize>();
            number += of_unit;
        }
        let (own, rest) = std::mem::take(&mut reads).split_at_mut(number);
        reads = rest;
        let counts = together.then(|| {
            let (own, rest) = std::mem::take(&mut left).split_at_mut(letters);
            left = rest;
            own
        });
        tasks.push(Mutex::new(Task { reads: own, of_unit, counts, k }));
    }
    tasks
}

/// Takes tasks until there are none.
fn worker<W: Work>(
    resources: Resources<'_>,
    work: &W,
    tasks: &[Mutex<Task<'_>>],
    next: &AtomicUsize,
) -> Result<Vec<Made<W::Tally>>, Error> {
    let mut made = Vec::new();
    let mut own = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = tasks.get(number) else { return Ok(made) };
        let mut task = task.lock().unwrap_or_else(PoisonError::into_inner);
        let Task { reads, of_unit, counts, k } = &mut *task;
        let mut counts = match counts {
            Some(counts) => Counts { counts, k: *k },
            None => {
                resources.lookup.counts(&joined(reads), 1, &mut own).inspect_err(|_| {
                    // The others stop at their next task.
                    next.store(tasks.len(), Ordering::Relaxed);
                })?;
                Counts { counts: &mut own, k: *k }
            }
        };
        let (mut texts, mut tally) = (vec![Vec::new(); work.outputs()], W::Tally::default());
        for unit in reads.chunks_mut(*of_unit) {
            let letters = unit.iter().map(|read| read.sequence.len() + 1).sum::<usize>();
            let (own, rest) = std::mem::take(&mut counts.counts).split_at_mut(letters);
            counts.counts = rest;
            work.unit(unit, Counts { counts: own, k: *k }, &mut texts, &mut tally);
        }
        made.push((number, texts, tally));
    }
}

/// The sequences of reads, a line each.
fn joined(reads: &[Record]) -> Vec<u8> {
    let letters = reads.iter().map(|read| read.sequence.len() + 1).sum();
    let mut joined = Vec::with_capacity(letters);
    for read in reads {
        joined.extend_from_slice(&read.sequence);
        joined.push(b'\n');
    }
    joined
}

fn write(outputs: &mut [Output], texts: &[Vec<Vec<u8>>]) -> Result<(), Error> {
    for texts in texts {
        for (output, text) in outputs.iter_mut().zip(texts) {
            output.write_all(text)?;
        }
    }
    Ok(())
}
