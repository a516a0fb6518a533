//! The summary of `--json`.

use anyhow::Result;
use merganser_count::Error;
use merganser_io::Output;
use merganser_run::Summary;

use super::{Finished, outputs};
use crate::common::{describe_inputs, write_summary};
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
    let mut summary = Summary::new("count");
    summary.version(env!("CARGO_PKG_VERSION"));
    describe_inputs(finished.inputs, &mut summary);
    parameters(finished, &mut summary);
    let gpus: Vec<u32> = finished.outcome.devices.iter().map(|gpu| gpu.ordinal).collect();
    devices::describe(&gpus, finished.context.gpu_memory, &mut summary);
    results(finished, &mut summary);
    devices::clocks(finished.started, &mut summary);
    for (name, time) in finished.outcome.stages.iter() {
        summary.stage(name, time);
    }
    summary
}

fn parameters(finished: &Finished<'_>, summary: &mut Summary) {
    let (args, config, context) = (finished.args, finished.config, finished.context);
    summary.set_all("parameters", config);
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("canonical", config.is_canonical().into());
    set("panel", config.panel.as_deref().map(|path| path.display().to_string()).into());
    set("min_count", config.least().into());
    set("hist_max", args.hist_max.into());
    set("format", args.format().name().into());
    set("output", args.output.as_deref().map(|path| path.display().to_string()).into());
    set("threads", context.threads.into());
    set("memory", context.budget().into());
    set("tmp_dir", context.temp_dir.display().to_string().into());
    set("bins", finished.outcome.bins.into());
    set("signature", config.rule.name().into());
    set("signature_len", config.signature_bases().into());
}

fn results(finished: &Finished<'_>, summary: &mut Summary) {
    let (config, outcome) = (finished.config, finished.outcome);
    let histogram = &outcome.histogram;
    let mut set = |key: &str, value: u64| summary.set("results", key, value);
    set("records", outcome.records);
    set("skipped_alignments", outcome.skipped_alignments);
    set("letters", outcome.letters);
    set("ambiguous_letters", outcome.ambiguous_letters);
    set("low_quality_bases", outcome.low_quality_bases);
    set("total_kmers", outcome.total_kmers);
    set("distinct_kmers", histogram.distinct(1, u32::MAX));
    set("kept_kmers", outcome.kept_kmers);
    set("below_min_count", histogram.distinct(0, config.least().saturating_sub(1)));
    set("above_max_count", above(finished));
    set("largest_count", histogram.max().into());
    set("beyond_histogram", finished.beyond_histogram);
    set("super_kmers", outcome.super_kmers);
    set("super_kmer_bytes", outcome.super_kmer_bytes);
    set("spilled_bytes", outcome.spilled_bytes);
    set("device_chunks", outcome.device_chunks);
    set("returned_chunks", outcome.returned_chunks);
    let written = outputs::table_files(finished.args);
    set("table_bytes", written.iter().map(|path| finished.outputs.bytes_of(path)).sum());
    summary.set("results", "saturated", outcome.saturated);
}

fn above(finished: &Finished<'_>) -> u64 {
    match finished.config.most() {
        u32::MAX => 0,
        most => finished.outcome.histogram.distinct(most + 1, u32::MAX),
    }
}
