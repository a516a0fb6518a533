//! The passes of a run over its reads: a single one if all parts of the database are queried at once. Otherwise,
//! the first pass stores all batches, further ones query the other parts, and a last one decides.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use merganser_io::{ReadInput, RecordBatch};
use merganser_run::engine::{Engine, NumberSource, Turn, Work};
use merganser_run::locks::lock;
use merganser_run::{Cancel, Context, InOrderSink, Progress, Silent, each_in_order};

use super::clock::Clock;
use super::found::{Found, FoundBatch, merge};
use super::plan::Plan;
use super::storage::{Storage, Stored};
use super::{Classifier, Outcome};
use crate::ReferenceHits;
use crate::candidates::Seen;
use crate::config::RunConfig;
use crate::cpu::query::Scratch;
use crate::decide::Thresholds;
use crate::features::FeatureCounter;
use crate::output::{LineWriter, Read, TargetOrTaxon};
use crate::query::Rounds;
use crate::read_filter::ReadFilter;
use crate::reads::lengths;
use crate::{Candidate, Error, Sketcher, Verdict, output};
use merganser_taxreport::output::{LinesSum, Outputs, ReadTaxon, Texts, Wants};
use merganser_taxreport::partial::reads_sum;

/// Writes the texts of batches in the order of the reads.
struct Written<'w, 'o> {
    outputs: &'w mut Outputs<'o>,
    /// The checksum of the lines, for partial results.
    lines_sum: Option<&'w Mutex<LinesSum>>,
    clock: &'w Clock,
}

impl InOrderSink<Texts> for Written<'_, '_> {
    type Error = Error;

    fn write(&mut self, mut texts: Texts) -> Result<Option<Texts>, Error> {
        let begun = Instant::now();
        texts.write(self.outputs)?;
        if let Some(sum) = self.lines_sum {
            lock(sum).add(texts.lines.text());
        }
        texts.clear();
        self.clock.add(Clock::WRITING, begun);
        Ok(Some(texts).filter(Texts::is_usual))
    }
}

/// Collects batches in temporary storage, in the order of the reads.
struct StoredBatches(Vec<Stored>);

impl InOrderSink<Stored> for StoredBatches {
    type Error = Error;

    fn write(&mut self, place: Stored) -> Result<Option<Stored>, Error> {
        self.0.push(place);
        Ok(None)
    }
}

/// A worker of the last pass, which decides on stored batches.
struct Deciding<'d, 'r, 'a> {
    run: &'d RunContext<'r, 'a>,
    storage: &'d Storage,
    batches: &'d [Stored],
    /// Whether to use the candidates of each target; `None` to use all.
    keep: Option<&'d [bool]>,
    own: Outcome<'a>,
    sketcher: Sketcher,
    bytes: Vec<u8>,
    masked: RecordBatch,
}

impl Work for Deciding<'_, '_, '_> {
    type Batch = u64;
    type Output = Texts;
    type Error = Error;

    fn work(&mut self, number: &mut u64, turn: &Turn<'_, Texts, Error>) -> Result<Texts, Error> {
        let stored = &self.batches[*number as usize];
        let mut batch = self.storage.get(stored, &mut self.bytes)?;
        if let Some(keep) = self.keep {
            batch.keep(keep);
        }
        let (views, _) = self.run.filter.views(&batch.batch, &mut self.masked);
        let (found, texts) = (batch.found(&views), turn.spare().unwrap_or_default());
        self.run.decide(&found, &mut self.own, &mut self.sketcher, texts)
    }
}

impl std::fmt::Debug for Written<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}

/// Changes the results for the reads of a batch: their candidates, the end of each read's candidates, and the
/// pooled features. Receives the batch, the letters that are classified, and a thread's working space.
type Change<'c> = &'c (
        dyn Fn(
    &RecordBatch,
    &[[&[u8]; 2]],
    &mut Scratch,
    (&mut Vec<Candidate>, &mut Vec<usize>, &mut Seen),
) -> Result<(), Error>
            + Sync
    );

