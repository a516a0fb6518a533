//! Classifying files of reads: read in order, classified by all workers, written in order.

mod reads;
mod report;
mod text;

pub use reads::Segment;
pub use report::Report;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use merganser_run::{Cancel, Progress, run_workers};

use crate::{Database, Error, Query, QueryParams, Thresholds};
use reads::{Batch, Source};

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// Reads and bases; a pair is one read.
    pub reads: u64,
    /// Bases of all reads.
    pub bases: u64,
    /// Reads that got a taxon.
    pub classified: u64,
    /// Reads by taxon.
    pub report: Report,
}

/// Where batches wait for their turn.
struct Ordered<'a> {
    waiting: BTreeMap<u64, Vec<u8>>,
    turn: u64,
    output: &'a mut (dyn Write + Send),
}

/// Classifies the reads of `segments`, one segment after the other, and writes a line in Kraken's
/// format for each read to `output`, in the order of the reads. What is written depends on nothing
/// but the database, the thresholds and the reads.
///
/// # Errors
/// As reading and writing; if mates are out of step; if cancelled.
pub fn classify(
    database: &Database,
    thresholds: &Thresholds,
    segments: &[Segment],
    threads: usize,
    output: &mut (dyn Write + Send),
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<RunResult, Error> {
    let source = Mutex::new(Source::open(segments, cancel)?);
    let lowest = thresholds.lowest;
    let (max_candidates, insert) = (thresholds.max_candidates, thresholds.insert);
    let query = Query::new(database, QueryParams { lowest, max_candidates, insert });
    let nodes: Vec<u32> = database.targets().iter().map(|target| target.node).collect();
    let ordered = Mutex::new(Ordered { waiting: BTreeMap::new(), turn: 0, output });
    let total = Mutex::new(RunResult::default());
    progress.stage("classify", lock(&source).bytes_total());
    run_workers(threads, |_| {
        let work = || -> Result<(), Error> {
            let mut scratch = query.scratch();
            let (mut candidates, mut ends) = (Vec::new(), Vec::new());
            let mut own = RunResult::default();
            let mut batch = Batch::default();
            loop {
                // The lock is let go before the work: in a `while let` it would be held until the
                // end of the loop's body.
                let filled = lock(&source).fill(&mut batch)?;
                let Some((number, bytes)) = filled else { break };
                let views = batch.views();
                candidates.clear();
                ends.clear();
                query.candidates(&views, &mut scratch, &mut candidates, &mut ends);
                let mut lines = Vec::with_capacity(64 * views.len());
                let mut start = 0;
                for (read, &end) in ends.iter().enumerate() {
                    let found = &candidates[start..end];
                    start = end;
                    let bases = views[read].iter().map(|mate| mate.len() as u64).sum();
                    let verdict = thresholds.decide(found, bases, database.taxonomy(), &nodes);
                    let node = text::node(verdict, &nodes);
                    own.count(node, bases);
                    let line = text::Line { id: batch.id(read), node, candidates: found };
                    line.write(database, &nodes, batch.lengths(read), &mut lines);
                }
                progress.advance(bytes);
                write_in_turn(&ordered, number, lines)?;
            }
            lock(&total).add(own);
            Ok(())
        };
        // The others must not go on reading after a failure.
        work().inspect_err(|_| lock(&source).stop())
    })?;
    progress.finish();
    Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn write_in_turn(ordered: &Mutex<Ordered<'_>>, number: u64, lines: Vec<u8>) -> Result<(), Error> {
    let mut ordered = lock(ordered);
    ordered.waiting.insert(number, lines);
    loop {
        let turn = ordered.turn;
        let Some(lines) = ordered.waiting.remove(&turn) else { return Ok(()) };
        ordered.output.write_all(&lines)?;
        ordered.turn += 1;
    }
}

impl RunResult {
    fn count(&mut self, node: Option<u32>, bases: u64) {
        self.reads += 1;
        self.bases += bases;
        self.classified += u64::from(node.is_some());
        self.report.count(node);
    }

    fn add(&mut self, other: RunResult) {
        self.reads += other.reads;
        self.bases += other.bases;
        self.classified += other.classified;
        self.report.add(other.report);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
