//! Extraction of the reads of some taxa, using the lines that `classify` wrote.

mod alignments;
mod decisions;
mod files;
mod lines;
mod names;
mod relatives;
mod steps;
mod worker;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use merganser_alignments::{RecordOptions, TemplatePass};
use merganser_io::{
    BgzfBlocks, CommentTags, Header, Keep, OutputSet, ReadInput, Records, WhichAlignments,
};
use merganser_run::engine::Engine;
use merganser_run::{Budget, Context, Shortage, Stages, Unit, Warnings, counted, thousands};

use crate::Error;
use crate::output::ReadPaths;
pub use alignments::{ExtractPaths, run_in};
use files::ExtractFiles;
use merganser_io::shown;

pub use relatives::{Relatives, relatives_in_report, relatives_in_taxonomy};

use steps::Steps;
use worker::{Tally, Worker, Written};

/// Memory of a thread in bytes: input, waiting batches, and texts that wait to be written.
const THREAD: u64 = 9 * BATCH[1] as u64;
/// The maximum number of copies of a record in memory: as it was read (twice for a moment), as it is written,
/// and compressed.
const COPIES: u64 = 4;
/// The stage of the progress.
const STAGE: &str = "extract";
/// Records and bytes of a batch; they determine where blocks of compressed outputs end.
const BATCH: [usize; 2] = [16 << 10, 2 << 20];

/// The reads to extract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractConfig {
    /// The taxids whose reads are extracted; 0 for unclassified reads.
    pub taxids: HashSet<u64>,
    /// Whether the reads with a line of any other taxid are extracted instead.
    pub exclude: bool,
    /// Whether reads are written as FASTA, whatever the input format.
    pub fasta: bool,
    /// Whether mates are paired by their position in the inputs, whatever their names. Otherwise the names must be
    /// [those of mates](merganser_io::are_mates).
    pub any_names: bool,
    /// The known taxids, sorted; lines with other taxids are counted. `None`: all taxids are known.
    pub known: Option<Vec<u64>>,
}

impl ExtractConfig {
    /// Returns a configuration that extracts the reads of these taxa.
    pub fn new(taxids: impl IntoIterator<Item = u64>) -> ExtractConfig {
        ExtractConfig { taxids: taxids.into_iter().collect(), ..ExtractConfig::default() }
    }

    /// Whether the reads of this taxon are extracted.
    fn wants(&self, taxid: u64) -> bool {
        self.taxids.contains(&taxid) != self.exclude
    }
}

/// The output of reads of one kind.
pub struct ExtractStream<'o> {
    /// The writer that receives the text.
    pub output: &'o mut (dyn Write + Send),
    /// Whether the text is compressed as BGZF, by all threads.
    pub gzip: bool,
}

/// The outputs of extracted reads. The mates of a pair go to `mates` or, without it, one after the other to `single`.
#[derive(Default)]
pub struct ExtractOutputs<'o> {
    /// Receives single reads.
    pub single: Option<ExtractStream<'o>>,
    /// Receives first mates and second mates.
    pub mates: Option<[ExtractStream<'o>; 2]>,
}

/// The results of an extraction. A pair is one read.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ExtractOutcome {
    /// The number of reads of the input.
    pub records: u64,
    /// Secondary and supplementary alignments of the inputs, which were skipped: other records have their reads.
    pub skipped_alignments: u64,
    /// The duration of stages; `extracting` is the sum over all threads.
    pub stages: Stages,
    /// The peak resident size of the process so far in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// The number of extracted reads.
    pub extracted: u64,
    /// The number of lines of results.
    pub lines: u64,
    /// The number of reads without a line, which are not extracted.
    pub without_line: u64,
    /// The name of the first read without a line.
    pub first_without_line: Option<String>,
    /// The number of lines with an unknown taxid.
    pub unknown: u64,
    /// The taxid and read name of the first line with an unknown taxid.
    pub first_unknown: Option<(u64, String)>,
    /// The first read that is not at the position of its line. From this read on, reads were looked up by
    /// name.
    pub out_of_order: Option<String>,
    /// The number of reads that share the line of the previous read, as mates do.
    pub shared: u64,
    /// The number of lines, among those matched by position, whose read has another line with the opposite decision
    /// among those matched by name; and the first such read.
    pub doubled: (u64, Option<String>),
}

/// Writes the reads whose line in the file `lines` (`-` is stdin) has a taxon selected by `config`, in
/// the order of the reads, to the file `output`; for pairs, `#` in its name becomes `_1` and `_2`. A name in `.sam`,
/// `.bam` or `.cram` gets [alignments](run_in).
///
/// Lines are in Kraken's format: `C` or `U`, the name of the read, and its taxid or `NAME (taxid N)`; the other
/// columns are ignored. While lines are in the order of the reads, one for each read (or for two consecutive mates),
/// both files are read in parallel. From the first read that is not at the position of its line, the names of all
/// remaining lines are kept in memory. Names are compared as they are, then without the `/1` or `/2` of mates.
///
/// The progress has one stage, `extract`, in bytes of reads.
///
/// # Errors
/// If reads or lines are malformed; if the names do not fit in memory; if a name has one line that is extracted and one
/// that is not; if no read has a line; if writing fails.
pub fn run(
    config: &ExtractConfig,
    lines: impl AsRef<Path>,
    reads: impl IntoIterator<Item = impl Into<ReadInput>>,
    output: impl AsRef<Path>,
    context: &Context,
) -> Result<ExtractOutcome, Error> {
    let reads: Vec<ReadInput> = reads.into_iter().map(Into::into).collect();
    let set = OutputSet::new();
    let paths = ExtractPaths::new(ReadPaths::new(output.as_ref(), &reads));
    let outcome = run_in(config, lines.as_ref(), &reads, (&paths, &set), context)?;
    set.commit()?;
    Ok(outcome)
}

