//! Classifying files of reads: read in order, classified by all workers, written in order.

mod filter;
mod held;
mod lines;
mod reads;
mod turns;
mod write_back;

pub use filter::ReadFilter;
pub use lines::{Columns, LineFormat, Taxids};
pub use reads::Segment;
pub use write_back::ReadOutput;

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use merganser_io::SpillFile;
use merganser_run::{Cancel, Progress, run_workers};

use crate::features::{FeatureCounter, FeatureCounts};
use crate::report::{ReferenceHits, Tally};
use crate::{Candidate, Database, Error, GpuConfig, GpuNotes, Query, Sketcher, Thresholds};
use held::HeldBatch;
use lines::{LineWriter, Read};
use reads::Source;
use turns::{Otherwise, Turns};
use write_back::ReadTexts;

/// How to classify.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// How a taxon is chosen.
    pub thresholds: Thresholds,
    /// What of the reads takes part.
    pub filter: ReadFilter,
    /// What a read's line looks like.
    pub format: LineFormat,
    /// Lines only of reads that have a taxon.
    pub classified_only: bool,
    /// Count features by taxon, for the report's two more columns.
    pub features: bool,
    /// Count hits by reference sequence.
    pub references: bool,
    /// Leave out candidates of the references with the lowest coverage, which together have no
    /// more than so many per mille of the coverage of all
    /// ([`above_percentile`](ReferenceHits::above_percentile)). Reads and their candidates then wait
    /// in temporary storage until all have been seen.
    pub coverage_per_mille: u32,
    /// Threads in all.
    pub threads: usize,
    /// For what waits.
    pub tmp_dir: PathBuf,
}

impl RunConfig {
    /// The thresholds, everything else as it is without options.
    pub fn new(thresholds: Thresholds) -> RunConfig {
        RunConfig {
            thresholds,
            filter: ReadFilter::default(),
            format: LineFormat::Kraken { names: false },
            classified_only: false,
            features: false,
            references: false,
            coverage_per_mille: 0,
            threads: merganser_run::resolve_threads(None),
            tmp_dir: std::env::temp_dir(),
        }
    }
}

/// Where results go as they come.
#[derive(Default)]
pub struct Outputs<'a> {
    /// The reads' lines.
    pub lines: Option<&'a mut (dyn Write + Send)>,
    /// Reads that have a taxon,
    pub classified: Option<ReadOutput<'a>>,
    /// and those that have none.
    pub unclassified: Option<ReadOutput<'a>>,
}

/// What a run found.
#[derive(Debug, Default)]
pub struct RunResult<'a> {
    /// Reads and bases; a pair is one read.
    pub reads: u64,
    /// Bases of all reads.
    pub bases: u64,
    /// Reads that got a taxon.
    pub classified: u64,
    /// Reads that took no part for their length.
    pub passed_over: u64,
    /// Reads by taxon.
    pub tally: Tally,
    /// With [`RunConfig::features`].
    pub features: Option<FeatureCounts>,
    /// With [`RunConfig::references`].
    pub references: Option<ReferenceHits<'a>>,
    /// References that were left out for their coverage.
    pub low_coverage: u64,
}

/// A database made ready for any number of runs with the same thresholds.
pub struct Classifier<'a> {
    database: &'a Database,
    query: Query<'a>,
    nodes: Vec<u32>,
}

impl<'a> Classifier<'a> {
    /// Prepares `database`.
    pub fn new(database: &'a Database, thresholds: &Thresholds) -> Classifier<'a> {
        Classifier {
            database,
            query: Query::with_thresholds(database, thresholds),
            nodes: database.targets().iter().map(|target| target.node).collect(),
        }
    }

    /// Puts the database on devices, which then find the candidates.
    ///
    /// # Errors
    /// If a device cannot be used or has no room for any part.
    pub fn on_gpus(mut self, config: &GpuConfig) -> Result<Classifier<'a>, Error> {
        self.query = self.query.on_gpus(config)?;
        Ok(self)
    }

    /// What the devices are, if there are any, and had no room for so far.
    pub fn gpu_notes(&self) -> Option<GpuNotes> {
        self.query.gpu_notes()
    }

