//! Classification of batches of reads by one worker.

use std::convert::Infallible;

use merganser_io::RecordBatch;

use super::batch::{BlockSketches, Kraken2Batch, TaxonCounts};
use super::by_database::Evidence;
use super::classify::{Hits, resolve};
use super::config::Kraken2Config;
use super::counts::BlockCuts;
use super::database::Kraken2Database;
use super::lines::{AMBIGUOUS, BORDER, Line, LineWriter, pair_name};
use super::minimizers::{Entries, EntryRun, Kind, Minimizers};
use super::segments::Segments;
use super::taxonomy::Kraken2Taxonomy;
use super::waiting::{WaitingBatch, WaitingEntries};
use crate::Error;
use crate::cuda::Found;
use merganser_taxreport::by_database::DatabaseSet;
use merganser_taxreport::output::Lines;

/// Minimizers that are looked up together: their entries stay in the second-level cache.
const TOGETHER: usize = 1 << 13;

/// A database and options to classify with; shared by all workers.
#[derive(Debug)]
pub(super) struct Kraken2Classifier<'db> {
    database: &'db Kraken2Database,
    config: &'db Kraken2Config,
    lines: LineWriter<'db>,
    /// Whether the segments of reads are classified, too.
    segments: bool,
}

impl<'db> Kraken2Classifier<'db> {
    /// Returns a classifier with these options.
    pub(super) fn new(database: &'db Kraken2Database, config: &'db Kraken2Config) -> Self {
        let lines = LineWriter::new(database.taxonomy(), config.use_names);
        Kraken2Classifier { database, config, lines, segments: false }
    }

    /// Sets whether the segments of reads are classified, too.
    pub(super) fn with_segments(self, segments: bool) -> Self {
        Kraken2Classifier { segments, ..self }
    }

    /// Whether the databases that have each minimizer are needed.
    fn counts_by_database(&self) -> bool {
        self.config.database_report && self.database.tables.single().is_none()
    }

    /// Replaces `found` with the node of each minimizer, and `sources` with the databases that have it, if reads are
    /// counted by database.
    ///
    /// # Errors
    /// If a database turns out to be damaged.
    fn look_up(
        &self,
        minimizers: &[u64],
        found: &mut Vec<u32>,
        sources: &mut Vec<DatabaseSet>,
    ) -> Result<(), Error> {
        let database = self.database;
        match self.counts_by_database() {
            false => database.look_up(minimizers, found),
            true => {
                let tree = database.taxonomy();
                database.tables.look_up_sources(minimizers, tree, (found, sources))
            }
        }
    }

    /// Returns a worker for one thread.
    pub(super) fn worker(&self) -> Kraken2Worker<'_> {
        Kraken2Worker {
            classifier: self,
            scanner: Minimizers::new(self.database.options()),
            entries: Entries::default(),
            found: Vec::new(),
            sources: Vec::new(),
            reads: Reads::new(self),
        }
    }
}

/// The state of one worker of a [`Kraken2Classifier`].
#[derive(Debug)]
pub(super) struct Kraken2Worker<'c> {
    classifier: &'c Kraken2Classifier<'c>,
    scanner: Minimizers,
    entries: Entries,
    /// The nodes of the minimizers that were looked up.
    found: Vec<u32>,
    /// The databases that have each of them; empty unless reads are counted by database.
    sources: Vec<DatabaseSet>,
    reads: Reads<'c>,
}

