//! `merganser classify`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use merganser_classify::run::{RunResult, Segment, classify};
use merganser_classify::{Database, Thresholds};
use merganser_io::{Input, Output, expand_inputs};
use merganser_run::{Summary, resolve_threads};

use crate::args::ClassifyArgs;
use crate::console::Console;
use crate::progress::Bar;
use crate::{failure, interrupt};

/// Classifies and reports.
pub(crate) fn run(args: &ClassifyArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    let segments = segments(args)?;
    let outputs = [Some(&args.output), args.report.as_ref(), args.json.as_ref()];
    if outputs.iter().flatten().filter(|path| path.as_os_str() == "-").count() > 1 {
        return failure::usage("only one of -o (default -), --report and --json can be stdout");
    }
    let database = Input::File(args.database.clone());
    let inputs = segments.iter().flat_map(Segment::inputs).chain([&database]);
    refuse_to_replace(&outputs, inputs)?;
    let database = Database::open(&args.database)?;
    let opened = started.elapsed();
    let thresholds = thresholds(args, &database);
    if thresholds.lowest > thresholds.highest {
        return failure::usage("--lowest is above --highest");
    }
    let mut output = Output::create(&args.output)?;
    let report = args.report.as_deref().map(Output::create).transpose()?;
    let json = args.json.as_deref().map(Output::create).transpose()?;
    let threads = resolve_threads(args.threads.map(usize::from));
    let cancel = interrupt::cancel_on_interrupt()?;
    let bar = Bar::new(console);
    let done = classify(&database, &thresholds, &segments, threads, &mut output, &bar, &cancel);
    drop(bar);
    let result = done?;
    output.finish()?;
    if let Some(mut report) = report {
        result.report.write(database.taxonomy(), &mut report)?;
        report.finish()?;
    }
    let percent = 100.0 * result.classified as f64 / result.reads.max(1) as f64;
    if result.reads == 0 {
        console.warn("there are no reads in the input");
    }
    console.info(format_args!(
        "classified {} of {} reads ({percent:.2} %) in {:.1} s; hitmin {}, hitdiff {}, lowest {}, \
         highest {}, max-cand {}",
        result.classified,
        result.reads,
        started.elapsed().as_secs_f64(),
        thresholds.min_hits,
        f64::from(thresholds.hit_diff) / 10.0,
        thresholds.lowest.name(),
        thresholds.highest.name(),
        thresholds.max_candidates
    ));
    if let Some(mut output) = json {
        let mut summary = summary(&thresholds, threads, &result);
        summary.set("seconds", "wall", started.elapsed().as_secs_f64());
        summary.stage("open", opened);
        output.write_all(format!("{:#}\n", summary.to_value()).as_bytes())?;
        output.finish()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn segments(args: &ClassifyArgs) -> Result<Vec<Segment>> {
    let all = [&args.mates1, &args.mates2, &args.reads].map(|paths| expand_inputs(paths));
    let [first, second, reads] = all;
    let (first, second, reads) = (first?, second?, reads?);
    if first.len() != second.len() {
        return failure::usage(format!(
            "-1 has {} files and -2 has {}: give as many",
            first.len(),
            second.len()
        ));
    }
    let each = first.iter().chain(&second).chain(&reads);
    if each.filter(|input| **input == Input::Stdin).count() > 1 {
        return Err(merganser_io::Error::StdinTwice.into());
    }
    let pairs = first.into_iter().zip(second).map(|(one, two)| Segment::Pair(one, two));
    let kind = if args.interleaved { Segment::Interleaved } else { Segment::Single };
    Ok(pairs.chain(reads.into_iter().map(kind)).collect())
}

fn thresholds(args: &ClassifyArgs, database: &Database) -> Thresholds {
    let of = Thresholds::new(database.params());
    Thresholds {
        lowest: args.lowest.unwrap_or(of.lowest),
        highest: args.highest.unwrap_or(of.highest),
        max_candidates: args.max_cand.map_or(of.max_candidates, usize::from),
        min_hits: args.hitmin.unwrap_or(of.min_hits),
        hit_diff: args.hitdiff.unwrap_or(of.hit_diff),
        insert: args.insert.map_or(of.insert, u64::from),
        ..of
    }
}

fn summary(thresholds: &Thresholds, threads: usize, result: &RunResult) -> Summary {
    let mut summary = Summary::new("classify");
    summary.version(env!("CARGO_PKG_VERSION"));
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("threads", threads.into());
    set("lowest", thresholds.lowest.name().into());
    set("highest", thresholds.highest.name().into());
    set("max_cand", thresholds.max_candidates.into());
    set("hitmin", thresholds.min_hits.into());
    set("hitdiff", (f64::from(thresholds.hit_diff) / 10.0).into());
    set("insert", thresholds.insert.into());
    summary.set("results", "reads", result.reads);
    summary.set("results", "bases", result.bases);
    summary.set("results", "classified", result.classified);
    summary.set("results", "unclassified", result.reads - result.classified);
    summary
}

/// Sees to it that no output would take the place of an input or of another output.
///
/// # Errors
/// Which file it is.
pub(crate) fn refuse_to_replace<'a>(
    outputs: &[Option<&PathBuf>],
    inputs: impl Iterator<Item = &'a Input>,
) -> Result<()> {
    let places: Vec<PathBuf> = inputs
        .filter_map(|input| match input {
            Input::File(path) => fs::canonicalize(path).ok(),
            Input::Stdin => None,
        })
        .collect();
    // Devices and pipes may be given as often as one likes.
    let odd = |path: &Path| fs::metadata(path).is_ok_and(|at| !at.is_file());
    let outputs: Vec<&PathBuf> = outputs
        .iter()
        .copied()
        .flatten()
        .filter(|path| path.as_os_str() != "-" && !odd(path))
        .collect();
    for (number, output) in outputs.iter().enumerate() {
        if outputs[..number].contains(output) {
            bail!("{}: two outputs cannot go to the same file", output.display());
        }
        if fs::canonicalize(output).is_ok_and(|place| places.contains(&place)) {
            bail!("{}: is an input, and will not be replaced by an output", output.display());
        }
    }
    Ok(())
}