/// The reads of a batch with their candidates, the ranges of pooled candidates, and the pooled features so far.
struct LookedAt<'b> {
    views: &'b [[&'b [u8]; 2]],
    candidates: &'b [Candidate],
    near: &'b [(usize, Range<usize>)],
    seen: &'b mut Seen,
}

/// Adds the pooled features that some parts find for a batch. Receives a thread's working space.
type Look<'l> = &'l (dyn Fn(LookedAt<'_>, &mut Scratch) -> Result<(), Error> + Sync);

/// A run over some reads.
pub(super) struct RunContext<'r, 'a> {
    pub(super) classifier: &'r Classifier<'a>,
    pub(super) config: &'r RunConfig,
    /// The filter of reads and bases.
    pub(super) filter: ReadFilter,
    pub(super) thresholds: Thresholds,
    pub(super) context: &'r Context,
    pub(super) plan: Plan,
    pub(super) lines: LineWriter<'r>,
    pub(super) wants: Wants<'r>,
    pub(super) features: Option<FeatureCounter<'a>>,
    pub(super) references: Option<ReferenceHits<'a>>,
    pub(super) total: Mutex<Outcome<'a>>,
    pub(super) lines_sum: Mutex<LinesSum>,
    pub(super) clock: &'r Clock,
    pub(super) cancel: &'r Cancel,
}

impl<'a> RunContext<'_, 'a> {
    /// Returns the number of batches that may be started before earlier ones are written: four for each thread.
    pub(super) fn ahead(&self) -> u64 {
        4 * self.context.threads as u64
    }

    /// Whether deciding needs the letters of the reads.
    pub(super) fn needs_letters(&self) -> bool {
        self.features.is_some()
            || self.lines.lookup.is_some()
            || self.thresholds.confidence > 0.0
            || self.config.least_fraction().is_some()
            || self.wants.segments
    }

    /// Returns the sink that writes texts in the order of the reads.
    fn written<'w, 'o>(&'w self, outputs: &'w mut Outputs<'o>) -> Written<'w, 'o> {
        let lines_sum = self.wants.partial.then_some(&self.lines_sum);
        Written { outputs, lines_sum, clock: self.clock }
    }

    /// Decides on each batch when its candidates have been found.
    pub(super) fn in_one_pass(
        &self,
        segments: &[ReadInput],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let written = self.written(outputs);
        let decided =
            self.each_batch(segments, progress, written, &|found, own, sketcher, turn| {
                self.decide(found, own, sketcher, turn.spare().unwrap_or_default())
            });
        decided.map(drop)
    }

    /// Stores all batches, queries the parts of the database that did not fit into device memory, ignores the
    /// references with the lowest coverage if requested, then decides.
    pub(super) fn in_two_passes(
        &self,
        per_mille: u32,
        segments: &[ReadInput],
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        self.classifier.query.rounds().map_or(Ok(()), Rounds::restart)?;
        let storage = Storage::new(&self.context.temp_dir, self.plan.waiting);
        let coverage = (per_mille > 0).then(|| ReferenceHits::new(self.classifier.database));
        let batches = self.store_all(&storage, coverage.as_ref(), segments, progress)?;
        let batches = self.ask_other_parts(&storage, batches, coverage.as_ref())?;
        let batches = self.pool(&storage, batches)?;
        let keep = coverage.map(|coverage| coverage.above_percentile(per_mille));
        let left_out = keep.iter().flatten().filter(|keep| !**keep).count();
        lock(&self.total).low_coverage = left_out as u64;
        self.decide_all(&storage, &batches, keep.as_deref(), outputs)
    }

    /// Stores all batches with the candidates of the first parts.
    fn store_all(
        &self,
        storage: &Storage,
        coverage: Option<&ReferenceHits<'_>>,
        segments: &[ReadInput],
        progress: &dyn Progress,
    ) -> Result<Vec<Stored>, Error> {
        let all_asked = self.classifier.query.rounds().is_none() && self.plan.rounds.len() == 1;
        let coverage = coverage.filter(|_| all_asked);
        let batches = StoredBatches(Vec::new());
        let batches = self.each_batch(segments, progress, batches, &|found, _, _, _| {
            if let Some(coverage) = coverage {
                self.count_references(coverage, found);
            }
            storage.put(found, &Seen::default(), None)
        })?;
        Ok(batches.0)
    }

    /// Queries the remaining parts, round by round.
    fn ask_other_parts(
        &self,
        storage: &Storage,
        mut batches: Vec<Stored>,
        coverage: Option<&ReferenceHits<'_>>,
    ) -> Result<Vec<Stored>, Error> {
        let rounds_of_parts = &self.plan.rounds;
        if let Some(rounds) = self.classifier.query.rounds() {
            while rounds.next()? {
                let coverage = coverage.filter(|_| rounds.is_last());
                batches = self.ask_again(storage, batches, rounds_of_parts[0].clone(), coverage)?;
            }
        }
        for (number, parts) in rounds_of_parts.iter().enumerate().skip(1) {
            self.classifier.database.release();
            let coverage = coverage.filter(|_| number + 1 == rounds_of_parts.len());
            batches = self.ask_again(storage, batches, parts.clone(), coverage)?;
        }
        Ok(batches)
    }

    /// Pools the candidates of all reads, round by round, unless all parts were queried at once.
    fn pool(&self, storage: &Storage, batches: Vec<Stored>) -> Result<Vec<Stored>, Error> {
        let near = self.thresholds.near > 0;
        match self.classifier.query.rounds().filter(|_| near) {
            Some(rounds) => self.pool_on_devices(rounds, storage, batches),
            None if near && !self.plan.is_one_pass() => self.pool_here(storage, batches),
            None => Ok(batches),
        }
    }

    /// Pools on the host, where the parts take turns once more.
    fn pool_here(&self, storage: &Storage, mut batches: Vec<Stored>) -> Result<Vec<Stored>, Error> {
        let (database, host) = (self.classifier.database, self.classifier.query.host());
        database.fetch()?;
        for (number, parts) in self.plan.rounds.iter().enumerate() {
            database.release();
            let last = number + 1 == self.plan.rounds.len();
            batches =
                self.look_again(storage, batches, (parts.clone(), last), &|found, scratch| {
                    let LookedAt { views, candidates, near, seen } = found;
                    host.look_again(views, scratch, candidates, near, seen);
                    Ok(())
                })?;
        }
        Ok(batches)
    }

    /// Pools on the devices, where the parts take turns once more, starting with those loaded now.
    fn pool_on_devices(
        &self,
        rounds: &Rounds<'_>,
        storage: &Storage,
        mut batches: Vec<Stored>,
    ) -> Result<Vec<Stored>, Error> {
        let parts = self.plan.rounds[0].clone();
        let any = AtomicBool::new(false);
        let look = |batches, last| {
            let devices = rounds.now().ok_or(Error::Cancelled)?;
            self.look_again(storage, batches, (parts.clone(), last), &|found, _| {
                let LookedAt { views, candidates, near, seen } = found;
                any.fetch_or(!near.is_empty(), Ordering::Relaxed);
                devices.look_again(views, candidates, near, seen)
            })
        };
        batches = look(batches, false)?;
        // Loading the other parts may take as long as the run so far.
        if !any.load(Ordering::Relaxed) || !rounds.others()? {
            return Ok(batches);
        }
        loop {
            batches = look(batches, rounds.is_last())?;
            if !rounds.next()? {
                return Ok(batches);
            }
        }
    }

    /// Collects pooled features of all reads from these parts with `look`. After the `last` parts, sets them in the
    /// candidates.
    fn look_again(
        &self,
        storage: &Storage,
        batches: Vec<Stored>,
        (parts, last): (Range<usize>, bool),
        look: Look<'_>,
    ) -> Result<Vec<Stored>, Error> {
        let host = self.classifier.query.host();
        self.again(storage, batches, parts, &|_, views, scratch, (candidates, ends, seen)| {
            let near = &host.near_reads(views, candidates, (0, ends))[..];
            look(LookedAt { views, candidates, near, seen: &mut *seen }, scratch)?;
            if last {
                seen.tell(candidates, near);
                *seen = Seen::default();
            }
            Ok(())
        })
    }

    /// Decides on all stored batches, using only the candidates of targets that `keep` selects.
    fn decide_all(
        &self,
        storage: &Storage,
        batches: &[Stored],
        keep: Option<&[bool]>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Error> {
        let numbers = NumberSource::up_to(batches.len());
        let (sink, cancel) = (self.written(outputs), self.cancel);
        let engine = Engine::new(&numbers, sink, self.ahead(), &Silent, cancel);
        let workers = engine.run(self.context.threads, || Deciding {
            run: self,
            storage,
            batches,
            keep,
            own: Outcome::default(),
            sketcher: Sketcher::new(self.classifier.database.params()),
            bytes: Vec::new(),
            masked: RecordBatch::default(),
        })?;
        let mut total = lock(&self.total);
        workers.into_iter().for_each(|worker| total.add(worker.own));
        engine.finish().map(drop)
    }

    /// Queries the parts that are on the devices now, or `parts` on the host, for all stored reads.
    fn ask_again(
        &self,
        storage: &Storage,
        places: Vec<Stored>,
        parts: Range<usize>,
        coverage: Option<&ReferenceHits<'_>>,
    ) -> Result<Vec<Stored>, Error> {
        let query = &self.classifier.query;
        let most = self.thresholds.max_cand;
        self.again(storage, places, parts, &|batch, views, scratch, (candidates, ends, _)| {
            let (mut others, mut other_ends) = (Vec::new(), Vec::new());
            query.find(views, scratch, &mut others, &mut other_ends)?;
            merge(candidates, ends, &others, &other_ends, most);
            if let Some(coverage) = coverage {
                self.count_references(coverage, &Found { batch, candidates, ends, views: &[] });
            }
            Ok(())
        })
    }

    /// Applies `change` to all stored batches, with working space for `parts` on the host.
    fn again(
        &self,
        storage: &Storage,
        places: Vec<Stored>,
        parts: Range<usize>,
        change: Change<'_>,
    ) -> Result<Vec<Stored>, Error> {
        let query = &self.classifier.query;
        let numbers = 0..places.len();
        let places: Vec<_> = places.into_iter().map(|stored| Mutex::new(Some(stored))).collect();
        let own = || (Vec::new(), RecordBatch::default(), query.scratch().ask(parts.clone()));
        each_in_order(self.context.threads, numbers, self.cancel, own, |own, number| {
            let (bytes, masked, scratch) = own;
            let stored = lock(&places[number]).take().ok_or(Error::Cancelled)?;
            let mut stored_batch = storage.get(&stored, bytes)?;
            let FoundBatch { batch, candidates, ends, seen } = &mut stored_batch;
            let (views, _) = self.filter.views(batch, masked);
            change(batch, &views, scratch, (candidates, ends, seen))?;
            let found = Found { batch, candidates, ends, views: &[] };
            storage.put(&found, seen, Some(stored))
        })
    }

    /// Decides on the reads of a batch, counts them, and formats their outputs.
    ///
    /// # Errors
    /// If a read cannot be written as an alignment.
    fn decide(
        &self,
        &Found { batch, candidates, ends, views }: &Found<'_>,
        own: &mut Outcome<'a>,
        sketcher: &mut Sketcher,
        mut texts: Texts,
    ) -> Result<Texts, Error> {
        self.wants.check(batch)?;
        let (thresholds, nodes) = (&self.thresholds, &self.classifier.nodes);
        let tree = self.classifier.database.taxonomy();
        let all = candidates;
        let clades =
            (thresholds.confidence > 0.0).then(|| self.classifier.query.host().clades(views));
        let (mut start, mut taxids, mut scratch) = (0, Vec::new(), None);
        for (read, &end) in ends.iter().enumerate() {
            let candidates = &all[start..end];
            start = end;
            let lengths = lengths(batch, read);
            let bases = self.filter.bases(lengths);
            let (verdict, only_best) = thresholds.decide_among(candidates, bases, tree, nodes);
            let clades = clades.as_ref().map(|clades| clades.of(read));
            let verdict = thresholds.confirm(verdict, clades, tree, nodes);
            let verdict = self.supported(verdict, || &views[read], &mut scratch);
            let found = output::found(verdict, nodes);
            let counted = thresholds.counted_at((verdict, only_best), candidates, tree, nodes);
            own.count(found, counted, lengths);
            if self.wants.lines && (found.is_some() || !self.config.kraken2.mapped_only) {
                let mates = views.get(read).unwrap_or(&[&[], &[]]);
                let read = Read { batch, read, lengths, mates, found, candidates };
                self.lines.write(&read, sketcher, &mut texts.lines);
            }
            self.put_read(batch, read, found, &mut texts)?;
            if self.wants.segments {
                taxids.push(found.map_or(0, |(node, _)| tree.taxid(node)));
            }
        }
        if self.wants.segments {
            self.put_segments(batch, views, &taxids, &mut texts.segments);
        }
        if self.wants.partial {
            own.reads_sum = own.reads_sum.wrapping_add(reads_sum(batch));
        }
        if let Some(references) = &self.references {
            self.count_references(references, &Found { batch, candidates, ends, views });
        }
        self.wants.end(batch, [&mut texts.classified, &mut texts.unclassified])?;
        Ok(texts)
    }

    /// Returns the verdict, or unclassified if too few windows of the read hit its clade. `mates` returns the letters;
    /// `scratch` is made when it is first needed.
    pub(super) fn supported<'v>(
        &self,
        verdict: Verdict,
        mates: impl FnOnce() -> &'v [&'v [u8]; 2],
        scratch: &mut Option<Scratch>,
    ) -> Verdict {
        let (Some(least), Some((node, _))) =
            (self.config.least_fraction(), output::found(verdict, &self.classifier.nodes))
        else {
            return verdict;
        };
        let host = self.classifier.query.host();
        let scratch = scratch.get_or_insert_with(|| host.scratch());
        match host.support(mates(), node, scratch).reaches(least) {
            true => verdict,
            false => Verdict::Unclassified,
        }
    }

    /// Adds a read to the text of its kind, if that is wanted. `found` is its target or taxon, if there is one.
    fn put_read(
        &self,
        batch: &RecordBatch,
        read: usize,
        found: TargetOrTaxon,
        texts: &mut Texts,
    ) -> Result<(), Error> {
        match (found, &self.wants.classified, &self.wants.unclassified) {
            (Some((node, _)), Some(form), _) => {
                let tree = self.classifier.database.taxonomy();
                let taxon = ReadTaxon { taxid: tree.taxid(node), name: tree.name(node).as_bytes() };
                Ok(texts.classified.add(batch, read, form, taxon)?)
            }
            (None, _, Some(form)) => {
                Ok(texts.unclassified.add(batch, read, form, ReadTaxon::NONE)?)
            }
            _ => Ok(()),
        }
    }

    /// Counts the candidates that have the hits needed for a verdict.
    fn count_references(&self, references: &ReferenceHits<'_>, found: &Found<'_>) {
        let mut start = 0;
        for (read, &end) in found.ends.iter().enumerate() {
            let (first, second) = lengths(found.batch, read);
            let candidates = &found.candidates[start..end];
            let bases = (first + second.unwrap_or(0)) as u64;
            let needed = self.thresholds.needed(candidates, bases);
            let enough = |candidate: &&Candidate| candidate.hits >= needed;
            candidates.iter().filter(enough).for_each(|c| references.count(c));
            start = end;
        }
    }
}
