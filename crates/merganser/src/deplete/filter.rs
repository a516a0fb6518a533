//! `merganser deplete filter`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_alignments::{put_files, quoted};
use merganser_deplete::{
    Config, Confirmed, Error, Haplotypes, Host, MinimizerLookup, Outcome, OutputPaths, ReadFormat,
    mate_paths, run_in,
};
use merganser_io::{FileKind, Input, OutputSet, QualityOffset, ReadInput};
use merganser_map::Index;
use merganser_report::multiqc::Kind;
use merganser_run::{Cancel, Context, Summary, thousands};

use super::certificate::{self, Digests, SharedDigests};
use super::{page, sheet, summary};
use crate::args::deplete::DepleteFilterArgs;
use crate::common::{self, hint_at_mates, tell_skipped, tell_time};
use crate::console::Console;
use crate::dry_run::DryRun;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds, note_interleaved, refuse_other_reads};
use crate::interrupt;
use crate::pages::Pages;
use crate::samples::of_sample;
use crate::samples::run::check_resume;

/// A finished run, with what its summaries need.
pub(super) struct Finished<'r> {
    pub(super) args: &'r DepleteFilterArgs,
    pub(super) context: &'r Context,
    pub(super) host: &'r MinimizerLookup,
    pub(super) inputs: &'r [Input],
    /// The files of the reads that were kept: one, or two for mates.
    pub(super) kept: &'r [PathBuf],
    pub(super) outcome: &'r Outcome,
    pub(super) started: Instant,
}

/// The host: what all samples are compared with.
pub(super) struct HostData {
    minimizers: MinimizerLookup,
    haplotypes: Option<Haplotypes>,
    /// The digests of these files, for certificates.
    digests: SharedDigests,
}

impl HostData {
    /// Reads the set, and opens the index of the haplotypes if there is one.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(super) fn open(args: &DepleteFilterArgs, context: &Context) -> Result<HostData> {
        let haplotypes = haplotypes(args)?;
        let minimizers = MinimizerLookup::read(&args.set, context)?;
        Ok(HostData { minimizers, haplotypes, digests: SharedDigests::default() })
    }
}

pub(super) fn run(
    args: &DepleteFilterArgs,
    console: &Console,
    started: Instant,
) -> Result<ExitCode> {
    check_resume(args.resume.as_deref(), args.sample_sheet.as_deref())?;
    let config = config(args);
    config.validate()?;
    let context = common::context(args.limits.threads.number(), args.limits.memory, None, None);
    if let Some(path) = &args.sample_sheet {
        return sheet::run(args, path, (&config, &context), (console, started));
    }
    let job = FilterJob::new(args)?;
    common::refuse_swapped("deplete filter", &[FileKind::HostSet], &args.set, &job.inputs)?;
    if !args.reads.are_pairs() {
        hint_at_mates(job.inputs.iter(), "filtered", console);
    }
    let files = job.declare(RunFiles::new());
    let set = files.check()?;
    job.check()?;
    if args.dry.dry_run {
        return dry_run(args, (&config, &context), &files, &[(None, &job.segments[..])]);
    }
    interrupt::cancel_on_interrupt();
    let host = HostData::open(args, &context)?;
    job.run(&host, &context, &set, (console, started), OutputSet::commit_last)?;
    Ok(ExitCode::SUCCESS)
}

/// Checks what a run needs for its samples, of which those of a sheet have names, and prints what it would do.
pub(super) fn dry_run(
    args: &DepleteFilterArgs,
    (config, context): (&Config, &Context),
    files: &RunFiles,
    samples: &[(Option<&OsStr>, &[ReadInput])],
) -> Result<ExitCode> {
    let mut dry = DryRun::new("deplete filter", files, context)?;
    dry.journal(args.resume.as_deref())?;
    dry.file("set", &args.set)?;
    if let Some(index) = &args.confirm {
        dry.file("index", index)?;
    }
    let haplotypes = haplotypes(args)?;
    dry.job(merganser_deplete::plan_run(config, &args.set, haplotypes.as_ref(), context)?)?;
    for (name, segments) in samples {
        dry.reads(*name, segments, config.any_names)?;
    }
    dry.print()
}

/// The reads of a sample, and the outputs for them.
pub(super) struct FilterJob<'a> {
    args: &'a DepleteFilterArgs,
    segments: Vec<ReadInput>,
    inputs: Vec<Input>,
    /// The files of the kept reads, and of the others.
    kept: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

