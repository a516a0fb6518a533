//! Demultiplexing and trimming of reads.

mod summary;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_io::{Input, find_files_of_mates};
use merganser_run::{Context, counted, thousands};
use merganser_search::{
    Demultiplexed, Error, Pattern, ReadFiles, Samples, Trimmed, UNASSIGNED, demultiplex_in,
    trim_in, write_adapter_counts, write_sample_counts,
};

use super::outputs;
use crate::args::SearchArgs;
use crate::common;
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{Holds, refuse_other_reads};
use crate::interrupt;
use crate::samples::{has_place_for_sample, of_sample};

/// The sequences that are searched at the ends of reads.
enum Searched {
    Samples(Samples),
    Adapters(Vec<Pattern>),
}

/// The results of a run.
enum Outcome {
    Demultiplexed(Demultiplexed),
    Trimmed(Trimmed),
}

/// A finished run, with what its summary needs.
struct Finished<'r> {
    args: &'r SearchArgs,
    context: &'r Context,
    inputs: &'r [Input],
    searched: &'r Searched,
    outcome: &'r Outcome,
    started: Instant,
}

/// Divides reads among samples or trims adapters, and prints a summary.
pub(super) fn run(args: &SearchArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    outputs::check(args)?;
    check_name(args)?;
    args.barcodes.options.validate()?;
    let context = &common::context(args.limits.threads.number(), args.limits.memory, None, None);
    let inputs = &args.reads.expand(&args.texts).map_err(Error::from)?[..];
    let files = args.patterns.iter().chain(&args.barcodes.demultiplex);
    let files: Vec<Input> = files.map(|path| super::input_of(path)).collect();
    common::refuse_stdin_twice(inputs.iter().chain(&files))?;
    hint_at_mates(args, inputs, console);
    interrupt::cancel_on_interrupt();
    let searched = &match &args.barcodes.demultiplex {
        Some(path) => Searched::Samples(Samples::read(path)?),
        None => Searched::Adapters(super::patterns(args)?.all().to_vec()),
    };
    let paths = &searched.paths(&args.output)[..];
    let declared = RunFiles::new().lists(&args.texts).inputs(inputs).inputs(&files);
    let declared = declared.write(Holds::READS_OR_ZSTD, paths).write(Holds::LINES, &args.counts);
    let set = declared.write(Holds::JSON, &args.json).check()?;
    refuse_other_reads(paths, inputs)?;
    let open = |path: &PathBuf| set.output(path).map_err(Error::from);
    let counts = args.counts.as_ref().map(open).transpose()?;
    let json = args.json.as_ref().map(open).transpose()?;
    let outcome =
        &searched.run(args, ReadFiles { reads: inputs, outputs: paths, set: &set }, context)?;
    if let Some(mut output) = counts {
        match (searched, outcome) {
            (Searched::Samples(samples), Outcome::Demultiplexed(outcome)) => {
                write_sample_counts(outcome, samples, &mut output)
            }
            (Searched::Adapters(adapters), Outcome::Trimmed(outcome)) => {
                write_adapter_counts(outcome, adapters, &mut output)
            }
            _ => Ok(()),
        }
        .map_err(Error::from)?;
        output.finish().map_err(Error::from)?;
    }
    let finished = Finished { args, context, inputs, searched, outcome, started };
    if let Some(output) = json {
        summary::write(&finished, output)?;
    }
    set.commit_last().map_err(Error::from)?;
    print(&finished, console);
    Ok(ExitCode::SUCCESS)
}

/// Warns of files of mates, whose reads are written one by one.
fn hint_at_mates(args: &SearchArgs, inputs: &[Input], console: &Console) {
    let Some(pair) = find_files_of_mates(inputs.iter()) else { return };
    let [one, two] = pair.map(Path::display);
    let problem = match args.barcodes.demultiplex {
        Some(_) => "mates are assigned to samples one by one",
        None => "all reads go to one output: trim each file by itself, with --keep-empty",
    };
    console.warn(format_args!("{one} and {two} look like mates of pairs, and {problem}"));
}

/// Checks that each sample has its own output.
fn check_name(args: &SearchArgs) -> Result<()> {
    let output = &args.output;
    let is_for_all = has_place_for_sample(output) || output == Path::new("/dev/null");
    if args.barcodes.demultiplex.is_none() || is_for_all {
        return Ok(());
    }
    usage(format!(
        "-o {}: with --demultiplex, put {{}} where the sample's name belongs, as in out/{{}}.fq.gz",
        output.display()
    ))
}

