//! Makes the set of minimizers of genomes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_alignments::RecordOptions;
use merganser_io::{Header, Input, Keep, ReadInput, RecordBatch, Records};
use merganser_run::engine::each_batch;
use merganser_run::locks::lock;
use merganser_run::{Budget, Context, JobPlan, Unit};

use crate::letters::Letters;
use crate::sections::{each_section, sorted};
use crate::word::{ByWord, Word};
use crate::{Error, MinimizerSet, Minimizers, Params};

/// The maximum number of letters of a sequence that are processed at a time.
const STRETCH_LETTERS: usize = 256 << 10;
/// The bytes of text that a worker parses at a time. In the worst case, records without letters, the parsed records
/// take sixty times the memory of the text.
const CHUNK_BYTES: usize = 256 << 10;
/// The number of minimizers that a worker collects before it adds them to the sections.
const GATHERED: usize = 256 << 10;
/// The initial capacity of a section, in minimizers.
const MIN_ROOM: usize = 1 << 10;
/// The memory of a thread in bytes: letters, and their minimizers and collected minimizers, of which each takes the
/// bytes of its word.
const THREAD: u64 = 12 << 20;
const THREAD_WORDS: u64 = 5 * GATHERED as u64;

/// Returns the set of the minimizers of all sequences in `inputs`, with the threads and within the memory of
/// `context`. The progress has one stage, in bytes of input.
///
/// # Errors
/// If an input is invalid, if there are no minimizers, if the set does not fit into memory, or if the run is cancelled.
pub fn build(
    params: Params,
    inputs: impl IntoIterator<Item = impl Into<Input>>,
    context: &Context,
) -> Result<MinimizerSet, Error> {
    let inputs: &[Input] = &inputs.into_iter().map(Into::into).collect::<Vec<_>>();
    let numbers = match params.are_long() {
        false => ByWord::Short(numbers(params, inputs, context)?),
        true => ByWord::Long(numbers(params, inputs, context)?),
    };
    Ok(MinimizerSet::of_sorted(params, numbers))
}

/// Determines how [`build`] would make a set: with how much memory, apart from the minimizers. Nothing is read.
///
/// ```
/// use merganser_deplete::{Params, plan_build};
/// use merganser_run::Context;
///
/// let plan = plan_build(Params::new(31, 15)?, &Context::new().threads(2).memory(1 << 30))?;
/// assert!(plan.memory.is_some_and(|bytes| bytes < 1 << 30));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If `context` is out of range, or there is too little memory for any genome.
pub fn plan_build(params: Params, context: &Context) -> Result<JobPlan, Error> {
    context.validate()?;
    let needed = match params.are_long() {
        false => Sections::<u64>::new(budget::<u64>(context))?.budget.needed(),
        true => Sections::<u128>::new(budget::<u128>(context))?.budget.needed(),
    };
    let note = "the minimizers of the genomes need more memory";
    Ok(JobPlan::on(Vec::new()).with_memory(needed).with_note(note))
}

/// Returns the budget before the memory of the minimizers is subtracted.
fn budget<W: Word>(context: &Context) -> Budget {
    Budget::of_run(context, THREAD + THREAD_WORDS * W::BYTES as u64)
}

/// Returns the sorted numbers of the minimizers.
fn numbers<W: Word>(params: Params, inputs: &[Input], context: &Context) -> Result<Vec<W>, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    context.validate()?;
    let threads = context.threads;
    let sections = Sections::<W>::new(budget::<W>(context))?;
    let options = RecordOptions {
        keep: Keep { header: Header::Name, qualities: false },
        workers: threads,
        stretches: Some((STRETCH_LETTERS, params.bases() - 1)),
        chunk_bytes: CHUNK_BYTES,
        max_record: merganser_io::longest_record(context.budget() / 16, threads as u64 + 1),
        cancel: cancel.clone(),
        warnings: context.warnings.clone(),
        ..RecordOptions::default()
    };
    let segments: Vec<ReadInput> = inputs.iter().map(ReadInput::from).collect();
    let records = Records::open(&segments, options)?;
    progress.stage("indexing", Unit::Bytes, records.bytes_total());
    let gatherer = || Gatherer::new(params);
    let workers = each_batch(&records, threads, progress, cancel, gatherer, |worker, batch| {
        worker.add(batch, &sections)
    })?;
    let mut found = Letters::default();
    for mut worker in workers {
        sections.take(&mut worker.gathered)?;
        found.add(worker.found);
    }
    let numbers = sections.finish(threads)?;
    if numbers.is_empty() {
        return Err(Error::Empty(found.why_none(params, inputs)));
    }
    found.warn(params, inputs, &context.warnings);
    Ok(numbers)
}