/// Extracts reads like [`run()`], to `outputs`.
///
/// # Errors
/// Fails as [`run()`] does.
pub fn run_with(
    config: &ExtractConfig,
    lines: &Path,
    segments: &[ReadInput],
    outputs: ExtractOutputs<'_>,
    context: &Context,
) -> Result<ExtractOutcome, Error> {
    let pass = TemplatePass::of_text(&CommentTags::None);
    run_pass(config, lines, (segments, &pass), Written::Text(outputs), context)
}

fn run_pass(
    config: &ExtractConfig,
    lines: &Path,
    (segments, pass): (&[ReadInput], &TemplatePass<'_>),
    written: Written<'_>,
    context: &Context,
) -> Result<ExtractOutcome, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    context.validate()?;
    let room = room(context)?;
    let options = options(config, pass, room, context);
    let records = Records::open(segments, options)?;
    progress.stage(STAGE, Unit::Bytes, records.bytes_total());
    let steps = Steps::new(records, lines, config, (room / 2, pass.collects_names()))?;
    let (gzip, apart, form) = (written.gzip(), written.is_apart(), written.form());
    let engine = Engine::new(&steps, written, 4 * context.threads as u64, progress, cancel);
    let workers = engine.run(context.threads, || {
        let (blocks, tally) = (BgzfBlocks::new(LEVEL), Tally::default());
        let alignments = form.as_ref().map(|form| (form, form.compressor()));
        Worker { steps: &steps, config, pass, alignments, gzip, apart, blocks, tally }
    })?;
    engine.finish()?.finish()?;
    progress.finish();
    let mut total = Tally::default();
    workers.into_iter().for_each(|worker| total.add(worker.tally));
    let mut outcome = steps.finish()?;
    outcome.skipped_alignments = pass.skipped(outcome.skipped_alignments);
    outcome.take(total);
    if outcome.records > 0 && outcome.without_line == outcome.records {
        let what = match outcome.lines {
            0 => "it has no lines, but there are reads",
            _ => "none of the reads has a line in it: it belongs to other reads",
        };
        return Err(Error::content(shown(lines), what));
    }
    if let Some((taxid, read)) = &outcome.first_unknown {
        let (lines, count) = (shown(lines).display(), thousands(outcome.unknown));
        context.warnings.push(format!(
            "{lines}: {count} lines have unknown taxids, first {taxid} (read {read}), so it is unknown which \
             taxa these are below; give the taxonomy, database or report that the lines were made with"
        ));
    }
    if let (count, Some(read)) = &outcome.doubled {
        let (lines, count) = (shown(lines).display(), thousands(*count));
        context.warnings.push(format!(
            "{lines}: {count} lines have another line of the same read with another taxon, first read {read}, and \
             reads and lines are in different orders: a wrong one of these reads may have been extracted; give \
             each read a unique name, or give the reads in the order of the lines"
        ));
    }
    let is_paired = segments.iter().all(ReadInput::is_paired);
    outcome.warn(lines, if is_paired { "pair" } else { "read" }, &context.warnings);
    outcome.peak_memory = merganser_run::peak_rss();
    Ok(outcome)
}

fn options(
    config: &ExtractConfig,
    pass: &TemplatePass<'_>,
    room: u64,
    context: &Context,
) -> RecordOptions {
    let is_text = pass.keep().which == WhichAlignments::None;
    let (room, copies) = if is_text { (room / 2, COPIES) } else { (room / 4, 2 * COPIES) };
    RecordOptions {
        keep: Keep { header: Header::Whole, qualities: !config.fasta },
        batch_records: BATCH[0],
        batch_bytes: BATCH[1],
        workers: context.threads,
        max_record: merganser_io::longest_record(room, copies),
        any_names: config.any_names,
        // Names are collected read by read.
        find_pairs: !pass.collects_names(),
        keep_alignments: pass.keep().clone(),
        cancel: context.cancel.clone(),
        warnings: context.warnings.clone(),
        ..RecordOptions::default()
    }
}

/// The compression level of outputs, as for all other outputs.
const LEVEL: u8 = 4;

/// Returns the memory for long records and names, in bytes.
fn room(context: &Context) -> Result<u64, Error> {
    let what = format_args!("extracting reads with {} threads needs", context.threads);
    Ok(Budget::of_run(context, THREAD).check(what, Shortage::FEWER_THREADS)?)
}

impl ExtractOutcome {
    /// Warns of an input without reads, reads without lines, and lines without reads; `noun` is the word for a read.
    fn warn(&self, lines: &Path, noun: &str, warnings: &Warnings) {
        let lines = shown(lines).display();
        warnings.expect_reads(self.records);
        if let Some(first) = &self.first_without_line {
            let reads = counted(self.without_line, noun);
            let (have, are) = if self.without_line == 1 { ("has", "is") } else { ("have", "are") };
            warnings.push(format!(
                "{lines}: {reads} {have} no line in this file and {are} left out, first {first}"
            ));
        }
        // Both mates may share a line.
        let with_line = self.records - self.without_line - self.shared;
        let others = self.lines.saturating_sub(with_line);
        if others > 0 {
            let (count, are) = (counted(others, "line"), if others == 1 { "is" } else { "are" });
            warnings.push(format!("{lines}: {count} of this file {are} not of these reads"));
        }
    }

    fn take(&mut self, tally: Tally) {
        self.records = tally.records;
        self.extracted = tally.extracted;
        self.without_line = tally.without_line;
        self.first_without_line = tally.first.map(|(_, name)| name);
        self.stages.add("extracting", tally.time);
    }
}
