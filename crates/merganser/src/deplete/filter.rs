//! `merganser deplete filter`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_alignments::{put_files, quoted};
use merganser_deplete::{
    Config, Confirmed, Error, Haplotypes, Host, MinimizerLookup, Outcome, OutputPaths, ReadFormat,
    run_in,
};
use merganser_io::{Input, ReadInput};
use merganser_map::Index;
use merganser_report::multiqc::Kind;
use merganser_run::{Cancel, Context, thousands};

use super::certificate::{self, Digests};
use super::{page, summary};
use crate::args::deplete::DepleteFilterArgs;
use crate::common::{self, hint_at_mates, tell_skipped};
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds, note_interleaved, refuse_other_reads};
use crate::interrupt;
use crate::pages::Pages;

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

pub(super) fn run(
    args: &DepleteFilterArgs,
    console: &Console,
    started: Instant,
) -> Result<ExitCode> {
    let config = config(args);
    config.validate()?;
    let context = common::context(args.limits.threads.number(), args.limits.memory, None, None);
    let segments = args.reads.segments()?;
    let inputs: Vec<Input> = segments.iter().flat_map(ReadInput::inputs).cloned().collect();
    let is_paired = args.reads.are_pairs();
    if !is_paired {
        let remedy = |one: &str, two: &str| format!("-1 {one} -2 {two}");
        hint_at_mates(inputs.iter(), "filtered", remedy, console);
    }
    let kept = mates(&args.output, args.output2.as_deref(), is_paired)?;
    let others = match &args.output_matching {
        Some(path) => mates(path, None, is_paired)?,
        None => Vec::new(),
    };
    let read = std::iter::once(&args.set).chain(&args.confirm);
    let files = RunFiles::new().lists(args.reads.lists()).inputs(&inputs).read(read);
    let names: Vec<PathBuf> = kept.iter().chain(&others).cloned().collect();
    let summaries = [&args.summary, &args.hostile, &args.json, &args.certificate];
    let summaries = summaries.into_iter().flatten();
    let files = files.write(ReadFormat::holds(args.output_format, Holds::DEPLETED_READS), &names);
    let files = files.write(Holds::JSON, summaries);
    let set = files.write_each(Pages::paths(&args.pages, Kind::Selection, None)).check()?;
    let pages = Pages::create(&args.pages, Kind::Selection, None, &set).map_err(Error::from)?;
    refuse_other_reads(&names, &inputs)?;
    interrupt::cancel_on_interrupt();
    let haplotypes = haplotypes(args)?;
    let host = MinimizerLookup::read(&args.set, &context)?;
    let command = command(args, &config, &segments);
    let (format, tags) = (args.output_format, args.tags.clone().unwrap_or_default());
    let outputs = OutputPaths { kept: kept.clone(), others, format, command, tags };
    let known = Host { minimizers: &host, haplotypes: haplotypes.as_ref() };
    let filter = || run_in(&config, known, &segments, (&outputs, &set), &context);
    let (outcome, digests) = match (&args.confirm, &args.certificate) {
        (Some(index), Some(_)) => {
            let digests = |cancel: &Cancel| Digests::of(&args.set, index, &inputs, cancel);
            let (outcome, digests) = beside(filter, digests);
            (outcome, Some(digests))
        }
        _ => (filter(), None),
    };
    let (context, host, outcome) = (&context, &host, &outcome?);
    let (inputs, kept) = (&inputs[..], &kept[..]);
    let finished = Finished { args, context, host, inputs, kept, outcome, started };
    summary::write(&finished, &set)?;
    if Pages::is_wanted(&args.pages) {
        pages.write(Kind::Selection, &page::of(&finished))?;
    }
    if let (Some(path), Some(haplotypes), Some(digests)) = (&args.certificate, &haplotypes, digests)
    {
        certificate::write(&finished, haplotypes, &digests?, &set, path)?;
    }
    set.commit_last().map_err(Error::from)?;
    if outputs.format_of(&kept[0]) == ReadFormat::Fastq {
        note_interleaved(
            kept,
            is_paired,
            "a # in its name, or --output2, makes two files",
            console,
        );
    }
    tell_skipped(outcome.skipped_alignments, console);
    let (stay, all) = (thousands(outcome.kept_records), thousands(outcome.records));
    console.info(format_args!("{stay} of {all} reads were kept"));
    if args.config.mask.is_some() {
        let (bases, reads) = (thousands(outcome.masked_bases), thousands(outcome.masked_records));
        console.info(format_args!("{bases} bases of {reads} reads were masked"));
    }
    if let Some(confirmed) = &outcome.confirmed {
        console.info(format_args!("{}", told(confirmed)));
    }
    if let Some(peak) = outcome.peak_memory {
        console.debug(format_args!("peak memory {}", merganser_run::format_size(peak)));
    }
    Ok(ExitCode::SUCCESS)
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

/// Returns the line about the search in the haplotypes.
fn told(confirmed: &Confirmed) -> String {
    let removed = thousands(confirmed.removed);
    let nearest = match confirmed.nearest_kept() {
        Some(edits) => format!("the nearest kept read has {edits} edits"),
        None => "no kept read is nearer than the edits that were searched".into(),
    };
    format!("{removed} reads more were removed by the haplotypes; {nearest}")
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
    let name = path.as_os_str().as_encoded_bytes();
    let has_mark = path.file_name().is_some_and(|name| name.as_encoded_bytes().contains(&b'#'));
    match (is_paired, has_mark, second) {
        (false, _, Some(_)) => usage("--output2 is for pairs: give -1 and -2, or --interleaved"),
        (true, true, Some(_)) => usage("give either a # in the name of -o, or --output2"),
        (true, true, None) => {
            let Ok(name) = std::str::from_utf8(name) else {
                return usage(format!("{}: a name with a # must be UTF-8", path.display()));
            };
            // Replaces the last one, because folders may contain one, too.
            let (before, after) = name.rsplit_once('#').unwrap_or((name, ""));
            Ok([1, 2].map(|mate| PathBuf::from(format!("{before}{mate}{after}"))).to_vec())
        }
        (true, false, Some(second)) => Ok(vec![path.to_owned(), second.to_owned()]),
        _ => Ok(vec![path.to_owned()]),
    }
}
