//! Files of reads classified by a database of Kraken 2: read in order, classified by all workers,
//! written in order.

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use merganser_io::{Header, Keep, RecordBatch, RecordOptions, Records, Segment};
use merganser_run::locks::lock;
use merganser_run::{
    Cancel, ConfigError, DeviceChoice, InOrder, InOrderSink, Pipeline, Progress, Resources,
    Shortage, Stages, Unit, peak_rss,
};

use super::batch::Kraken2Batch;
use super::counts::{BlockCuts, InputBlocks, Kraken2Counts};
use super::database::Kraken2Database;
use super::sequences::Kraken2Sequences;
use super::worker::{Kraken2Classifier, Kraken2Worker};
use super::{Kraken2Rules, Kraken2Taxonomy};
use crate::Error;
use crate::output::{Outputs, Wants};
use crate::report::Tally;

/// Batches for each worker that may be begun before the one that is written.
const AHEAD: u64 = 4;
/// What the process and a thread take besides the database.
const FIXED: u64 = 32 << 20;
const FIXED_THREAD: u64 = 32 << 20;
/// How often a record is there at the same time, at most: as text, its k-mers' minimizers, its line.
const COPIES: u64 = 16;
/// Who waits for the batches before his looks so often whether these will come.
const LOOK: Duration = Duration::from_millis(50);
/// Text of a batch whose memory is worth keeping: one giant read's is not.
const MOST_KEPT: usize = 16 << 20;

/// How to classify reads by a database of Kraken 2.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Kraken2Config {
    /// How a read's taxon is chosen.
    pub rules: Kraken2Rules,
    /// Estimate the distinct minimizers of each taxon, for the report's two more columns.
    pub minimizers: bool,
    /// Lines only of reads that have a taxon.
    pub classified_only: bool,
    /// Reads or pairs that a thread takes at a time, at most. No result depends on it.
    pub batch_records: usize,
}

impl Default for Kraken2Config {
    /// As [`Kraken2Config::new`] with Kraken 2's defaults.
    fn default() -> Kraken2Config {
        Kraken2Config::new(Kraken2Rules::default())
    }
}

impl Kraken2Config {
    /// These rules, lines of all reads, and no minimizers.
    pub fn new(rules: Kraken2Rules) -> Kraken2Config {
        let batch_records = RecordOptions::default().batch_records;
        Kraken2Config { rules, minimizers: false, classified_only: false, batch_records }
    }

    /// Chooses taxa by these rules.
    #[must_use]
    pub fn rules(self, rules: Kraken2Rules) -> Kraken2Config {
        Kraken2Config { rules, ..self }
    }

    /// Estimates the distinct minimizers of each taxon, or does not.
    #[must_use]
    pub fn minimizers(self, minimizers: bool) -> Kraken2Config {
        Kraken2Config { minimizers, ..self }
    }

    /// Writes lines only of reads that have a taxon, or of all.
    #[must_use]
    pub fn classified_only(self, classified_only: bool) -> Kraken2Config {
        Kraken2Config { classified_only, ..self }
    }

