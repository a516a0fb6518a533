//! Classification of the entries of reads, one read after the other.

use merganser_io::RecordBatch;

use super::super::batch::{BlockSketches, Kraken2Batch, TaxonCounts};
use super::super::by_database::Evidence;
use super::super::classify::{Hits, resolve};
use super::super::config::Kraken2Config;
use super::super::counts::BlockCuts;
use super::super::lines::{AMBIGUOUS, BORDER, Line, LineWriter, pair_name};
use super::super::minimizers::{Entries, Kind};
use super::super::segments::Segments;
use super::super::taxonomy::Kraken2Taxonomy;
use super::Kraken2Classifier;
use merganser_taxreport::by_database::DatabaseSet;
use merganser_taxreport::output::Lines;

/// The state of classifying the entries of reads, one read after the other.
#[derive(Debug)]
pub(super) struct Reads<'c> {
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
    pub(super) last: u32,
    groups: u64,
    /// The number of k-mers so far.
    total: u64,
    /// Whether enough hit groups were found for quick classification.
    pub(super) done: bool,
    /// Whether this happened before the second mate.
    one_mate: bool,
    /// The number of the read's block.
    block: u64,
    /// The reads at which the next blocks begin, in descending order.
    cuts: Vec<usize>,
    /// The sketches of the block so far.
    sketches: BlockSketches,
    counted: Counted,
    pub(super) evidence: Evidence,
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
    pub(super) fn new(classifier: &'c Kraken2Classifier<'c>) -> Reads<'c> {
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
    pub(super) fn start(&mut self, cuts: &BlockCuts) {
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
    pub(super) fn take(
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
    pub(super) fn next(
        &mut self,
        node: u32,
        count: u64,
        groups: u64,
        minimizer: impl FnOnce() -> u64,
    ) {
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
    pub(super) fn border(&mut self) {
        self.one_mate = self.done;
        self.kmers.push((BORDER, 1));
    }

    /// Processes k-mers with the same node.
    #[inline]
    pub(super) fn put(&mut self, node: u32, count: u64) {
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
    pub(super) fn end(&mut self, batch: &RecordBatch, results: &mut Kraken2Batch) {
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
    pub(super) fn finish(&mut self, results: &mut Kraken2Batch) {
        self.counted.take(&mut results.taxa);
        self.end_block(results);
    }
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