impl<'a> FilterJob<'a> {
    /// Makes the job that the arguments describe.
    ///
    /// # Errors
    /// If the reads cannot be found, or names of outputs do not fit pairs or single reads.
    pub(super) fn new(args: &'a DepleteFilterArgs) -> Result<FilterJob<'a>> {
        FilterJob::of_sample(args, args, None)
    }

    /// Makes the job of a sample in a sheet. Its outputs of reads are named by `names`, in which `{}` has not been replaced:
    /// a `#` in the name of a sample is no mark for mates.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does.
    pub(super) fn of_sample(
        args: &'a DepleteFilterArgs,
        names: &DepleteFilterArgs,
        sample: Option<&OsStr>,
    ) -> Result<FilterJob<'a>> {
        let segments = args.reads.segments()?;
        let inputs: Vec<Input> = segments.iter().flat_map(ReadInput::inputs).cloned().collect();
        let is_paired = args.reads.are_pairs();
        // The reads of alignments are known to be pairs only when they are read, after the outputs are opened.
        let mut outputs = std::iter::once(&names.output).chain(&names.output_matching);
        let has_mark = outputs.any(|path| mate_paths(path).is_some());
        if has_mark && !is_paired && segments.iter().any(ReadInput::may_have_pairs) {
            return usage(
                "# in a name makes two files of pairs: give --interleaved for alignments of pairs, or leave # out",
            );
        }
        let own = |paths: Vec<PathBuf>| -> Vec<PathBuf> {
            paths.iter().map(|path| of_sample(path, sample)).collect()
        };
        let kept = own(mates(&names.output, names.output2.as_deref(), is_paired)?);
        let others = match &names.output_matching {
            Some(path) => own(mates(path, None, is_paired)?),
            None => Vec::new(),
        };
        Ok(FilterJob { args, segments, inputs, kept, others })
    }

    /// Adds all files that are read and written.
    pub(super) fn declare(&self, files: RunFiles) -> RunFiles {
        let args = self.args;
        let read = std::iter::once(&args.set).chain(&args.confirm);
        let files = files.lists(args.reads.lists()).inputs(&self.inputs).read(read);
        let summaries = [&args.summary, &args.hostile, &args.json, &args.certificate];
        let summaries = summaries.into_iter().flatten();
        let holds = ReadFormat::holds(args.output_format, Holds::DEPLETED_READS);
        let files = files.write(holds, self.reads_written()).write(Holds::JSON, summaries);
        files.write_each(Pages::paths(&args.pages, Kind::Selection, None))
    }

    /// Returns the files of reads that are written.
    pub(super) fn reads_written(&self) -> Vec<PathBuf> {
        self.kept.iter().chain(&self.others).cloned().collect()
    }

    /// Checks that names of outputs fit the formats of the inputs.
    pub(super) fn check(&self) -> Result<()> {
        refuse_other_reads(&self.reads_written(), &self.inputs)
    }

    /// Filters the reads, writes all outputs to `set`, and prints the results, whose summary is returned. `commit` makes
    /// the outputs appear.
    pub(super) fn run(
        &self,
        host: &HostData,
        context: &Context,
        set: &OutputSet,
        (console, started): (&Console, Instant),
        commit: impl Fn(&OutputSet) -> Result<(), merganser_io::Error>,
    ) -> Result<Summary> {
        let FilterJob { args, segments, inputs, kept, others } = self;
        let pages = Pages::create(&args.pages, Kind::Selection, None, set);
        let mut pages = pages.map_err(Error::from)?;
        pages.profile(inputs.iter(), QualityOffset::default());
        let config = config(args);
        let command = command(args, &config, segments);
        let (format, tags) = (args.output_format, args.tags.clone().unwrap_or_default());
        let (kept, others) = (kept.clone(), others.clone());
        let outputs = OutputPaths { kept, others, format, command, tags };
        let haplotypes = host.haplotypes.as_ref();
        let known = Host { minimizers: &host.minimizers, haplotypes };
        let filter = || run_in(&config, known, segments, (&outputs, set), context);
        let (outcome, digests) = match (&args.confirm, &args.certificate) {
            (Some(index), Some(_)) => {
                let files = (args.set.as_path(), index.as_path());
                let digests = |cancel: &Cancel| Digests::of(files, inputs, &host.digests, cancel);
                let (outcome, digests) = beside(filter, digests);
                (outcome, Some(digests))
            }
            _ => (filter(), None),
        };
        let (host, outcome, kept) = (&host.minimizers, &outcome?, &outputs.kept[..]);
        let finished = Finished { args, context, host, inputs, kept, outcome, started };
        summary::write(&finished, set)?;
        if Pages::is_wanted(&args.pages) {
            pages.write(Kind::Selection, page::of(&finished))?;
        }
        if let (Some(path), Some(haplotypes), Some(digests)) =
            (&args.certificate, haplotypes, digests)
        {
            certificate::write(&finished, haplotypes, &digests?, set, path)?;
        }
        let summary = summary::own(&finished);
        commit(set).map_err(Error::from)?;
        if outputs.format_of(&kept[0]) == ReadFormat::Fastq {
            let is_paired = args.reads.are_pairs();
            let how = "a # in its name, or --output2, makes two files";
            note_interleaved(kept, is_paired, how, console);
        }
        tell(&finished, console);
        Ok(summary)
    }
}