impl Searched {
    /// Returns the outputs: one for each sample, and one for refused reads; or one for all reads.
    fn paths(&self, output: &Path) -> Vec<PathBuf> {
        let Searched::Samples(samples) = self else { return vec![output.to_owned()] };
        let names = samples.all().iter().map(|sample| sample.name()).chain([UNASSIGNED]);
        names.map(|name| of_sample(output, Some(OsStr::new(name)))).collect()
    }

    fn run(
        &self,
        args: &SearchArgs,
        files: ReadFiles<'_>,
        context: &Context,
    ) -> Result<Outcome, Error> {
        let (threshold, options) = (args.config.threshold, &args.barcodes.options);
        Ok(match self {
            Searched::Samples(samples) => {
                Outcome::Demultiplexed(demultiplex_in(threshold, options, samples, files, context)?)
            }
            Searched::Adapters(adapters) => {
                Outcome::Trimmed(trim_in(threshold, options, adapters, files, context)?)
            }
        })
    }
}

impl Outcome {
    fn skipped_alignments(&self) -> u64 {
        match self {
            Outcome::Demultiplexed(outcome) => outcome.skipped_alignments,
            Outcome::Trimmed(outcome) => outcome.skipped_alignments,
        }
    }

    fn peak_memory(&self) -> Option<u64> {
        match self {
            Outcome::Demultiplexed(outcome) => outcome.peak_memory,
            Outcome::Trimmed(outcome) => outcome.peak_memory,
        }
    }

    /// Returns a line about the reads, and a warning if the result is probably worthless.
    fn told(&self, keep_empty: bool) -> (String, Option<&'static str>) {
        match self {
            Outcome::Demultiplexed(outcome) => told_of_samples(outcome),
            Outcome::Trimmed(outcome) => told_of_adapters(outcome, keep_empty),
        }
    }
}

fn told_of_samples(outcome: &Demultiplexed) -> (String, Option<&'static str>) {
    let (all, assigned) = (outcome.reads(), outcome.assigned().reads);
    let reasons = ["without a barcode", "with one of two barcodes", "ambiguous", "without letters"];
    let reasons: Vec<String> = outcome
        .refused()
        .into_iter()
        .zip(reasons)
        .filter(|((_, counts), _)| counts.reads > 0)
        .map(|((_, counts), reason)| format!("{} {reason}", thousands(counts.reads)))
        .collect();
    let refused = match reasons.is_empty() {
        true => String::new(),
        false => format!(": {}", reasons.join(", ")),
    };
    let line = format!(
        "{} of {} assigned to {}, {} refused{refused}",
        thousands(assigned),
        counted(all, "read"),
        counted(outcome.samples.len() as u64, "sample"),
        thousands(all - assigned),
    );
    let warning = (all > 0 && assigned == 0).then_some(
        "no read was assigned: check the barcodes, their order and their strand, --window, and -e",
    );
    (line, warning)
}

fn told_of_adapters(outcome: &Trimmed, keep_empty: bool) -> (String, Option<&'static str>) {
    let line = format!(
        "{} of {} had adapters; {} written, with {} of {}; {} without letters {}",
        thousands(outcome.trimmed_reads),
        counted(outcome.reads, "read"),
        counted(outcome.kept_reads, "read"),
        thousands(outcome.kept_bases),
        counted(outcome.bases, "letter"),
        thousands(outcome.empty_reads()),
        if keep_empty { "written as N" } else { "left out" },
    );
    let warning = (2 * outcome.halved_reads > outcome.trimmed_reads).then_some(
        "most reads with adapters lost more than half of their letters: those before an adapter are removed, too; \
         give an adapter that reads end with (3') as its reverse complement, or a smaller --window",
    );
    (line, warning)
}

/// Prints the results and their warnings.
fn print(finished: &Finished<'_>, console: &Console) {
    let outcome = finished.outcome;
    common::tell_skipped(outcome.skipped_alignments(), console);
    let keep_empty = finished.args.barcodes.options.keep_empty;
    let (line, warning) = outcome.told(keep_empty);
    console.info(format_args!("{line}"));
    if let Outcome::Trimmed(outcome) = outcome
        && outcome.empty_reads() > 0
        && !keep_empty
    {
        console.info(format_args!(
            "note: if these are mates, they are out of step with those of the other file: --keep-empty \
             writes reads without letters as N"
        ));
    }
    common::tell_time(finished.started, finished.context.threads, outcome.peak_memory(), console);
    if let Some(warning) = warning {
        console.warn(format_args!("{warning}"));
    }
    console.print_warnings();
}
