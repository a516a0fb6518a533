//! Summaries of `merganser deplete filter` in our own, Deacon's and Hostile's formats.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use merganser_deplete::Error;
use merganser_io::OutputSet;
use merganser_run::Summary;
use serde_json::{Value, json};

use super::filter::Finished;
use crate::common::{describe_inputs, write_summary};
use crate::devices;

/// Writes the summaries that were requested.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(finished: &Finished<'_>, set: &OutputSet) -> Result<()> {
    let args = finished.args;
    if let Some(path) = &args.json {
        let output = set.output(path).map_err(Error::from)?;
        write_summary(&mut own(finished), output).map_err(Error::from)?;
    }
    for (path, value) in [(&args.summary, deacons(finished)), (&args.hostile, hostiles(finished))] {
        if let Some(path) = path {
            put_json(&value, path, set)?;
        }
    }
    Ok(())
}

/// Writes a value as JSON to an output of `set`.
///
/// # Errors
/// If it cannot be written.
pub(super) fn put_json(value: &Value, path: &Path, set: &OutputSet) -> Result<()> {
    let mut output = set.output(path).map_err(Error::from)?;
    output.write_all(format!("{value:#}\n").as_bytes()).map_err(Error::from)?;
    output.finish().map_err(Error::from)?;
    Ok(())
}

pub(super) fn own(finished: &Finished<'_>) -> Summary {
    let (args, outcome) = (finished.args, finished.outcome);
    let mut summary = Summary::new("deplete filter");
    summary.version(env!("CARGO_PKG_VERSION"));
    describe_inputs(finished.inputs, &mut summary);
    summary.set("inputs", "set", args.set.display().to_string());
    summary.set("inputs", "minimizers", finished.host.len());
    let mut set = |key: &str, value: Value| summary.set("parameters", key, value);
    set("k", finished.host.params().k().into());
    set("w", finished.host.params().w().into());
    summary.set_all("parameters", args.config);
    let mut set = |key: &str, value: Value| summary.set("parameters", key, value);
    set("output", args.output.display().to_string().into());
    set("confirm", json!(args.confirm.as_ref().map(|path| path.display().to_string())));
    set("edits", json!(args.edits.map(|edits| edits.to_string())));
    set("threads", finished.context.threads.into());
    set("memory", finished.context.budget().into());
    for (key, value) in [
        ("reads", outcome.records),
        ("bases", outcome.bases),
        ("kept_reads", outcome.kept_records),
        ("kept_bases", outcome.kept_bases),
        ("masked_reads", outcome.masked_records),
        ("masked_bases", outcome.masked_bases),
        ("skipped_alignments", outcome.skipped_alignments),
    ] {
        summary.set("results", key, value);
    }
    if let Some(confirmed) = &outcome.confirmed {
        summary.set("results", "reads_removed_by_confirmation", confirmed.removed);
        summary.set("results", "nearest_kept_edits", json!(confirmed.nearest_kept()));
    }
    devices::clocks(finished.started, &mut summary);
    for stage in ["filter", "sync"] {
        summary.stage(stage, outcome.stages.get(stage));
    }
    summary
}

/// Returns `of / all`, 0 if both are 0.
fn part(of: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// Makes a summary with the keys of Deacon 0.19, in its order. Times are those of the whole run.
fn deacons(finished: &Finished<'_>) -> Value {
    let (args, outcome) = (finished.args, finished.outcome);
    let input = |at: usize| finished.inputs.get(at).map(ToString::to_string);
    let second = if args.reads.are_in_two_files() { input(1) } else { None };
    let seconds = finished.started.elapsed().as_secs_f64();
    let filtering = outcome.stages.get("filter").as_secs_f64();
    let rate = |count: u64, seconds: f64| (count as f64 / seconds.max(1e-9)) as u64;
    let removed = outcome.records - outcome.kept_records;
    let removed_bases = outcome.bases - outcome.kept_bases;
    json!({
        // MultiQC knows the file by the name.
        "version": format!("deacon 0.19 (merganser {})", env!("CARGO_PKG_VERSION")),
        "index": name(&args.set),
        "input": input(0),
        "input2": second,
        "output": name(&finished.kept[0]),
        "output2": finished.kept.get(1).map(|path| name(path)),
        "k": finished.host.params().k(),
        "w": finished.host.params().w(),
        "abs_threshold": args.config.thresholds.abs_threshold,
        "rel_threshold": args.config.thresholds.rel_threshold,
        "prefix_length": args.config.prefix_length,
        "deplete": !args.config.keep,
        "rename": args.config.rename,
        "ordered": true,
        "check_pairs": true,
        "seqs_in": outcome.records,
        "seqs_out": outcome.kept_records,
        "seqs_out_proportion": part(outcome.kept_records, outcome.records),
        "seqs_removed": removed,
        "seqs_removed_proportion": part(removed, outcome.records),
        "bp_in": outcome.bases,
        "bp_out": outcome.kept_bases,
        "bp_out_proportion": part(outcome.kept_bases, outcome.bases),
        "bp_removed": removed_bases,
        "bp_removed_proportion": part(removed_bases, outcome.bases),
        "time": seconds,
        "seqs_per_second": rate(outcome.records, filtering),
        "bp_per_second": rate(outcome.bases, filtering),
        "seqs_per_second_total": rate(outcome.records, seconds),
        "bp_per_second_total": rate(outcome.bases, seconds),
    })
}

/// Makes Hostile's summary: a list of one sample, without keys that have no value.
fn hostiles(finished: &Finished<'_>) -> Value {
    let (args, outcome) = (finished.args, finished.outcome);
    let removed = outcome.records - outcome.kept_records;
    let mut sample = serde_json::Map::new();
    let mut set = |key: String, value: Value| sample.insert(key, value);
    set("version".into(), env!("CARGO_PKG_VERSION").into());
    set("aligner".into(), "merganser".into());
    set("index".into(), name(&args.set).into());
    let options: Vec<&str> = [(args.config.keep, "keep"), (args.config.rename, "rename")]
        .into_iter()
        .filter_map(|(given, option)| given.then_some(option))
        .collect();
    set("options".into(), options.into());
    let mates = if args.reads.are_in_two_files() { 2 } else { 1 };
    for (at, input) in finished.inputs.iter().take(mates).enumerate() {
        let path = input.to_string();
        let file = Path::new(&path)
            .file_name()
            .map_or_else(|| path.clone(), |file| file.to_string_lossy().into_owned());
        set(format!("fastq{}_in_name", at + 1), file.into());
        set(format!("fastq{}_in_path", at + 1), path.into());
    }
    set("reads_in".into(), outcome.records.into());
    set("reads_out".into(), outcome.kept_records.into());
    set("reads_removed".into(), removed.into());
    let rounded = (part(removed, outcome.records) * 1e5).round() / 1e5;
    set("reads_removed_proportion".into(), rounded.into());
    for (at, path) in finished.kept.iter().enumerate() {
        let file = path.file_name().unwrap_or(path.as_os_str());
        set(format!("fastq{}_out_name", at + 1), file.to_string_lossy().into());
        set(format!("fastq{}_out_path", at + 1), name(path).into());
    }
    json!([sample])
}