impl Kraken2Worker<'_> {
    /// Classifies the reads of a batch. Replaces bases of low quality in the batch itself. `cuts` are the cuts
    /// of [`InputBlocks`](super::counts::InputBlocks) for this batch; they are used only with
    /// `report_minimizer_data`.
    ///
    /// # Errors
    /// If the database turns out to be damaged.
    pub(super) fn classify(
        &mut self,
        batch: &mut RecordBatch,
        cuts: &BlockCuts,
        results: &mut Kraken2Batch,
    ) -> Result<(), Error> {
        results.clear();
        self.mask(batch);
        let batch = &*batch;
        let Kraken2Worker { classifier, scanner, entries, found, sources, reads } = self;
        reads.start(cuts);
        scan(scanner, batch, entries, |entries| {
            classifier.look_up(&entries.minimizers, found, sources)?;
            reads.take(entries, (found, sources), batch, results);
            Ok::<(), Error>(())
        })?;
        reads.finish(results);
        Ok(())
    }

    /// Collects the searches for a batch's minimizers. After they are performed, the batch can be
    /// [classified](Self::classify_waiting). Replaces bases of low quality in the batch itself.
    pub(super) fn wait(&mut self, batch: &mut RecordBatch, cuts: BlockCuts) -> WaitingBatch {
        self.mask(batch);
        let Kraken2Worker { classifier, scanner, entries, .. } = self;
        let mut pieces = Vec::new();
        let Ok(()) = scan(scanner, batch, entries, |entries| {
            pieces.push(WaitingEntries::new(entries, &classifier.database.tables));
            Ok::<(), Infallible>(())
        });
        WaitingBatch::new(batch, cuts, pieces)
    }

    /// Classifies the reads of a batch whose searches are done, and frees the searches.
    pub(super) fn classify_waiting(
        &mut self,
        waiting: &mut WaitingBatch,
        results: &mut Kraken2Batch,
    ) {
        results.clear();
        let Kraken2Worker { classifier, entries, found, sources, reads, .. } = self;
        reads.start(&waiting.cuts);
        for piece in waiting.pieces.drain(..) {
            let wanted = classifier.counts_by_database().then_some(&mut *sources);
            piece.found(classifier.database, entries, found, wanted);
            reads.take(entries, (found, sources), &waiting.batch, results);
        }
        reads.finish(results);
    }

    /// Classifies the reads of a batch with the results of a device. Bases of low quality must have been
    /// [replaced](Self::mask) before.
    ///
    /// # Errors
    /// If the database turns out to be damaged.
    pub(super) fn classify_found(
        &mut self,
        batch: &RecordBatch,
        cuts: &BlockCuts,
        sequences: Found<'_>,
        results: &mut Kraken2Batch,
    ) -> Result<(), Error> {
        results.clear();
        let Kraken2Worker { classifier, reads, .. } = self;
        classifier.database.check_node(sequences.largest_node())?;
        reads.start(cuts);
        let (mut from, mates) = (0, batch.mates());
        for (record, &count) in sequences.counts.iter().enumerate() {
            if record % mates == 1 {
                reads.border();
            }
            for at in from..from + count as usize {
                let [run, node, groups] = sequences.runs[at];
                let run = EntryRun::of_device(run);
                match run.kind() {
                    Kind::Next => {
                        if let Some(databases) = sequences.databases.filter(|_| !reads.done) {
                            reads.evidence.add(node, databases[at]);
                        }
                        let minimizer = || sequences.minimizers.map_or(0, |all| all[at]);
                        reads.next(node, run.count(), groups.into(), minimizer);
                    }
                    Kind::Same => reads.put(reads.last, run.count()),
                    _ => reads.put(AMBIGUOUS, run.count()),
                }
            }
            from += count as usize;
            if record % mates + 1 == mates {
                reads.end(batch, results);
            }
        }
        reads.finish(results);
        Ok(())
    }

    /// Whether consecutive minimizers with the same node may form one run; not if each minimizer counts.
    pub(super) fn joins_runs(&self) -> bool {
        !self.classifier.config.quick && !self.classifier.config.report_minimizer_data
    }

    /// Replaces bases of low quality with `x`, if the options require it.
    pub(super) fn mask(&self, batch: &mut RecordBatch) {
        mask(batch, self.classifier.config.min_qual);
    }
}

/// Computes the entries of a batch's reads. Calls `full` with as many at a time as are looked up together.
fn scan<E>(
    scanner: &mut Minimizers,
    batch: &RecordBatch,
    entries: &mut Entries,
    mut full: impl FnMut(&mut Entries) -> Result<(), E>,
) -> Result<(), E> {
    entries.clear();
    let mut take = |entries: &mut Entries, least: usize| {
        if entries.minimizers.len() >= least {
            full(entries)?;
            entries.clear();
        }
        Ok(())
    };
    for read in 0..batch.reads() {
        for mate in 0..batch.mates() {
            if mate == 1 {
                entries.runs.push(EntryRun::BORDER);
            }
            let letters = batch.letters(read * batch.mates() + mate);
            scanner.scan(letters, entries, |entries| take(entries, TOGETHER))?;
        }
        entries.runs.push(EntryRun::END);
    }
    take(entries, 0)
}

/// Returns the name of a read, or of a pair.
fn name_of(batch: &RecordBatch, read: usize) -> &[u8] {
    match batch.mates() {
        2 => pair_name(batch.record(2 * read).name),
        _ => batch.name(read),
    }
}

/// Returns the number of bases of a read, of both mates of a pair.
fn bases_of(batch: &RecordBatch, read: usize) -> u64 {
    let mates = batch.mates();
    (0..mates).map(|mate| batch.letter_count(read * mates + mate) as u64).sum()
}

