//! Batches of reads to lines, by one thread of many.

use std::convert::Infallible;

use merganser_io::RecordBatch;

use super::batch::{BlockSketches, Kraken2Batch, TaxonCounts};
use super::classify::{Hits, resolve};
use super::config::Kraken2Config;
use super::counts::BlockCuts;
use super::database::Kraken2Database;
use super::lines::{AMBIGUOUS, BORDER, Line, pair_name};
use super::minimizers::{Entries, EntryRun, Kind, Minimizers};
use super::table::Searches;
use super::taxonomy::Kraken2Taxonomy;
use super::waiting::{WaitingBatch, WaitingEntries};
use crate::Error;
use crate::cuda::Found;

/// Minimizers that are looked up together: they are put in the order of the table.
const TOGETHER: usize = 1 << 17;

/// Classifies reads with a database; shared by all threads.
#[derive(Debug)]
pub(super) struct Kraken2Classifier<'db> {
    database: &'db Kraken2Database,
    config: &'db Kraken2Config,
}

impl<'db> Kraken2Classifier<'db> {
    /// Returns one that classifies as `config` says.
    pub(super) fn new(database: &'db Kraken2Database, config: &'db Kraken2Config) -> Self {
        Kraken2Classifier { database, config }
    }

    /// A worker, for one thread.
    pub(super) fn worker(&self) -> Kraken2Worker<'_> {
        Kraken2Worker {
            classifier: self,
            scanner: Minimizers::new(self.database.options()),
            entries: Entries::default(),
            searches: Searches::default(),
            found: Vec::new(),
            reads: Reads::new(self),
        }
    }
}

/// One thread's part of a [`Kraken2Classifier`].
#[derive(Debug)]
pub(super) struct Kraken2Worker<'c> {
    classifier: &'c Kraken2Classifier<'c>,
    scanner: Minimizers,
    entries: Entries,
    searches: Searches,
    /// The nodes of the minimizers.
    found: Vec<u32>,
    reads: Reads<'c>,
}

impl Kraken2Worker<'_> {
    /// Classifies a batch's reads. Bases of low quality are replaced in the batch itself. `cuts` are
    /// those that [`InputBlocks`](super::counts::InputBlocks) gave for it; they matter
    /// with `report_minimizer_data` alone.
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
        let Kraken2Worker { classifier, scanner, entries, searches, found, reads } = self;
        reads.start(cuts);
        scan(scanner, batch, entries, |entries| {
            classifier.database.table.look_up(&entries.minimizers, searches, found)?;
            reads.take(entries, found, batch, results);
            Ok::<(), Error>(())
        })?;
        reads.finish(results);
        Ok(())
    }

    /// Has the searches for a batch's minimizers wait for the ranges of the table; then it may be
    /// [classified](Self::classify_waiting). Bases of low quality are replaced in the batch itself.
    pub(super) fn wait(&mut self, batch: &mut RecordBatch, cuts: BlockCuts) -> WaitingBatch {
        self.mask(batch);
        let Kraken2Worker { classifier, scanner, entries, .. } = self;
        let mut pieces = Vec::new();
        let Ok(()) = scan(scanner, batch, entries, |entries| {
            pieces.push(WaitingEntries::new(entries, &classifier.database.table));
            Ok::<(), Infallible>(())
        });
        WaitingBatch::new(batch, cuts, pieces)
    }

    /// Classifies the reads of a batch all whose searches were made, and lets go of these.
    pub(super) fn classify_waiting(
        &mut self,
        waiting: &mut WaitingBatch,
        results: &mut Kraken2Batch,
    ) {
        results.clear();
        let Kraken2Worker { entries, found, reads, .. } = self;
        reads.start(&waiting.cuts);
        for piece in waiting.pieces.drain(..) {
            piece.found(entries, found);
            reads.take(entries, found, &waiting.batch, results);
        }
        reads.finish(results);
    }

    /// Classifies a batch's reads by what a device has found for their sequences, bases of low quality
    /// [replaced](Self::mask).
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
        classifier.database.table.check_value(sequences.largest_node())?;
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

    /// Whether minimizers in a row that have the same node may be one run: not where each of them counts.
    pub(super) fn joins_runs(&self) -> bool {
        !self.classifier.config.quick && !self.classifier.config.report_minimizer_data
    }

    /// Replaces bases of low quality, if that is asked for.
    pub(super) fn mask(&self, batch: &mut RecordBatch) {
        mask(batch, self.classifier.config.min_qual);
    }
}

/// Makes the entries of a batch's reads; `full` takes as many at a time as are looked up together.
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
            let letters = batch.record(read * batch.mates() + mate).letters;
            scanner.scan(letters, entries, |entries| take(entries, TOGETHER))?;
        }
        entries.runs.push(EntryRun::END);
    }
    take(entries, 0)
}

