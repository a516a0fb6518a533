//! Classification of batches of reads by one worker.

mod reads;

use std::convert::Infallible;

use merganser_io::RecordBatch;

use super::batch::Kraken2Batch;
use super::config::Kraken2Config;
use super::counts::BlockCuts;
use super::database::Kraken2Database;
use super::lines::{AMBIGUOUS, LineWriter};
use super::minimizers::{Entries, EntryRun, Kind, Minimizers};
use super::waiting::{WaitingBatch, WaitingEntries};
use crate::Error;
use crate::cuda::Found;
use merganser_taxreport::by_database::DatabaseSet;
use reads::Reads;

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
