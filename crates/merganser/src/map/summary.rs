//! The summary of `--json`.

use anyhow::Result;
use merganser_io::{Input, Output};
use merganser_map::Error;
use merganser_run::Summary;
use serde_json::json;

use super::Finished;
use crate::common::write_summary;
use crate::devices;

/// Writes the summary of a run.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(finished: &Finished<'_>, output: Output) -> Result<()> {
    Ok(write_summary(&mut of(finished), output).map_err(Error::from)?)
}

/// Makes the summary of a run, with the actual values of options that were not given.
pub(super) fn of(finished: &Finished<'_>) -> Summary {
    let mut summary = Summary::new("map");
    summary.version(env!("CARGO_PKG_VERSION"));
    inputs(finished, &mut summary);
    parameters(finished, &mut summary);
    let outcome = finished.outcome;
    let gpus: Vec<u32> = outcome.devices.iter().map(|device| device.ordinal).collect();
    devices::describe(&gpus, finished.context.gpu_memory, &mut summary);
    results(finished, &mut summary);
    devices::clocks(finished.started, &mut summary);
    // Sums over all threads: divided by their number, they add up to about the time of mapping.
    let times = outcome.effort.times;
    summary.set("thread_seconds", "seeding", times.seeding.as_secs_f64());
    summary.set("thread_seconds", "filter", times.filter.as_secs_f64());
    summary.set("thread_seconds", "verification", times.verification.as_secs_f64());
    summary.set("thread_seconds", "output", times.output.as_secs_f64());
    if !outcome.devices.is_empty() {
        summary.set("thread_seconds", "waiting_for_gpus", times.device.as_secs_f64());
        // Sums over all streams, which run concurrently.
        let device = outcome.effort.device;
        summary.set("stream_seconds", "seeding", device.seeding.as_secs_f64());
        summary.set("stream_seconds", "candidates", device.candidates.as_secs_f64());
        summary.set("stream_seconds", "verification", device.verification.as_secs_f64());
        summary.set("stream_seconds", "hits", device.hits.as_secs_f64());
        summary.stage("gpus", outcome.stages.get("gpus"));
        devices::upload(outcome.uploaded, &mut summary);
    }
    summary.stage("index", finished.indexing);
    summary.stage("map", outcome.stages.get("map"));
    summary.stage("sort", outcome.stages.get("sort"));
    summary.stage("sync", outcome.stages.get("sync"));
    summary
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
    let (args, context) = (finished.args, finished.context);
    summary.set_all("parameters", &*args.config);
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("insert", finished.outcome.inserts.to_vec().into());
    set("output", args.output.display().to_string().into());
    if let Some(shard) = args.shard {
        set("shard", shard.to_string().into());
    }
    set("threads", context.threads.into());
    set("memory", context.budget().into());
}

fn results(finished: &Finished<'_>, summary: &mut Summary) {
    let (reported, effort) = (&finished.outcome.reported, &finished.outcome.effort);
    for (key, value) in [
        ("reads", reported.reads),
        ("skipped_alignments", finished.outcome.skipped_alignments),
        ("mapped_reads", reported.mapped),
        ("unique_reads", reported.unique),
        ("mappings", reported.mappings),
        ("supplementary", reported.supplementary),
        ("pairs", reported.pairs),
        ("concordant_pairs", reported.concordant),
        ("rescued_pairs", reported.rescued),
        ("discordant_pairs", reported.discordant),
        ("one_mate_pairs", reported.one_mate),
        ("cut_by_max_hits", reported.cut),
        ("reads_without_seeds", effort.scanned),
        ("reads_shorter_than_edits", reported.hopeless),
        ("reads_too_long", reported.too_long),
        ("candidates", effort.candidates),
        ("rejected", effort.rejected),
        ("verified", effort.verified),
        ("spilled_bytes", finished.outcome.spilled_bytes),
        ("gpu_reads", effort.gpu_reads),
    ] {
        summary.set("results", key, value);
    }
    if let Some(learned) = finished.outcome.insert_sizes {
        let [lower, median, upper] = learned.quartiles;
        let [least, most] = learned.range;
        let value = json!({
            "pairs": learned.pairs, "lower_quartile": lower, "median": median, "upper_quartile": upper,
            "min": least, "max": most,
        });
        summary.set("results", "learned_inserts", value);
    }
}