/// Replaces bases of low quality.
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

/// What becomes of the entries of reads, one read after the other.
#[derive(Debug)]
struct Reads<'c> {
    tree: &'c Kraken2Taxonomy,
    config: &'c Kraken2Config,
    /// Nodes and their k-mers as the line shows them.
    kmers: Vec<Hits>,
    hits: Vec<Hits>,
    /// The node of the minimizer before.
    last: u32,
    groups: u64,
    /// K-mers so far.
    total: u64,
    /// A quick read is done with,
    done: bool,
    /// before its second mate.
    one_mate: bool,
    /// The block of the read, where the next ones begin, and sketches.
    block: u64,
    cuts: Vec<usize>,
    sketches: BlockSketches,
    counted: Counted,
}

/// What a batch has of each taxon so far.
#[derive(Debug)]
struct Counted {
    /// By node,
    counts: Vec<TaxonCounts>,
    /// and which nodes have any.
    nodes: Vec<u32>,
}

impl Counted {
    fn new(nodes: usize) -> Counted {
        Counted { counts: vec![TaxonCounts::default(); nodes], nodes: Vec::new() }
    }

    /// The counts of a node, to which at least one is added.
    #[inline]
    fn count(&mut self, node: u32) -> &mut TaxonCounts {
        let counts = &mut self.counts[node as usize];
        if *counts == TaxonCounts::default() {
            self.nodes.push(node);
        }
        counts
    }

    /// Hands over all counts, and begins anew.
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
            kmers: Vec::new(),
            hits: Vec::new(),
            last: 0,
            groups: 0,
            total: 0,
            done: false,
            one_mate: false,
            block: 0,
            cuts: Vec::new(),
            sketches: BlockSketches::new(),
            counted: Counted::new(classifier.database.taxonomy().len()),
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
        (self.last, self.groups, self.total) = (0, 0, 0);
        (self.done, self.one_mate) = (false, false);
    }

    /// Takes runs of entries, and the nodes of their minimizers.
    fn take(
        &mut self,
        entries: &Entries,
        found: &[u32],
        batch: &RecordBatch,
        results: &mut Kraken2Batch,
    ) {
        let mut next = found.iter().enumerate();
        for run in &entries.runs {
            let count = run.count();
            match run.kind() {
                Kind::Next => {
                    let Some((number, &node)) = next.next() else { return };
                    self.next(node, count, 1, || entries.minimizers[number]);
                }
                Kind::Same => self.put(self.last, count),
                Kind::Ambiguous => self.put(AMBIGUOUS, count),
                Kind::Border => self.border(),
                Kind::End => self.end(batch, results),
            }
        }
    }

    /// Takes k-mers of so many minimizers in a row that have the same node; `minimizer` is the only one
    /// where that matters.
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

    /// The end of the first mate.
    fn border(&mut self) {
        self.one_mate = self.done;
        self.kmers.push((BORDER, 1));
    }

    /// Takes k-mers that have the same node.
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

    /// The end of a read: its call and its line.
    fn end(&mut self, batch: &RecordBatch, results: &mut Kraken2Batch) {
        // Kraken 2 takes the border from the k-mers of every pair, of one that it left before, too.
        let total = self.total.saturating_sub(u64::from(self.one_mate));
        let mut call = resolve(self.tree, &mut self.hits, total, self.config.confidence);
        if self.groups < self.config.minimum_hit_groups {
            call = 0;
        }
        if call != 0 {
            self.counted.count(call).reads += 1;
        }
        let read = results.calls.len();
        results.calls.push(call);
        if call != 0 || !self.config.mapped_only {
            self.line(batch, read, call, &mut results.lines);
        }
        self.clear();
        while self.cuts.last() == Some(&(read + 1)) {
            self.cuts.pop();
            self.end_block(results);
            self.block += 1;
        }
    }

    fn line(&self, batch: &RecordBatch, read: usize, call: u32, lines: &mut Vec<u8>) {
        let mates = batch.mates();
        let first = batch.record(read * mates);
        let second = (mates == 2).then(|| batch.record(read * mates + 1).letters.len());
        let line = Line {
            name: if mates == 2 { pair_name(first.name) } else { first.name },
            lengths: (first.letters.len(), second),
            call,
            kmers: (!self.config.quick).then_some(&self.kmers),
        };
        line.write(self.tree, self.config.use_names, lines);
    }

    fn end_block(&mut self, results: &mut Kraken2Batch) {
        if !self.sketches.is_empty() {
            results.sketches.push((self.block, std::mem::take(&mut self.sketches)));
        }
    }

    /// The end of a batch.
    fn finish(&mut self, results: &mut Kraken2Batch) {
        self.counted.take(&mut results.taxa);
        self.end_block(results);
    }
}
