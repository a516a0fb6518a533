//! Trimming: all reads without the adapters near their ends.

use std::io::{self, Write};

use merganser_filter::Threshold;
use merganser_run::{Context, Stages};

use super::divide::{Fate, Rule, Searched, divide};
use super::finder::{Barcode, Place};
use super::{BarcodeOptions, ReadFiles};
use crate::{Error, Pattern};

/// The results of trimming.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Trimmed {
    /// The number of reads.
    pub reads: u64,
    /// The number of letters of all reads.
    pub bases: u64,
    /// The number of reads that were written with letters of their own.
    pub kept_reads: u64,
    /// The number of letters that were written.
    pub kept_bases: u64,
    /// The number of reads with adapters, including those of which nothing is left.
    pub trimmed_reads: u64,
    /// The number of these of which less than half of the letters is left.
    pub halved_reads: u64,
    /// The number of reads that each adapter has at the start and at the end.
    pub adapters: Vec<[u64; 2]>,
    /// The number of secondary and supplementary alignments that were skipped.
    pub skipped_alignments: u64,
    /// The wall time of each stage.
    pub stages: Stages,
    /// The peak resident memory in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
}

impl Trimmed {
    pub(super) fn of_adapters(count: usize) -> Trimmed {
        Trimmed { adapters: vec![[0; 2]; count], ..Trimmed::default() }
    }

    /// Returns the number of reads of which no letter is left. They are not written, or as a single N.
    pub fn empty_reads(&self) -> u64 {
        self.reads - self.kept_reads
    }

    fn plus(mut self, other: Trimmed) -> Trimmed {
        for (one, other) in self.adapters.iter_mut().flatten().zip(other.adapters.iter().flatten())
        {
            *one += other;
        }
        self.reads += other.reads;
        self.bases += other.bases;
        self.kept_reads += other.kept_reads;
        self.kept_bases += other.kept_bases;
        self.trimmed_reads += other.trimmed_reads;
        self.halved_reads += other.halved_reads;
        self
    }
}

/// Writes the reads of files, in their order, to a single output, without the adapters near their ends and all letters
/// outside these. The caller commits the set of the output. The bytes that are written do not depend on `context`.
///
/// An adapter is at the start of a read if an alignment of all its letters in the window has at most the edits of
/// `threshold`, and at the end if it is so at the start of the reverse complement. It ends at the last of its places with
/// the fewest edits. Of several adapters, the one that reaches farthest into the read is decisive. Reads of which no
/// letter is left are not written, or with `keep_empty` as a single N of quality 0.
///
/// # Errors
/// If the options are invalid, an adapter would match everywhere or is longer than the window, there is too little
/// memory, the input is invalid, the output cannot be written, or the run is cancelled.
///
/// # Panics
/// If `files` has no output.
pub fn trim_in(
    threshold: Threshold,
    options: &BarcodeOptions,
    adapters: &[Pattern],
    files: ReadFiles<'_>,
    context: &Context,
) -> Result<Trimmed, Error> {
    options.validate()?;
    let barcode = |adapter| Barcode::new(adapter, threshold, options.window, 0);
    let barcodes = adapters.iter().map(barcode).collect::<Result<Vec<_>, _>>()?;
    let searched = Searched { barcodes: &barcodes, window: options.window };
    let none = || Trimmed::of_adapters(adapters.len());
    let rule = || Trimmer { counts: none(), keep_empty: options.keep_empty };
    let (rules, ran) = divide(searched, files, rule, context)?;
    let mut outcome = rules.into_iter().map(|rule| rule.counts).fold(none(), Trimmed::plus);
    outcome.skipped_alignments = ran.skipped_alignments;
    outcome.stages = ran.stages;
    outcome.peak_memory = ran.peak_memory;
    context.warnings.expect_reads(outcome.reads);
    Ok(outcome)
}

/// The rule of a worker.
pub(super) struct Trimmer {
    pub(super) counts: Trimmed,
    /// Whether reads of which no letter is left are written.
    pub(super) keep_empty: bool,
}

impl Rule for Trimmer {
    fn decide(&mut self, ends: [&[Place]; 2], letters: usize) -> Fate {
        let mut cuts = [0; 2];
        for ((end, places), cut) in ends.into_iter().enumerate().zip(&mut cuts) {
            for (place, counts) in places.iter().zip(&mut self.counts.adapters) {
                if let Some((_, last)) = place.found() {
                    counts[end] += 1;
                    *cut = last.max(*cut);
                }
            }
        }
        let [first, last] = cuts;
        self.counts.reads += 1;
        self.counts.bases += letters as u64;
        self.counts.trimmed_reads += u64::from(cuts != [0; 2]);
        self.counts.halved_reads += u64::from(2 * (first + last) > letters);
        // An empty read has no adapters.
        if first + last >= letters {
            return self.keep_empty.then_some((0, 0..0));
        }
        self.counts.kept_reads += 1;
        self.counts.kept_bases += (letters - last - first) as u64;
        Some((0, first..letters - last))
    }

    fn fills_empty(&self) -> bool {
        self.keep_empty
    }
}

/// Writes a table with a line for each adapter: its name, its letters, and the numbers of reads with it at the start and
/// at the end.
///
/// # Errors
/// If it cannot be written.
pub fn write_adapter_counts(
    outcome: &Trimmed,
    adapters: &[Pattern],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = b"adapter\tletters\tat_start\tat_end\n".to_vec();
    for (adapter, [start, end]) in adapters.iter().zip(&outcome.adapters) {
        let letters = String::from_utf8_lossy(adapter.letters());
        writeln!(text, "{}\t{letters}\t{start}\t{end}", adapter.name())?;
    }
    out.write_all(&text)
}
