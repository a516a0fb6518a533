//! From genomes to their minimizers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use merganser_io::{Header, Input, Keep, RecordBatch, RecordOptions, Records, Segment};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Budget, Cancel, Progress, Resources, Unit, run_workers};

use crate::letters::Letters;
use crate::sections::{each_section, sorted};
use crate::{Error, MinimizerSet, Minimizers, Params};

/// Letters of a sequence that are taken at a time.
const STRETCH_LETTERS: usize = 256 << 10;
/// Text that a worker parses at a time: of records without letters it takes sixty times as much.
const CHUNK_BYTES: usize = 256 << 10;
/// Numbers that a worker gathers before it hands them to the sections.
const GATHERED: usize = 256 << 10;
/// Room of a section at first, in numbers.
const LEAST_ROOM: usize = 1 << 10;
/// Memory of a thread: letters, their numbers, and those that it gathers.
const THREAD: u64 = 22 << 20;

/// The minimizers of all sequences of some files, within the memory of `resources`, whose threads all work on it.
/// Calls `progress` with one stage, in bytes of input.
///
/// # Errors
/// If an input is at fault, there are no minimizers, the set needs more memory, or the run is cancelled.
pub fn index(
    params: Params,
    inputs: &[Input],
    resources: &Resources,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<MinimizerSet, Error> {
    resources.validate()?;
    let threads = resources.threads;
    let sections = Sections::new(params, Budget::of_run(resources, THREAD))?;
    let options = RecordOptions {
        keep: Keep { header: Header::Name, qualities: false },
        workers: threads,
        stretches: Some((STRETCH_LETTERS, params.bases() - 1)),
        chunk_bytes: CHUNK_BYTES,
        max_record: merganser_io::longest_record(resources.budget() / 16, threads as u64 + 1),
        cancel: cancel.clone(),
        warnings: resources.warnings.clone(),
        ..RecordOptions::default()
    };
    let segments: Vec<Segment> = inputs.iter().cloned().map(Segment::Single).collect();
    let records = Records::open(&segments, options)?;
    progress.stage("indexing", Unit::Bytes, records.bytes_total());
    let found = Mutex::new(Letters::default());
    let done = run_workers(threads, |_| {
        let own = gather(params, &records, &sections, progress, cancel)?;
        lock(&found).add(own);
        Ok::<(), Error>(())
    });
    // Readers that were told to end look as if they had failed.
    if cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    done?;
    let set = sections.finish(threads)?;
    let found = into_inner(found);
    if set.is_empty() {
        return Err(Error::Empty(found.why_none(params, inputs)));
    }
    found.warn(&resources.warnings);
    Ok(set)
}

/// Hands the minimizers of batches to the sections until there are none.
fn gather(
    params: Params,
    records: &Records,
    sections: &Sections,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Letters, Error> {
    let mut found = Letters::default();
    let mut batch = RecordBatch::default();
    let mut minimizers = Minimizers::new(params);
    let (mut values, mut bounds) = (Vec::new(), Vec::new());
    let mut gathered: Vec<Vec<u64>> = each_section(|_| Vec::new());
    let mut count = 0;
    let result = loop {
        match records.next(&mut batch) {
            Ok(Some(bytes)) => progress.advance(bytes),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.into()),
        }
        if cancel.is_cancelled() {
            break Err(Error::Cancelled);
        }
        (0..batch.len()).for_each(|at| minimizers.push(batch.record(at).letters));
        values.clear();
        bounds.clear();
        minimizers.take(&mut values, &mut bounds);
        found.look_at(&batch, values.is_empty());
        for &value in &values {
            let spread = params.spread(value);
            gathered[params.section(spread)].push(spread);
        }
        count += values.len();
        if count >= GATHERED {
            count = 0;
            if let Err(error) = sections.take(&mut gathered) {
                break Err(error);
            }
        }
    };
    let result = result.and_then(|()| sections.take(&mut gathered));
    if result.is_err() {
        records.stop();
    }
    result.map(|()| found)
}

/// The numbers so far, by their section.
struct Sections {
    params: Params,
    sections: Vec<Mutex<Vec<u64>>>,
    /// Numbers for which there is room, and may be.
    room: AtomicU64,
    /// Without the numbers.
    budget: Budget,
}

impl Sections {
    fn new(params: Params, budget: Budget) -> Result<Sections, Error> {
        let sections = each_section(|_| Mutex::default());
        let sections = Sections { params, sections, room: AtomicU64::new(0), budget };
        sections.suffices(0)?;
        Ok(sections)
    }

    /// An error if there is not enough memory for so many numbers.
    fn suffices(&self, numbers: u64) -> Result<(), Error> {
        let what = "the minimizers of these genomes need";
        self.budget.with(8 * numbers).check(what, "or index them one by one")?;
        Ok(())
    }

    /// Takes what a worker gathered.
    fn take(&self, gathered: &mut [Vec<u64>]) -> Result<(), Error> {
        for (section, numbers) in self.sections.iter().zip(gathered) {
            let mut section = lock(section);
            if section.len() + numbers.len() > section.capacity() {
                section.sort_unstable();
                section.dedup();
                let wanted = section.len() + numbers.len();
                if wanted > section.capacity() / 4 * 3 {
                    let room = (wanted + wanted / 2).max(LEAST_ROOM);
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

    /// Sorts all, each number once.
    fn finish(self, threads: usize) -> Result<MinimizerSet, Error> {
        sorted(self.params, self.sections, threads)
    }
}
