//! Classifying files of reads: read in order, classified by all workers, written in order.

mod filter;
mod found;
mod lines;
mod plan;
mod reads;
mod stages;
mod storage;
mod work;
mod write_back;

pub use filter::ReadFilter;
pub use lines::{Columns, LineFormat, Taxids};
pub use merganser_io::Segment;
pub use stages::RunStages;
pub use write_back::ReadOutput;

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, InOrder, InOrderSink, OnFailure, Progress, run_workers};

use crate::features::{FeatureCounter, FeatureCounts};
use crate::query::Rounds;
use crate::report::{ReferenceHits, Tally};
use crate::{Candidate, Database, Error, GpuConfig, GpuNotes, Query, Sketcher, Thresholds};
use found::Found;
use lines::{LineWriter, Read};
use plan::Plan;
use stages::Clock;
use storage::{Storage, Stored};
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
    /// Bytes of memory that the whole process may use, the parts of the database that are asked together
    /// included; `None`: what a run has by default, or more if all of the database takes it and the
    /// machine has it. Where the database does not fit, its parts take turns, as on devices; with
    /// [`features`](Self::features) or all hits of each read it has to. A record that is longer than there
    /// is room for is an error.
    pub memory: Option<u64>,
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
            memory: None,
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
    /// Secondary and supplementary alignments of the inputs, whose reads stand in others.
    pub skipped_alignments: u64,
    /// Reads by taxon.
    pub tally: Tally,
    /// Reads by the taxa of genomes, below the lowest rank, too, for Kraken's report: a clade has as
    /// many as in [`tally`](Self::tally) down to that rank.
    pub by_genome: Tally,
    /// With [`RunConfig::features`].
    pub features: Option<FeatureCounts>,
    /// With [`RunConfig::references`].
    pub references: Option<ReferenceHits<'a>>,
    /// References that were left out for their coverage.
    pub low_coverage: u64,
    /// Where the time went.
    pub stages: RunStages,
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

    /// Puts the database on devices, which then find the candidates. Parts for which there is no room
    /// at the same time take turns: reads and their candidates then wait in memory, or in temporary
    /// storage, until all parts have been asked.
    ///
    /// # Errors
    /// If a device cannot be used or has no room for any part.
    pub fn on_gpus(mut self, config: &GpuConfig) -> Result<Classifier<'a>, Error> {
        self.query = self.query.on_gpus_in_rounds(config)?;
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
    /// If there is too little memory; as reading and writing; if mates are out of step; if a device
    /// fails; if cancelled.
    pub fn run(
        &self,
        config: &RunConfig,
        segments: &[Segment],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<RunResult<'a>, Error> {
        let thresholds = &config.thresholds;
        let plan = Plan::new(self.database, config, self.query.devices().is_some())?;
        let clock = Clock::default();
        let before = self.query.gpu_notes();
        self.database.check(config.threads, cancel)?;
        if config.features || self.query.devices().is_none() {
            self.database.fetch()?;
        }
        let run = Run {
            classifier: self,
            config,
            plan,
            lines: LineWriter::new(self.database, &self.nodes, &config.format, thresholds),
            wants: Wants::of(outputs),
            features: config.features.then(|| FeatureCounter::new(self.database)),
            references: config.references.then(|| ReferenceHits::new(self.database)),
            total: Mutex::default(),
            clock: &clock,
            cancel,
        };
        if let Some(lines) = &mut outputs.lines {
            lines.write_all(&run.lines.head(&config.thresholds))?;
        }
        match config.coverage_per_mille {
            0 if self.query.rounds().is_none() && run.plan.rounds.len() == 1 => {
                run.in_one_pass(segments, outputs, progress)
            }
            per_mille => run.in_two_passes(per_mille, segments, outputs, progress),
        }?;
        // What was found is right only if the database is still what it was.
        self.database.check(config.threads, cancel)?;
        let mut result = into_inner(run.total);
        result.features = run.features.map(|features| features.counts());
        result.references = run.references;
        let times = |notes: Option<GpuNotes>| notes.map(|notes| notes.times);
        let gpu = times(self.query.gpu_notes()).zip(times(before));
        result.stages.end(&clock, gpu.map(|(after, before)| after.since(&before)));
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

/// Memory of texts that is kept for the next ones.
const MOST_KEPT: usize = 16 << 20;

/// What is written of a batch.
#[derive(Debug, Default)]
struct Texts {
    lines: Vec<u8>,
    classified: ReadTexts,
    unclassified: ReadTexts,
}

impl Texts {
    fn clear(&mut self) {
        self.lines.clear();
        self.classified.clear();
        self.unclassified.clear();
    }

    /// Whether its memory is worth keeping: that of one giant read is not.
    fn is_usual(&self) -> bool {
        let read_back = self.classified.capacity() + self.unclassified.capacity();
        self.lines.capacity() + read_back <= MOST_KEPT
    }

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

/// Writes what comes in order.
struct Written<'w, 'o> {
    outputs: &'w mut Outputs<'o>,
    clock: &'w Clock,
}

impl InOrderSink<Texts> for Written<'_, '_> {
    type Error = Error;

    fn write(&mut self, mut texts: Texts) -> Result<Option<Texts>, Error> {
        let begun = Instant::now();
        texts.write(self.outputs)?;
        texts.clear();
        self.clock.add(Clock::WRITING, begun);
        Ok(Some(texts).filter(Texts::is_usual))
    }
}

/// Batches in temporary storage, in order.
struct Places(Vec<Stored>);

impl InOrderSink<Stored> for Places {
    type Error = Error;

    fn write(&mut self, place: Stored) -> Result<Option<Stored>, Error> {
        self.0.push(place);
        Ok(None)
    }
}

/// One run over some reads.
struct Run<'r, 'a> {
    classifier: &'r Classifier<'a>,
    config: &'r RunConfig,
    plan: Plan,
    lines: LineWriter<'r>,
    wants: Wants,
    features: Option<FeatureCounter<'a>>,
    references: Option<ReferenceHits<'a>>,
    total: Mutex<RunResult<'a>>,
    clock: &'r Clock,
    cancel: &'r Cancel,
}

impl<'a> Run<'_, 'a> {
    /// Batches that may be begun before those in front of them are written: for each thread its
    /// own and three more.
    fn ahead(&self) -> u64 {
        4 * self.config.threads.max(1) as u64
    }

    fn in_one_pass(
        &self,
        segments: &[Segment],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let written = InOrder::new(Written { outputs, clock: self.clock }, self.ahead(), 0);
        self.each_batch(segments, progress, &written, &|found, own, sketcher| {
            let texts = written.spare().unwrap_or_default();
            Ok(self.decide(found, own, sketcher, texts))
        })?;
        written.into_sink().map(drop)
    }

    /// Holds all batches in storage, asks the parts of the database for which there was no room, leaves
    /// out the references with the lowest coverage, if asked for, then decides.
    fn in_two_passes(
        &self,
        per_mille: u32,
        segments: &[Segment],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let rounds = self.classifier.query.rounds();
        rounds.map_or(Ok(()), Rounds::restart)?;
        let storage = Storage::new(&self.config.tmp_dir, self.plan.waiting);
        let coverage = (per_mille > 0).then(|| ReferenceHits::new(self.classifier.database));
        let rounds_of_parts = &self.plan.rounds;
        let all_asked = rounds.is_none() && rounds_of_parts.len() == 1;
        let places = InOrder::new(Places(Vec::new()), self.ahead(), 0);
        self.each_batch(segments, progress, &places, &|found, _, _| {
            if let Some(coverage) = coverage.as_ref().filter(|_| all_asked) {
                self.count_references(coverage, found);
            }
            storage.put(found, None)
        })?;
        let Places(mut places) = places.into_sink()?;
        if let Some(rounds) = rounds {
            while rounds.next()? {
                let coverage = coverage.as_ref().filter(|_| rounds.is_last());
                places = self.ask_again(&storage, places, rounds_of_parts[0].clone(), coverage)?;
            }
        }
        for (number, parts) in rounds_of_parts.iter().enumerate().skip(1) {
            self.classifier.database.release();
            let coverage = coverage.as_ref().filter(|_| number + 1 == rounds_of_parts.len());
            places = self.ask_again(&storage, places, parts.clone(), coverage)?;
        }
        let keep = coverage.map(|coverage| coverage.above_percentile(per_mille));
        let left_out = keep.iter().flatten().filter(|keep| !**keep).count();
        lock(&self.total).low_coverage = left_out as u64;
        let written = InOrder::new(Written { outputs, clock: self.clock }, self.ahead(), 0);
        let next = AtomicUsize::new(0);
        run_workers(self.config.threads, |_| {
            let stop = OnFailure::new(|| written.stop());
            let mut own = RunResult::default();
            let mut sketcher = Sketcher::new(self.classifier.database.params());
            let (mut bytes, mut masked) = (Vec::new(), Default::default());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(stored) = places.get(number) else { break };
                if !written.wait_for_room(number as u64) {
                    break;
                }
                if self.cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let mut stored_batch = storage.get(stored, &mut bytes)?;
                if let Some(keep) = &keep {
                    stored_batch.keep(keep);
                }
                let (views, _) = self.config.filter.views(&stored_batch.batch, &mut masked);
                let texts = written.spare().unwrap_or_default();
                let texts =
                    self.decide(&stored_batch.found(&views), &mut own, &mut sketcher, texts);
                written.hand_in(number as u64, texts);
            }
            lock(&self.total).add(own);
            stop.disarm();
            Ok::<_, Error>(())
        })?;
        written.into_sink().map(drop)
    }

    /// Asks the parts that are on the devices now, or `parts` of the host's, for all reads, too.
    fn ask_again(
        &self,
        storage: &Storage,
        places: Vec<Stored>,
        parts: Range<usize>,
        coverage: Option<&ReferenceHits<'_>>,
    ) -> Result<Vec<Stored>, Error> {
        let query = &self.classifier.query;
        let places: Vec<Mutex<Option<Stored>>> =
            places.into_iter().map(|stored| Mutex::new(Some(stored))).collect();
        let next = AtomicUsize::new(0);
        run_workers(self.config.threads, |_| {
            let (mut bytes, mut masked) = (Vec::new(), Default::default());
            let mut scratch = query.scratch().ask(parts.clone());
            while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let Some(stored) = lock(place).take() else { continue };
                let mut stored_batch = storage.get(&stored, &mut bytes)?;
                let (views, _) = self.config.filter.views(&stored_batch.batch, &mut masked);
                let (mut candidates, mut ends) = (Vec::new(), Vec::new());
                query.find(&views, &mut scratch, &mut candidates, &mut ends)?;
                drop(views);
                stored_batch.merge(&candidates, &ends, self.config.thresholds.max_candidates);
                let found = stored_batch.found(&[]);
                if let Some(coverage) = coverage {
                    self.count_references(coverage, &found);
                }
                *lock(place) = Some(storage.put(&found, Some(stored))?);
            }
            Ok::<_, Error>(())
        })?;
        Ok(places.into_iter().filter_map(into_inner).collect())
    }

    /// Decides on the reads of a batch, counts them, and makes what is to be written of them.
    fn decide(
        &self,
        &Found { batch, candidates, ends, views }: &Found<'_>,
        own: &mut RunResult<'a>,
        sketcher: &mut Sketcher,
        mut texts: Texts,
    ) -> Texts {
        let (thresholds, nodes) = (&self.config.thresholds, &self.classifier.nodes);
        let tree = self.classifier.database.taxonomy();
        let all = candidates;
        texts.lines.reserve(if self.wants.lines { 64 * batch.reads() } else { 0 });
        let mut start = 0;
        for (read, &end) in ends.iter().enumerate() {
            let candidates = &all[start..end];
            start = end;
            let bases = views[read].iter().map(|mate| mate.len() as u64).sum();
            let verdict = thresholds.decide(candidates, bases, tree, nodes);
            let found = lines::found(verdict, nodes);
            own.count(found, reads::lengths(batch, read));
            own.by_genome
                .count(thresholds.counted_at(verdict, candidates, bases, tree, nodes), None);
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
            self.count_references(references, &Found { batch, candidates, ends, views });
        }
        texts
    }

    /// Counts the candidates with as many hits as a verdict needs.
    fn count_references(&self, references: &ReferenceHits<'_>, found: &Found<'_>) {
        let mut start = 0;
        for (read, &end) in found.ends.iter().enumerate() {
            let (first, second) = reads::lengths(found.batch, read);
            let needed = self.config.thresholds.needed((first + second.unwrap_or(0)) as u64);
            let enough = |candidate: &&Candidate| candidate.hits >= needed;
            found.candidates[start..end].iter().filter(enough).for_each(|c| references.count(c));
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
        self.by_genome.add(other.by_genome);
    }
}

impl std::fmt::Debug for Written<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}