/// A worker, which collects the minimizers of batches and adds them to the sections.
struct Gatherer<W> {
    params: Params,
    minimizers: Minimizers,
    values: Vec<W>,
    bounds: Vec<usize>,
    /// The collected minimizers by section.
    gathered: Vec<Vec<W>>,
    /// The number of collected minimizers.
    count: usize,
    /// The kinds of letters in the sequences, for warnings.
    found: Letters,
}

impl<W: Word> Gatherer<W> {
    fn new(params: Params) -> Gatherer<W> {
        Gatherer {
            params,
            minimizers: Minimizers::new(params),
            values: Vec::new(),
            bounds: Vec::new(),
            gathered: each_section(|_| Vec::new()),
            count: 0,
            found: Letters::default(),
        }
    }

    fn add(&mut self, batch: &RecordBatch, sections: &Sections<W>) -> Result<(), Error> {
        (0..batch.len()).for_each(|at| self.minimizers.push(batch.record(at).letters));
        self.values.clear();
        self.bounds.clear();
        self.minimizers.take(&mut self.values, &mut self.bounds);
        self.found.look_at(batch, self.values.is_empty());
        for &value in &self.values {
            // A one-to-one hash, so that all sections get about equal shares.
            let spread = self.params.spread(value);
            self.gathered[self.params.section(spread)].push(spread);
        }
        self.count += self.values.len();
        if self.count >= GATHERED {
            self.count = 0;
            sections.take(&mut self.gathered)?;
        }
        Ok(())
    }
}

/// The minimizers of all workers, by section.
struct Sections<W> {
    sections: Vec<Mutex<Vec<W>>>,
    /// The number of minimizers for which memory is reserved.
    room: AtomicU64,
    /// The memory budget before the memory of the minimizers is subtracted.
    budget: Budget,
}

impl<W: Word> Sections<W> {
    fn new(budget: Budget) -> Result<Sections<W>, Error> {
        let sections = each_section(|_| Mutex::default());
        let sections = Sections { sections, room: AtomicU64::new(0), budget };
        sections.suffices(0)?;
        Ok(sections)
    }

    /// Returns an error if there is not enough memory for this many minimizers.
    fn suffices(&self, numbers: u64) -> Result<(), Error> {
        // The message continues with the memory that is needed and given, then with the remedies.
        let what = "the minimizers of these genomes need";
        let budget = self.budget.with(W::BYTES as u64 * numbers);
        budget.check(what, "or index them one by one and unite the sets")?;
        Ok(())
    }

    /// Adds the minimizers that a worker collected.
    fn take(&self, gathered: &mut [Vec<W>]) -> Result<(), Error> {
        for (section, numbers) in self.sections.iter().zip(gathered) {
            let mut section = lock(section);
            if section.len() + numbers.len() > section.capacity() {
                section.sort_unstable();
                section.dedup();
                let wanted = section.len() + numbers.len();
                if wanted > section.capacity() / 4 * 3 {
                    let room = (wanted + wanted / 2).max(MIN_ROOM);
                    let more = room.saturating_sub(section.capacity()) as u64;
                    self.suffices(self.room.fetch_add(more, Ordering::Relaxed) + more)?;
                    let len = section.len();
                    section.reserve_exact(room - len);
                }
            }
            section.append(numbers);
        }
        Ok(())
    }

    /// Sorts all minimizers and removes duplicates.
    fn finish(self, threads: usize) -> Result<Vec<W>, Error> {
        sorted(self.sections, threads)
    }
}