    /// Has threads take so many reads or pairs at a time, at most.
    #[must_use]
    pub fn batch_records(self, batch_records: usize) -> Kraken2Config {
        Kraken2Config { batch_records, ..self }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Config`]: what is out of its range.
    pub fn validate(&self) -> Result<(), Error> {
        self.rules.check()
    }
}

/// What a run found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Kraken2Outcome {
    /// Reads; a pair is one.
    pub records: u64,
    /// Secondary and supplementary alignments of the inputs, whose reads stand in others.
    pub skipped_alignments: u64,
    /// Where the time went: `classify`, the wall time from the first read to the last line.
    pub stages: Stages,
    /// The largest resident size of the process so far, in bytes, if the system tells it.
    pub peak_memory: Option<u64>,
    /// Reads that got a taxon.
    pub classified: u64,
    /// Reads and minimizers by taxon, for the report.
    pub counts: Kraken2Counts,
    /// Bases of all reads.
    pub bases: u64,
}

impl Kraken2Outcome {
    /// The reads by the nodes of the database's [`tree`](Kraken2Database::tree).
    pub fn tally(&self, database: &Kraken2Database) -> Tally {
        let (taxa, tree) = (database.taxonomy(), database.tree());
        let mut tally = Tally::default();
        tally.count_many(None, self.counts.unclassified());
        for node in taxa.root()..taxa.len() as u32 {
            let reads = self.counts.own(node);
            if reads > 0 {
                tally.count_many(tree.node(taxa.taxid(node)), reads);
            }
        }
        tally
    }
}

/// Classifies the reads of `segments`, one segment after the other, as Kraken 2 does, and writes what
/// `outputs` asks for in the order of the reads: the bytes are Kraken 2's, and depend on nothing but the
/// database, the configuration and the reads. Calls `progress` with one stage, in bytes of input.
///
/// The table of the database is mapped, so that processes share it and its pages count as the system's
/// cache; a memory that is [given](Resources::memory) has to hold all of it nevertheless.
///
/// # Errors
/// If `config` or `resources` is out of range, GPUs are asked for, or there is too little memory; as
/// reading and writing; if mates are out of step; if the database turns out to be damaged; if
/// cancelled.
pub fn classify(
    config: &Kraken2Config,
    resources: &Resources,
    database: &Kraken2Database,
    segments: &[Segment],
    outputs: &mut Outputs<'_>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Kraken2Outcome, Error> {
    config.validate()?;
    resources.validate()?;
    check_devices(resources)?;
    let record = check_memory(resources, database)?;
    let begun = Instant::now();
    let wants = Wants::of(outputs);
    let mut classifier = Kraken2Classifier::new(database, config.rules.clone())?;
    if config.minimizers {
        classifier = classifier.with_minimizers();
    }
    if config.classified_only {
        classifier = classifier.with_lines_of_classified();
    }
    let whole = wants.classified.is_some() || wants.unclassified.is_some();
    let options = RecordOptions {
        keep: Keep {
            header: if whole { Header::Whole } else { Header::Name },
            qualities: whole || config.rules.minimum_base_quality > 0,
        },
        batch_records: config.batch_records.max(1),
        workers: resources.threads,
        max_record: record,
        cancel: cancel.clone(),
        ..RecordOptions::default()
    };
    let records = Records::open(segments, options)?;
    progress.stage("classify", Unit::Bytes, records.bytes_total());
    let sink = Written { outputs, counts: Kraken2Counts::default(), bases: 0 };
    let written = InOrder::new(sink, AHEAD * resources.threads as u64, 0);
    let run = Run {
        batches: Pipeline::new(&records, &written, progress, cancel),
        taxonomy: database.taxonomy(),
        wants,
        cutting: config.minimizers.then(Mutex::default),
        cut: Condvar::new(),
    };
    run.batches.work(resources.threads, || run.work(&mut classifier.worker()))?;
    let Written { counts, bases, .. } = written.into_sink()?;
    progress.finish();
    let mut stages = Stages::default();
    stages.since("classify", begun);
    Ok(Kraken2Outcome {
        records: counts.reads(),
        skipped_alignments: records.skipped_alignments(),
        stages,
        peak_memory: peak_rss(),
        classified: counts.reads() - counts.unclassified(),
        counts,
        bases,
    })
}

/// Sees to it that nobody waits for GPUs.
fn check_devices(resources: &Resources) -> Result<(), Error> {
    match resources.device {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(()),
        _ => Err(Error::Config(ConfigError::new(format!(
            "`device` {}: reads are classified by databases of Kraken 2 on the CPU: give auto or cpu",
            resources.device
        )))),
    }
}

/// The longest record that the memory allows.
fn check_memory(resources: &Resources, database: &Kraken2Database) -> Result<usize, Error> {
    let threads = resources.threads as u64;
    let fixed = FIXED + FIXED_THREAD * threads + database.taxonomy().len() as u64 * 64;
    // Pages of a mapped file are the system's to give and take, unless somebody has set a limit.
    let table = resources.memory.map_or(0, |_| database.table_bytes());
    let (needed, budget) = (fixed + table, resources.budget());
    if needed > budget {
        let what = format!("classifying with {threads} threads by this database needs");
        return Err(Shortage { what, needed, budget, remedy: Shortage::FEWER_THREADS }.into());
    }
    Ok(merganser_io::longest_record(budget - needed, COPIES * (threads + 1)))
}

/// What is made of a batch.
#[derive(Debug, Default)]
struct Part {
    batch: Kraken2Batch,
    sequences: Kraken2Sequences,
    bases: u64,
}

/// Writes what comes in order, and counts.
struct Written<'w, 'o> {
    outputs: &'w mut Outputs<'o>,
    counts: Kraken2Counts,
    bases: u64,
}

impl InOrderSink<Part> for Written<'_, '_> {
    type Error = Error;

    fn write(&mut self, mut part: Part) -> Result<Option<Part>, Error> {
        if let Some(lines) = &mut self.outputs.lines {
            lines.write_all(part.batch.lines())?;
        }
        if let Some(reads) = &mut self.outputs.classified {
            part.sequences.classified.write(reads)?;
        }
        if let Some(reads) = &mut self.outputs.unclassified {
            part.sequences.unclassified.write(reads)?;
        }
        self.counts.add(&mut part.batch);
        self.bases += part.bases;
        Ok(Some(part).filter(Part::is_usual))
    }
}

impl Part {
    /// Whether its memory is worth keeping.
    fn is_usual(&self) -> bool {
        self.batch.lines().len() + self.sequences.capacity() <= MOST_KEPT
    }
}

/// One run over some reads.
struct Run<'r, 'w, 'o> {
    batches: Pipeline<'r, Records, Part, Written<'w, 'o>>,
    taxonomy: &'r Kraken2Taxonomy,
    wants: Wants,
    /// The number of the batch that is cut into blocks next, if that is needed.
    cutting: Option<Mutex<(u64, InputBlocks)>>,
    cut: Condvar,
}

impl Run<'_, '_, '_> {
    /// Takes batches until there are none.
    fn work(&self, worker: &mut Kraken2Worker<'_>) {
        let mut batch = RecordBatch::default();
        while self.batches.next(&mut batch) {
            let Some(cuts) = self.blocks(&batch) else { return };
            if !self.batches.wait_for_room(&batch) {
                return;
            }
            let mut part = self.batches.written().spare().unwrap_or_default();
            let number = batch.number();
            let done = worker.classify(&mut batch, &cuts, &mut part.batch);
            let done = done.map(|()| {
                part.sequences.refill(self.taxonomy, &batch, &part.batch, &self.wants);
                part.bases = (0..batch.len()).map(|at| batch.record(at).letters.len() as u64).sum();
                part
            });
            match batch.is_long() {
                true => self.batches.hand_in_its_turn(number, done),
                false => self.batches.hand_in(number, done),
            }
        }
    }

    /// Where blocks of the input begin in a batch, once those before it have been cut; `None` if one of
    /// them will not be.
    fn blocks(&self, batch: &RecordBatch) -> Option<BlockCuts> {
        let Some(cutting) = &self.cutting else { return Some(BlockCuts::default()) };
        let mut state = lock(cutting);
        while state.0 != batch.number() {
            if self.batches.written().has_failed() {
                return None;
            }
            state = match self.cut.wait_timeout(state, LOOK) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        let cuts = state.1.cut(batch);
        state.0 += 1;
        drop(state);
        self.cut.notify_all();
        Some(cuts)
    }
}