    /// Classifies the reads of `segments`, one segment after the other, and writes what `outputs`
    /// asks for, in the order of the reads. What is written depends on nothing but the database,
    /// the configuration (but for threads and storage) and the reads. The thresholds must have the
    /// lowest rank, number of candidates and insert with which the database was prepared.
    ///
    /// # Errors
    /// As reading and writing; if mates are out of step; if a device fails; if cancelled.
    pub fn run(
        &self,
        config: &RunConfig,
        segments: &[Segment],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<RunResult<'a>, Error> {
        let lowest = config.thresholds.lowest;
        if config.features {
            self.database.fetch()?;
        }
        let run = Run {
            classifier: self,
            config,
            lines: LineWriter::new(self.database, &self.nodes, &config.format, lowest),
            wants: Wants::of(outputs),
            features: config.features.then(|| FeatureCounter::new(self.database)),
            references: config.references.then(|| ReferenceHits::new(self.database)),
            total: Mutex::default(),
            cancel,
        };
        if let Some(lines) = &mut outputs.lines {
            lines.write_all(&run.lines.head(&config.thresholds))?;
        }
        match config.coverage_per_mille {
            0 => run.in_one_pass(segments, outputs, progress),
            per_mille => run.by_coverage(per_mille, segments, outputs, progress),
        }?;
        let mut result = run.total.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.features = run.features.map(|features| features.counts());
        result.references = run.references;
        Ok(result)
    }
}

/// What is to be written of each read.
#[derive(Clone, Copy, Debug)]
struct Wants {
    lines: bool,
    /// Of classified reads, and whether mates go apart.
    classified: Option<bool>,
    unclassified: Option<bool>,
}

impl Wants {
    fn of(outputs: &Outputs<'_>) -> Wants {
        let apart = |output: &ReadOutput<'_>| output.mates.is_some();
        Wants {
            lines: outputs.lines.is_some(),
            classified: outputs.classified.as_ref().map(apart),
            unclassified: outputs.unclassified.as_ref().map(apart),
        }
    }
}

/// What is written of a batch.
#[derive(Debug, Default)]
struct Texts {
    lines: Vec<u8>,
    classified: ReadTexts,
    unclassified: ReadTexts,
}

impl Texts {
    fn write(&self, outputs: &mut Outputs<'_>) -> Result<(), Error> {
        if let Some(lines) = &mut outputs.lines {
            lines.write_all(&self.lines)?;
        }
        if let Some(reads) = &mut outputs.classified {
            self.classified.write(reads)?;
        }
        if let Some(reads) = &mut outputs.unclassified {
            self.unclassified.write(reads)?;
        }
        Ok(())
    }
}

/// What is done with a batch: its number, itself, the worker's own result and sketcher.
type Take<'r, 'a> =
    &'r (dyn Fn(u64, &HeldBatch, &mut RunResult<'a>, &mut Sketcher) -> Result<(), Error> + Sync);

/// One run over some reads.
struct Run<'r, 'a> {
    classifier: &'r Classifier<'a>,
    config: &'r RunConfig,
    lines: LineWriter<'r>,
    wants: Wants,
    features: Option<FeatureCounter<'a>>,
    references: Option<ReferenceHits<'a>>,
    total: Mutex<RunResult<'a>>,
    cancel: &'r Cancel,
}