/// Replaces bases with a quality below `minimum` with `x`.
fn mask(batch: &mut RecordBatch, minimum: u8) {
    if minimum == 0 {
        return;
    }
    for at in 0..batch.len() {
        let (letters, Some(quality)) = batch.letters_mut(at) else { continue };
        for (letter, &quality) in letters.iter_mut().zip(quality) {
            if i16::from(quality) - 33 < i16::from(minimum) {
                *letter = b'x';
            }
        }
    }
}

/// The state of classifying the entries of reads, one read after the other.
#[derive(Debug)]
struct Reads<'c> {
    tree: &'c Kraken2Taxonomy,
    config: &'c Kraken2Config,
    lines: &'c LineWriter<'c>,
    /// Classifies segments, if that is wanted.
    segments: Option<Segments<'c>>,
    /// The list of k-mers of the read's line: nodes with numbers of k-mers.
    kmers: Vec<Hits>,
    hits: Vec<Hits>,
    /// Working space for the taxon of a read.
    path: Vec<(u32, u64)>,
    /// The node of the previous minimizer.
    last: u32,
    groups: u64,
    /// The number of k-mers so far.
    total: u64,
    /// Whether enough hit groups were found for quick classification.
    done: bool,
    /// Whether this happened before the second mate.
    one_mate: bool,
    /// The number of the read's block.
    block: u64,
    /// The reads at which the next blocks begin, in descending order.
    cuts: Vec<usize>,
    /// The sketches of the block so far.
    sketches: BlockSketches,
    counted: Counted,
    evidence: Evidence,
}

/// The counts of a batch so far.
#[derive(Debug)]
struct Counted {
    /// The counts of each node.
    counts: Vec<TaxonCounts>,
    /// The nodes with any counts.
    nodes: Vec<u32>,
}

impl Counted {
    fn new(nodes: usize) -> Counted {
        Counted { counts: vec![TaxonCounts::default(); nodes], nodes: Vec::new() }
    }

    /// Returns the counts of a node; the caller must increase one of them.
    #[inline]
    fn count(&mut self, node: u32) -> &mut TaxonCounts {
        let counts = &mut self.counts[node as usize];
        if *counts == TaxonCounts::default() {
            self.nodes.push(node);
        }
        counts
    }

    /// Moves all counts to `taxa` and resets them.
    fn take(&mut self, taxa: &mut Vec<(u32, TaxonCounts)>) {
        let counts = &mut self.counts;
        let drained = self.nodes.drain(..);
        taxa.extend(drained.map(|node| (node, std::mem::take(&mut counts[node as usize]))));
    }
}