/// Prints the results.
fn tell(finished: &Finished<'_>, console: &Console) {
    let outcome = finished.outcome;
    tell_skipped(outcome.skipped_alignments, console);
    // Mates stay together.
    let are_pairs = finished.args.reads.are_pairs();
    let (unit, mates) = if are_pairs { ("pairs", 2) } else { ("reads", 1) };
    let [stay, all] = [outcome.kept_records, outcome.records].map(|reads| thousands(reads / mates));
    console.info(format_args!("{stay} of {all} {unit} were kept"));
    if finished.args.config.mask.is_some() {
        let (bases, reads) = (thousands(outcome.masked_bases), thousands(outcome.masked_records));
        console.info(format_args!("{bases} bases of {reads} reads were masked"));
    }
    if let Some(confirmed) = &outcome.confirmed {
        let removed = thousands(confirmed.removed / mates);
        console.info(format_args!("{}", told(confirmed, &format!("{removed} {unit}"))));
    }
    tell_time(finished.started, finished.context.threads, outcome.peak_memory, console);
}

/// Opens the index of the haplotypes, if there is one.
fn haplotypes(args: &DepleteFilterArgs) -> Result<Option<Haplotypes>> {
    let (Some(index), Some(edits)) = (&args.confirm, args.edits) else { return Ok(None) };
    Ok(Some(Haplotypes::new(Index::open(index)?, edits)?))
}

/// Runs `main`, and `other` on a thread of its own beside it if one can be started, else afterwards. If `main` fails,
/// `other` is cancelled.
fn beside<M, E, O: Send>(
    main: impl FnOnce() -> Result<M, E>,
    other: impl Fn(&Cancel) -> O + Sync,
) -> (Result<M, E>, O) {
    let cancel = Cancel::default();
    let other = || other(&cancel);
    std::thread::scope(|scope| {
        let begun = std::thread::Builder::new().spawn_scoped(scope, other);
        let outcome = main();
        if outcome.is_err() {
            cancel.cancel();
        }
        let done = match begun {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => other(),
        };
        (outcome, done)
    })
}

/// Returns the line about the search in the haplotypes; `removed` is the number of reads or pairs that it removed.
fn told(confirmed: &Confirmed, removed: &str) -> String {
    let nearest = match confirmed.nearest_kept() {
        Some(edits) => format!("the nearest kept read has {edits} edits"),
        None => "no kept read is nearer than the edits that were searched".into(),
    };
    format!("{removed} more were removed by the haplotypes; {nearest}")
}

fn config(args: &DepleteFilterArgs) -> Config {
    Config { any_names: args.reads.pairs.any_names, ..args.config }
}

/// Returns the command that headers of alignments name: what decides the records, the set and the reads.
fn command(args: &DepleteFilterArgs, config: &Config, segments: &[ReadInput]) -> String {
    let thresholds = &config.thresholds;
    let mut command = format!(
        "merganser deplete filter --abs-threshold {} --rel-threshold {}",
        thresholds.abs_threshold, thresholds.rel_threshold
    );
    if config.prefix_length > 0 {
        command += &format!(" --prefix-length {}", config.prefix_length);
    }
    if config.complexity_threshold > 0.0 {
        command += &format!(" --complexity-threshold {}", config.complexity_threshold);
    }
    for (given, option) in [(config.keep, " --keep"), (config.any_names, " --any-names")] {
        command.push_str(if given { option } else { "" });
    }
    if let (Some(index), Some(edits)) = (&args.confirm, args.edits) {
        command += &format!(" --confirm {} --edits {edits}", quoted(&index.display().to_string()));
    }
    put_files(Some(&args.set), segments, &mut command);
    command
}

/// Returns the outputs for a name: two for pairs if it contains `#` or `second` is given, otherwise one.
fn mates(path: &Path, second: Option<&Path>, is_paired: bool) -> Result<Vec<PathBuf>> {
    match (is_paired, mate_paths(path), second) {
        (false, _, Some(_)) => usage("--output2 is for pairs: give -1 and -2, or --interleaved"),
        (true, Some(_), Some(_)) => usage("give either a # in the name of -o, or --output2"),
        (true, Some(mates), None) => Ok(mates.to_vec()),
        (true, None, Some(second)) => Ok(vec![path.to_owned(), second.to_owned()]),
        _ => Ok(vec![path.to_owned()]),
    }
}