impl<'a> Run<'_, 'a> {
    /// Batches that may wait for each thread: its own and two more.
    fn waiting(&self) -> usize {
        3 * self.config.threads.max(1)
    }

    fn in_one_pass(
        &self,
        segments: &[Segment],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let turns = Turns::new(self.waiting(), |texts: Texts| texts.write(outputs));
        let take: Take<'_, 'a> = &|number, held, own, sketcher| {
            let texts = self.decide(held, own, sketcher);
            turns.put(number, texts)
        };
        self.each_batch(segments, progress, take, &|| turns.stop())
    }

    /// Holds all batches in temporary storage, leaves out the references with the lowest coverage,
    /// then decides.
    fn by_coverage(
        &self,
        per_mille: u32,
        segments: &[Segment],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let spill = SpillFile::create(&self.config.tmp_dir)?;
        let coverage = ReferenceHits::new(self.classifier.database);
        let places = Mutex::new(Vec::new());
        let take: Take<'_, 'a> = &|number, held, _, _| {
            self.count_references(&coverage, held);
            let bytes = held.store();
            let at = spill.append(&bytes)?;
            lock(&places).push((number, at, bytes.len()));
            Ok(())
        };
        self.each_batch(segments, progress, take, &|| {})?;
        let keep = coverage.above_percentile(per_mille);
        let mut places = places.into_inner().unwrap_or_else(PoisonError::into_inner);
        places.sort_unstable();
        lock(&self.total).low_coverage = keep.iter().filter(|keep| !**keep).count() as u64;
        let turns = Turns::new(self.waiting(), |texts: Texts| texts.write(outputs));
        let next = AtomicUsize::new(0);
        run_workers(self.config.threads, |_| {
            let stop = Otherwise::new(|| turns.stop());
            let mut own = RunResult::default();
            let mut sketcher = Sketcher::new(self.classifier.database.params());
            let mut bytes = Vec::new();
            while let Some(&(number, at, length)) = places.get(next.fetch_add(1, Ordering::Relaxed))
            {
                if self.cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                bytes.resize(length, 0);
                spill.read_at(at, &mut bytes)?;
                let mut held = HeldBatch::load(&bytes)?;
                held.keep(&keep);
                turns.put(number, self.decide(&held, &mut own, &mut sketcher))?;
            }
            lock(&self.total).add(own);
            stop.well();
            Ok(())
        })
    }

    /// Reads all batches, finds their candidates and hands them to `take`, by all workers; calls
    /// `stop` when one of them fails.
    fn each_batch(
        &self,
        segments: &[Segment],
        progress: &dyn Progress,
        take: Take<'_, 'a>,
        stop: &(dyn Fn() + Sync),
    ) -> Result<(), Error> {
        let whole = self.config.filter.min_quality > 0
            || self.wants.classified.is_some()
            || self.wants.unclassified.is_some();
        let source = Mutex::new(Source::open(segments, whole, self.cancel)?);
        progress.stage("classify", lock(&source).bytes_total());
        run_workers(self.config.threads, |_| {
            // The others must not go on reading after a failure, nor wait for what will not come.
            let failed = Otherwise::new(|| {
                lock(&source).stop();
                stop();
            });
            let work = || -> Result<(), Error> {
                let query = &self.classifier.query;
                let mut scratch = query.scratch();
                let mut sketcher = Sketcher::new(self.classifier.database.params());
                let mut features = Vec::new();
                let mut own = RunResult::default();
                let mut held = HeldBatch::default();
                loop {
                    // Not in the condition of a loop: the lock would last as long as its body.
                    let filled = lock(&source).fill(&mut held.batch)?;
                    let Some((number, bytes)) = filled else { break };
                    let HeldBatch { batch, candidates, ends } = &mut held;
                    candidates.clear();
                    ends.clear();
                    let mut masked = None;
                    let (views, passed_over) = self.config.filter.views(batch, &mut masked);
                    own.passed_over += passed_over;
                    query.find(&views, &mut scratch, candidates, ends)?;
                    if let Some(counter) = &self.features {
                        for mates in &views {
                            counter.count(mates, &mut sketcher, &mut features);
                        }
                    }
                    take(number, &held, &mut own, &mut sketcher)?;
                    progress.advance(bytes);
                }
                lock(&self.total).add(own);
                Ok(())
            };
            work().map(|()| failed.well())
        })?;
        progress.finish();
        Ok(())
    }

    /// Decides on the reads of a batch, counts them, and makes what is to be written of them.
    fn decide(&self, held: &HeldBatch, own: &mut RunResult<'a>, sketcher: &mut Sketcher) -> Texts {
        let (thresholds, nodes) = (&self.config.thresholds, &self.classifier.nodes);
        let tree = self.classifier.database.taxonomy();
        let batch = &held.batch;
        let mut texts = Texts { lines: Vec::with_capacity(64 * batch.len()), ..Texts::default() };
        let mut masked = None;
        let (views, _) = self.config.filter.views(batch, &mut masked);
        let mut start = 0;
        for (read, &end) in held.ends.iter().enumerate() {
            let candidates = &held.candidates[start..end];
            start = end;
            let bases = views[read].iter().map(|mate| mate.len() as u64).sum();
            let verdict = thresholds.decide(candidates, bases, tree, nodes);
            let found = lines::found(verdict, nodes);
            own.count(found, batch.lengths(read));
            if self.wants.lines && (found.is_some() || !self.config.classified_only) {
                let read = Read { batch, read, mates: &views[read], found, candidates };
                self.lines.write(&read, sketcher, &mut texts.lines);
            }
            match (found, self.wants.classified, self.wants.unclassified) {
                (Some(_), Some(apart), _) => texts.classified.add(batch, read, apart),
                (None, _, Some(apart)) => texts.unclassified.add(batch, read, apart),
                _ => {}
            }
        }
        if let Some(references) = &self.references {
            self.count_references(references, held);
        }
        texts
    }

    /// Counts the candidates with as many hits as a verdict needs.
    fn count_references(&self, references: &ReferenceHits<'_>, held: &HeldBatch) {
        let mut start = 0;
        for (read, &end) in held.ends.iter().enumerate() {
            let (first, second) = held.batch.lengths(read);
            let needed = self.config.thresholds.needed((first + second.unwrap_or(0)) as u64);
            let enough = |candidate: &&Candidate| candidate.hits >= needed;
            held.candidates[start..end].iter().filter(enough).for_each(|c| references.count(c));
            start = end;
        }
    }
}

impl RunResult<'_> {
    fn count(&mut self, found: lines::Found, (first, second): (usize, Option<usize>)) {
        self.reads += 1;
        self.bases += (first + second.unwrap_or(0)) as u64;
        self.classified += u64::from(found.is_some());
        self.tally.count(found.map(|(node, _)| node), found.and_then(|(_, target)| target));
    }

    fn add(&mut self, other: RunResult<'_>) {
        self.reads += other.reads;
        self.bases += other.bases;
        self.classified += other.classified;
        self.passed_over += other.passed_over;
        self.tally.add(other.tally);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
