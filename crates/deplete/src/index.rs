//! From genomes to their minimizers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use merganser_io::{Header, Input, Keep, RecordBatch, RecordOptions, Records, Segment};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, Progress, Resources, Shortage, Unit, run_workers};

use crate::{Error, MinimizerSet, Minimizers, Params};

/// Letters of a sequence that are taken at a time.
const STRETCH_LETTERS: usize = 256 << 10;
/// Numbers that a worker gathers before it hands them to the parts.
const GATHERED: usize = 256 << 10;
/// Parts of the range of numbers, by their highest bits.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 8;
/// Room of a part at first, in numbers.
const LEAST_ROOM: usize = 1 << 10;
/// What the process takes besides the numbers, and for each thread.
const FIXED: u64 = 24 << 20;
const FIXED_THREAD: u64 = 24 << 20;

/// The minimizers of all sequences of some files, within the memory of `resources`, whose threads all work on it.
/// Calls `progress` with one stage, in bytes of input.
///
/// # Errors
/// If an input is at fault, the set needs more memory, or the run is cancelled.
pub fn index(
    params: Params,
    inputs: &[Input],
    resources: &Resources,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<MinimizerSet, Error> {
    resources.validate()?;
    let threads = resources.threads;
    let fixed = FIXED + FIXED_THREAD * threads as u64;
    let parts = Parts::new(params, resources.budget(), fixed)?;
    let options = RecordOptions {
        keep: Keep { header: Header::Name, qualities: false },
        workers: threads,
        stretches: Some((STRETCH_LETTERS, params.bases() - 1)),
        cancel: cancel.clone(),
        ..RecordOptions::default()
    };
    let segments: Vec<Segment> = inputs.iter().cloned().map(Segment::Single).collect();
    let records = Records::open(&segments, options)?;
    progress.stage("indexing", Unit::Bytes, records.bytes_total());
    let done = run_workers(threads, |_| gather(params, &records, &parts, progress, cancel));
    // Readers that were told to end look as if they had failed.
    if cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    done?;
    parts.finish(threads)
}

/// Hands the minimizers of batches to the parts until there are none.
fn gather(
    params: Params,
    records: &Records,
    parts: &Parts,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<(), Error> {
    let mut batch = RecordBatch::default();
    let mut minimizers = Minimizers::new(params);
    let (mut values, mut bounds) = (Vec::new(), Vec::new());
    let mut gathered: Vec<Vec<u64>> = vec![Vec::new(); PARTS];
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
        for &value in &values {
            let spread = params.spread(value);
            gathered[parts.of(spread)].push(spread);
        }
        count += values.len();
        if count >= GATHERED {
            count = 0;
            if let Err(error) = parts.take(&mut gathered) {
                break Err(error);
            }
        }
    };
    let result = result.and_then(|()| parts.take(&mut gathered));
    if result.is_err() {
        records.stop();
    }
    result
}

/// The numbers so far, by their highest bits.
struct Parts {
    params: Params,
    parts: Vec<Mutex<Vec<u64>>>,
    /// Numbers for which there is room, and may be.
    room: AtomicU64,
    budget: u64,
    fixed: u64,
}

impl Parts {
    fn new(params: Params, budget: u64, fixed: u64) -> Result<Parts, Error> {
        let parts = (0..PARTS).map(|_| Mutex::default()).collect();
        let parts = Parts { params, parts, room: AtomicU64::new(0), budget, fixed };
        parts.suffices(0)?;
        Ok(parts)
    }

    /// An error if there is not enough memory for so many numbers.
    fn suffices(&self, numbers: u64) -> Result<(), Error> {
        let needed = self.fixed + 8 * numbers;
        if needed <= self.budget {
            return Ok(());
        }
        let what = "the minimizers of these genomes need".to_owned();
        let remedy = "or index them one by one";
        Err(Shortage { what, needed, budget: self.budget, remedy }.into())
    }

    fn of(&self, spread: u64) -> usize {
        let shift = (2 * self.params.k() as u32).saturating_sub(PART_BITS);
        (spread >> shift) as usize
    }

    /// Takes what a worker gathered.
    fn take(&self, gathered: &mut [Vec<u64>]) -> Result<(), Error> {
        for (part, numbers) in self.parts.iter().zip(gathered) {
            let mut part = lock(part);
            if part.len() + numbers.len() > part.capacity() {
                part.sort_unstable();
                part.dedup();
                let wanted = part.len() + numbers.len();
                if wanted > part.capacity() / 4 * 3 {
                    let room = (wanted + wanted / 2).max(LEAST_ROOM);
                    let more = room.saturating_sub(part.capacity()) as u64;
                    self.suffices(self.room.fetch_add(more, Ordering::Relaxed) + more)?;
                    let len = part.len();
                    part.reserve_exact(room - len);
                }
            }
            part.append(numbers);
        }
        Ok(())
    }

    /// Sorts all, each number once.
    fn finish(self, threads: usize) -> Result<MinimizerSet, Error> {
        let next = AtomicUsize::new(0);
        run_workers(threads, |_| {
            while let Some(part) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut part = lock(part);
                part.sort_unstable();
                part.dedup();
            }
            Ok::<(), Error>(())
        })?;
        let parts: Vec<Vec<u64>> = self.parts.into_iter().map(into_inner).collect();
        // Pages are there once they are written, when those of the part before are given back.
        let mut spread = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        for part in parts {
            spread.extend_from_slice(&part);
        }
        Ok(MinimizerSet::of_sorted(self.params, spread))
    }
}