impl<'c> Reads<'c> {
    fn new(classifier: &'c Kraken2Classifier<'c>) -> Reads<'c> {
        Reads {
            tree: classifier.database.taxonomy(),
            config: classifier.config,
            lines: &classifier.lines,
            segments: classifier.segments.then(|| {
                let &Kraken2Config { confidence, .. } = classifier.config;
                let bases = classifier.config.segment_bases();
                Segments::new(classifier.database.taxonomy(), bases, confidence)
            }),
            kmers: Vec::new(),
            hits: Vec::new(),
            path: Vec::new(),
            last: 0,
            groups: 0,
            total: 0,
            done: false,
            one_mate: false,
            block: 0,
            cuts: Vec::new(),
            sketches: BlockSketches::new(),
            counted: Counted::new(classifier.database.taxonomy().len()),
            evidence: Evidence::new(
                classifier.config.database_report,
                !classifier.counts_by_database(),
            ),
        }
    }

    /// Begins a batch.
    fn start(&mut self, cuts: &BlockCuts) {
        self.block = cuts.first;
        self.cuts.clear();
        self.cuts.extend(cuts.cuts.iter().rev());
        self.sketches.clear();
        self.clear();
    }

    fn clear(&mut self) {
        self.kmers.clear();
        self.hits.clear();
        self.evidence.clear();
        (self.last, self.groups, self.total) = (0, 0, 0);
        (self.done, self.one_mate) = (false, false);
    }

    /// Processes runs of entries with the nodes of their minimizers. `sources` are the databases that have them, or empty
    /// if reads are not counted by database.
    fn take(
        &mut self,
        entries: &Entries,
        (found, sources): (&[u32], &[DatabaseSet]),
        batch: &RecordBatch,
        results: &mut Kraken2Batch,
    ) {
        match sources.is_empty() {
            true => self.take_runs::<false>(entries, (found, sources), batch, results),
            false => self.take_runs::<true>(entries, (found, sources), batch, results),
        }
    }

    /// Performs [`take`](Self::take), in which runs that do not count by database spend no time on it.
    fn take_runs<const BY_DATABASE: bool>(
        &mut self,
        entries: &Entries,
        (found, sources): (&[u32], &[DatabaseSet]),
        batch: &RecordBatch,
        results: &mut Kraken2Batch,
    ) {
        let mut next = found.iter().enumerate();
        for run in &entries.runs {
            let count = run.count();
            match run.kind() {
                Kind::Next => {
                    let Some((number, &node)) = next.next() else { return };
                    if BY_DATABASE && !self.done {
                        self.evidence.add(node, sources[number]);
                    }
                    self.next(node, count, 1, || entries.minimizers[number]);
                }
                Kind::Same => self.put(self.last, count),
                Kind::Ambiguous => self.put(AMBIGUOUS, count),
                Kind::Border => self.border(),
                Kind::End => self.end(batch, results),
            }
        }
    }

    /// Processes the k-mers of `groups` consecutive minimizers with the same node. `minimizer` returns the
    /// minimizer; it is called only if there is a single one.
    #[inline]
    fn next(&mut self, node: u32, count: u64, groups: u64, minimizer: impl FnOnce() -> u64) {
        self.last = node;
        if self.done {
            return;
        }
        if node != 0 {
            self.groups += groups;
            self.counted.count(node).minimizers += groups;
            if self.config.report_minimizer_data {
                self.sketches.entry(node).or_default().insert(minimizer());
            }
        }
        self.put(node, count);
    }

    /// Processes the end of the first mate.
    fn border(&mut self) {
        self.one_mate = self.done;
        self.kmers.push((BORDER, 1));
    }

    /// Processes k-mers with the same node.
    #[inline]
    fn put(&mut self, node: u32, count: u64) {
        if self.done {
            return;
        }
        if node != 0 && node != AMBIGUOUS {
            if self.config.quick && self.groups >= self.config.minimum_hit_groups {
                self.done = true;
                return;
            }
            match self.hits.last_mut() {
                Some(hit) if hit.0 == node => hit.1 += count,
                _ => self.hits.push((node, count)),
            }
        }
        self.total += count;
        match self.kmers.last_mut() {
            Some(run) if run.0 == node => run.1 += count,
            _ => self.kmers.push((node, count)),
        }
    }

    /// Processes the end of a read: determines its taxon and appends its line.
    fn end(&mut self, batch: &RecordBatch, results: &mut Kraken2Batch) {
        // Kraken 2 subtracts the border from the k-mers of every pair, even if it stopped before the border.
        let total = self.total.saturating_sub(u64::from(self.one_mate));
        let Reads { tree, hits, path, config, .. } = self;
        let mut call = resolve(tree, hits, path, total, config.confidence);
        if self.groups < self.config.minimum_hit_groups {
            call = 0;
        }
        if call != 0 {
            let counts = self.counted.count(call);
            counts.reads += 1;
            counts.bases += bases_of(batch, results.calls.len());
            self.evidence.count(tree, call, &mut results.by_database);
        }
        let read = results.calls.len();
        results.calls.push(call);
        if call != 0 || !self.config.mapped_only {
            self.line(batch, read, call, &mut results.lines);
        }
        if let Some(segments) = &mut self.segments {
            let (name, lines) = (name_of(batch, read), &mut results.segments);
            segments.add((batch, read), name, call, &self.kmers, lines);
        }
        self.clear();
        while self.cuts.last() == Some(&(read + 1)) {
            self.cuts.pop();
            self.end_block(results);
            self.block += 1;
        }
    }

    fn line(&self, batch: &RecordBatch, read: usize, call: u32, lines: &mut Lines) {
        let mates = batch.mates();
        let first = read * mates;
        let second = (mates == 2).then(|| batch.letter_count(first + 1));
        let line = Line {
            name: name_of(batch, read),
            lengths: (batch.letter_count(first), second),
            call,
            kmers: (!self.config.quick).then_some(&self.kmers),
        };
        self.lines.write(&line, lines);
    }

    fn end_block(&mut self, results: &mut Kraken2Batch) {
        if !self.sketches.is_empty() {
            results.sketches.push((self.block, std::mem::take(&mut self.sketches)));
        }
    }

    /// Processes the end of a batch.
    fn finish(&mut self, results: &mut Kraken2Batch) {
        self.counted.take(&mut results.taxa);
        self.end_block(results);
    }
}
