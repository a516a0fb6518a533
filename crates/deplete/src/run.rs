//! Reads held against a host: kept or removed, in the order of the input.

mod output;
mod worker;

use std::time::Instant;

use merganser_alignments::RecordOptions;
use merganser_io::{Header, Keep, Needs, ReadInput, Records};
use merganser_run::engine::Engine;
use merganser_run::{Budget, Cancel, Progress, Resources, Shortage, Stages, Unit, peak_rss};

use crate::{Config, Error, MinimizerLookup};
pub use output::{Compression, Outputs, Sink};
use output::{OutputText, Writer};
use worker::{Tally, Worker};

/// A batch is full with so many records, or with so many bytes of headers, letters and qualities. The outputs'
/// blocks are cut where batches are.
const BATCH_RECORDS: usize = 16 << 10;
const BATCH_BYTES: usize = 2 << 20;
/// Batches for each worker that may be begun before the one that is written.
const AHEAD: u64 = 2;
/// Memory of a thread: batches, their minimizers, and texts.
const THREAD: u64 = 15 * BATCH_BYTES as u64;
/// How often a record is there at the same time, at most: as it was read, twice, as codes, minimizers and text, and
/// compressed.
const COPIES: u64 = 12;

/// What came of a run. A pair is two reads.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// Reads,
    pub records: u64,
    /// and their bases;
    pub bases: u64,
    /// reads that were kept,
    pub kept_records: u64,
    /// and their bases.
    pub kept_bases: u64,
    /// Secondary and supplementary alignments that were passed over.
    pub skipped_alignments: u64,
    /// Wall time of each stage.
    pub stages: Stages,
    /// The largest resident size so far, in bytes, where the system tells.
    pub peak_memory: Option<u64>,
}

/// Holds the reads of `segments` against a host, one segment after the other, and writes what is kept, and if that is
/// wanted the others, in their order. The bytes that are written do not depend on `resources`. Calls `progress` with
/// one stage, in bytes of input.
///
/// # Errors
/// If the configuration is wrong, there is too little memory, the input is at fault (of several faults the first in
/// the input), an output cannot be written, or the run was cancelled. There are then no outputs.
pub fn filter(
    config: &Config,
    host: &MinimizerLookup,
    segments: &[ReadInput],
    resources: &Resources,
    outputs: Outputs,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Outcome, Error> {
    config.validate()?;
    resources.validate()?;
    let begun = Instant::now();
    let records = Records::open(segments, options(config, host, resources, cancel)?)?;
    progress.stage("filter", Unit::Bytes, records.bytes_total());
    let threads = resources.threads;
    let shape = outputs.shape();
    let ahead = AHEAD * threads as u64;
    let engine = Engine::new(&records, Writer::new(outputs), ahead, progress, cancel);
    let workers = engine.run(threads, || Worker::new(config, host, &shape))?;
    let writer = engine.finish()?;
    let tallies = workers.into_iter().map(|worker| worker.tally);
    let tally = tallies.fold(Tally::default(), Tally::plus);
    let mut stages = Stages::default();
    stages.add("filter", begun.elapsed());
    stages.add("sync", writer.finish()?);
    progress.finish();
    Ok(Outcome {
        records: tally.records,
        bases: tally.bases,
        kept_records: tally.kept_records,
        kept_bases: tally.kept_bases,
        skipped_alignments: records.skipped_alignments(),
        stages,
        peak_memory: peak_rss(),
    })
}

fn options(
    config: &Config,
    host: &MinimizerLookup,
    resources: &Resources,
    cancel: &Cancel,
) -> Result<RecordOptions, Error> {
    let threads = resources.threads;
    let budget = Budget::of_run(resources, THREAD).with(MinimizerLookup::bytes(host.len()));
    let what = format_args!("{threads} threads and the host's minimizers need");
    let left = budget.check(what, Shortage::FEWER_THREADS)?;
    // A batch has room for a record of its size in any case.
    let records = left + COPIES * BATCH_BYTES as u64;
    Ok(RecordOptions {
        keep: Keep { header: Header::Whole, qualities: true },
        batch_records: BATCH_RECORDS,
        batch_bytes: BATCH_BYTES,
        workers: threads,
        max_record: merganser_io::longest_record(records, COPIES),
        any_names: config.any_names,
        find_pairs: true,
        needs: Some(Needs { bases: host.params().bases(), uracil: false }),
        cancel: cancel.clone(),
        warnings: resources.warnings.clone(),
        ..RecordOptions::default()
    })
}

/// Of which outputs there are texts.
#[derive(Clone, Debug)]
struct Shape {
    /// How what is kept is compressed: in one output, or first and second mates in one each.
    kept: Vec<Compression>,
    /// The same of the others, if they are wanted.
    others: Vec<Compression>,
}

/// The parts of a batch, one for each output.
type Parts = Vec<OutputText>;
