//! The summary of `--json`.

use anyhow::Result;
use merganser_filter::Error;
use merganser_io::Output;
use merganser_run::Summary;

use super::Finished;
use crate::common::{describe_inputs, write_summary};
use crate::devices;

/// Writes the summary of a run, with the actual values of options that were not given.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(finished: &Finished<'_>, output: Output) -> Result<()> {
    let mut summary = Summary::new("filter");
    summary.version(env!("CARGO_PKG_VERSION"));
    describe_inputs(finished.inputs, &mut summary);
    parameters(finished, &mut summary);
    let gpus: Vec<u32> = finished.outcome.devices.iter().map(|device| device.ordinal).collect();
    devices::describe(&gpus, finished.context.gpu_memory, &mut summary);
    results(finished, &mut summary);
    devices::clocks(finished.started, &mut summary);
    let outcome = finished.outcome;
    summary.stage("filter", outcome.stages.get("filter"));
    if !outcome.devices.is_empty() {
        summary.stage("kernels", outcome.kernels);
    }
    summary.stage("sync", outcome.stages.get("sync"));
    Ok(write_summary(&mut summary, output).map_err(Error::from)?)
}

fn parameters(finished: &Finished<'_>, summary: &mut Summary) {
    let (args, context) = (finished.args, finished.context);
    summary.set_all("parameters", args.config);
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("format", args.format.name().into());
    set("output", args.output.as_deref().map(|path| path.display().to_string()).into());
    set("threads", context.threads.into());
    set("memory", context.budget().into());
}

fn results(finished: &Finished<'_>, summary: &mut Summary) {
    let outcome = finished.outcome;
    let mut set = |key: &str, value: Option<u64>| summary.set("results", key, value);
    set("pairs", Some(outcome.records));
    set("accepted", Some(outcome.accepted));
    set("rejected", Some(outcome.records - outcome.accepted));
    set("undefined", Some(outcome.undefined));
    set("exact_instead", Some(outcome.exact_instead));
    set("gpu_pairs", Some(outcome.gpu_pairs));
    set("within_threshold", outcome.verified.map(|verified| verified.exact_accepted));
    set("false_accepts", outcome.verified.map(|verified| verified.false_accepts));
    set("false_rejects", outcome.verified.map(|verified| verified.false_rejects));
}
