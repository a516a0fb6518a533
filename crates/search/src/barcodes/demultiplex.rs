//! Demultiplexing: each read to the output of its sample.

use merganser_filter::Threshold;
use merganser_run::{Context, Stages};

use super::assign::{Assigner, Verdict};
use super::divide::{Fate, Rule, Searched, divide};
use super::finder::Place;
use super::{BarcodeOptions, ReadFiles, SampleCounts, Samples};
use crate::Error;

/// The results of demultiplexing. Each read counts once.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Demultiplexed {
    /// The reads of each sample.
    pub samples: Vec<SampleCounts>,
    /// The refused reads without a barcode of a sample.
    pub none: SampleCounts,
    /// The refused reads with barcodes of which no sample has both.
    pub one_of_two: SampleCounts,
    /// The refused reads for which another sample has too few edits more than the best one.
    pub ambiguous: SampleCounts,
    /// The refused reads of which trimming would leave no letter.
    pub empty: SampleCounts,
    /// The number of secondary and supplementary alignments that were skipped.
    pub skipped_alignments: u64,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The peak resident memory in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

impl Demultiplexed {
    fn of_samples(samples: usize) -> Demultiplexed {
        let samples = vec![SampleCounts::default(); samples];
        Demultiplexed { samples, ..Demultiplexed::default() }
    }

    /// Returns the counts of refused reads, with the names of the reasons.
    pub fn refused(&self) -> [(&'static str, SampleCounts); 4] {
        [
            ("none", self.none),
            ("one_of_two", self.one_of_two),
            ("ambiguous", self.ambiguous),
            ("empty", self.empty),
        ]
    }

    /// Returns the counts of all assigned reads.
    pub fn assigned(&self) -> SampleCounts {
        self.samples.iter().fold(SampleCounts::default(), |all, &one| all + one)
    }

    /// Returns the number of all reads.
    pub fn reads(&self) -> u64 {
        let refused = self.refused().iter().map(|(_, counts)| counts.reads).sum::<u64>();
        self.assigned().reads + refused
    }

    fn plus(mut self, other: Demultiplexed) -> Demultiplexed {
        self.samples.iter_mut().zip(other.samples).for_each(|(one, other)| *one = *one + other);
        self.none = self.none + other.none;
        self.one_of_two = self.one_of_two + other.one_of_two;
        self.ambiguous = self.ambiguous + other.ambiguous;
        self.empty = self.empty + other.empty;
        self
    }
}

/// Divides the reads of files among samples by their barcodes, and writes those of each sample, in their order, to an
/// output of its own: one for each sample, then one for the refused reads. The caller commits the set of the outputs.
/// The bytes that are written do not depend on `context`.
///
/// The edits of a barcode are the fewest of an alignment of all its letters in the window: at the start of the read, or
/// at the start of its reverse complement. A sample with one barcode has those of the better end; one with two barcodes
/// (or with `both_ends`) has the sum of both, one at each end, in the better direction. A read belongs to the sample with
/// the fewest edits of those whose barcodes have at most the edits of `threshold`, if all other samples have at least
/// `margin` edits more. Other samples whose barcodes have more edits than `threshold` by `margin` or more are not
/// considered. Reads are not reversed.
///
/// With `trim`, a read is written without its barcodes and all letters outside these; a barcode ends at the last of its
/// best places. A read of which no letter is left is refused. Refused reads are written whole.
///
/// # Errors
/// If the options are invalid, a barcode would match everywhere or is longer than the window, there is too little
/// memory, the input is invalid, an output cannot be written, or the run is cancelled.
///
/// # Panics
/// If `files` has another number of outputs.
pub fn demultiplex_in(
    threshold: Threshold,
    options: &BarcodeOptions,
    samples: &Samples,
    files: ReadFiles<'_>,
    context: &Context,
) -> Result<Demultiplexed, Error> {
    let count = samples.all().len();
    assert_eq!(files.outputs.len(), count + 1, "one output for each sample, and one more");
    let assigner = Assigner::new(threshold, options, samples)?;
    if let Some(number) = assigner.inseparable() {
        let (path, name) = (samples.path().display(), samples.all()[number].name());
        context.warnings.push(format!(
            "{path}: all reads of {name} are ambiguous, because the barcodes of another sample have fewer than {} edits in them (`margin`)",
            options.margin
        ));
    }
    let searched = Searched { barcodes: &assigner.barcodes, window: options.window };
    let rule = || Demultiplexer::new(&assigner, options.trim);
    let (rules, ran) = divide(searched, files, rule, context)?;
    let counts = rules.into_iter().map(|rule| rule.counts);
    let mut outcome = counts.fold(Demultiplexed::of_samples(count), Demultiplexed::plus);
    outcome.skipped_alignments = ran.skipped_alignments;
    outcome.stages = ran.stages;
    outcome.peak_memory = ran.peak_memory;
    context.warnings.expect_reads(outcome.reads());
    Ok(outcome)
}

/// The rule of a worker.
pub(super) struct Demultiplexer<'r> {
    assigner: &'r Assigner,
    trims: bool,
    counts: Demultiplexed,
}

impl<'r> Demultiplexer<'r> {
    pub(super) fn new(assigner: &'r Assigner, trims: bool) -> Demultiplexer<'r> {
        Demultiplexer { assigner, trims, counts: Demultiplexed::of_samples(assigner.samples()) }
    }
}

impl Rule for Demultiplexer<'_> {
    fn decide(&mut self, ends: [&[Place]; 2], letters: usize) -> Fate {
        let counts = &mut self.counts;
        let mut one = SampleCounts { reads: 1, bases: letters as u64, edits: 0 };
        let unassigned = counts.samples.len();
        let (total, output, kept) = match self.assigner.decide(ends) {
            Verdict::None => (&mut counts.none, unassigned, 0..letters),
            Verdict::OneOfTwo => (&mut counts.one_of_two, unassigned, 0..letters),
            Verdict::Ambiguous => (&mut counts.ambiguous, unassigned, 0..letters),
            Verdict::Sample { cuts: [first, last], .. }
                if self.trims && first + last >= letters =>
            {
                (&mut counts.empty, unassigned, 0..letters)
            }
            Verdict::Sample { number, edits, cuts: [first, last] } => {
                one.edits = edits as u64;
                let kept = if self.trims { first..letters - last } else { 0..letters };
                (&mut counts.samples[number], number, kept)
            }
        };
        *total = *total + one;
        Some((output, kept))
    }
}
