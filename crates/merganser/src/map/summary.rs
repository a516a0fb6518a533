//! The summary of `--json`.

use anyhow::Result;
use merganser_io::{Input, Output};
use merganser_map::Error;
use merganser_run::Summary;

use super::Finished;
use crate::args::name_of;
use crate::common::write_summary;
use crate::devices;

/// Writes what the run was and did, with the values that options left open.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(finished: &Finished<'_>, output: Output) -> Result<()> {
    let mut summary = Summary::new("map");
    summary.version(env!("CARGO_PKG_VERSION"));
    inputs(finished, &mut summary);
    parameters(finished, &mut summary);
    devices::describe(&finished.job.devices, finished.job.gpu_memory, &mut summary);
    results(finished, &mut summary);
    devices::clocks(finished.started, &mut summary);
    // Of all threads: divided by their number, they add up to about the mapping's.
    let times = finished.outcome.stages.times;
    summary.set("thread_seconds", "seeding", times.seeding.as_secs_f64());
    summary.set("thread_seconds", "filter", times.filter.as_secs_f64());
    summary.set("thread_seconds", "verification", times.verification.as_secs_f64());
    summary.set("thread_seconds", "output", times.output.as_secs_f64());
    if !finished.job.devices.is_empty() {
        summary.set("thread_seconds", "waiting_for_gpus", times.device.as_secs_f64());
        // Of all streams, which run side by side.
        let device = finished.outcome.stages.device;
        summary.set("stream_seconds", "seeding", device.seeding.as_secs_f64());
        summary.set("stream_seconds", "candidates", device.candidates.as_secs_f64());
        summary.set("stream_seconds", "verification", device.verification.as_secs_f64());
        summary.set("stream_seconds", "hits", device.hits.as_secs_f64());
        summary.stage("gpus", finished.outcome.opening);
    }
    summary.stage("index", finished.indexing);
    summary.stage("map", finished.mapping);
    summary.stage("sync", finished.outcome.sync);
    Ok(write_summary(&summary, output).map_err(Error::from)?)
}

fn inputs(finished: &Finished<'_>, summary: &mut Summary) {
    let number = |number: usize| {
        let files = finished.inputs.iter().filter_map(move |segment| segment.inputs().nth(number));
        files.map(Input::to_string).collect::<Vec<_>>()
    };
    summary.set("inputs", "reference", finished.args.reference.display().to_string());
    summary.set("inputs", "contigs", finished.index.contigs().len());
    summary.set("inputs", "bases", finished.index.bases());
    summary.set("inputs", "k", finished.index.k());
    summary.set("inputs", "index_bytes", finished.index.bytes());
    summary.set("inputs", "reads", number(0));
    summary.set("inputs", "mates", number(1));
}

fn parameters(finished: &Finished<'_>, summary: &mut Summary) {
    let (args, job) = (finished.args, finished.job);
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("threshold", args.threshold.to_string().into());
    set("hamming", args.hamming.into());
    set("strand", name_of(&args.strand).into());
    set("n_mode", name_of(&args.n_mode).into());
    set("crop", args.crop.into());
    let select = match (args.best, args.best_strata) {
        (true, _) => "best",
        (_, true) => "best-strata",
        _ => "all",
    };
    set("select", select.into());
    set("max_hits", args.max_hits.into());
    set("insert", vec![args.min_insert, args.max_insert].into());
    set("filter", name_of(&args.filter).into());
    set("output", args.output.display().to_string().into());
    set("threads", job.threads.into());
    set("memory", job.memory.into());
}

fn results(finished: &Finished<'_>, summary: &mut Summary) {
    let (reported, stages) = (&finished.outcome.reported, &finished.outcome.stages);
    for (key, value) in [
        ("reads", reported.reads),
        ("skipped_alignments", finished.outcome.skipped_alignments),
        ("mapped_reads", reported.mapped),
        ("unique_reads", reported.unique),
        ("mappings", reported.mappings),
        ("pairs", reported.pairs),
        ("concordant_pairs", reported.concordant),
        ("discordant_pairs", reported.discordant),
        ("one_mate_pairs", reported.one_mate),
        ("cut_by_max_hits", reported.cut),
        ("reads_without_seeds", stages.scanned),
        ("reads_shorter_than_edits", reported.hopeless),
        ("candidates", stages.candidates),
        ("rejected", stages.rejected),
        ("verified", stages.verified),
        ("gpu_reads", stages.gpu_reads),
    ] {
        summary.set("results", key, value);
    }
}
