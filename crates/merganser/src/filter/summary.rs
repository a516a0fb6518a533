//! The summary of `--json`.

use anyhow::Result;
use merganser_filter::Error;
use merganser_io::Output;
use merganser_run::Summary;

use super::Finished;
use crate::args::name_of;
use crate::common::{describe_inputs, write_summary};
use crate::devices;

/// Writes what the run was and did, with the values that options left open.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(finished: &Finished<'_>, output: Output) -> Result<()> {
    let mut summary = Summary::new("filter");
    summary.version(env!("CARGO_PKG_VERSION"));
    describe_inputs(finished.inputs, &mut summary);
    parameters(finished, &mut summary);
    devices::describe(&finished.job.devices, finished.job.gpu_memory, &mut summary);
    results(finished, &mut summary);
    devices::clocks(finished.started, &mut summary);
    summary.stage("filter", finished.filtering);
    if !finished.job.devices.is_empty() {
        summary.stage("kernels", finished.outcome.kernels);
    }
    summary.stage("sync", finished.outcome.sync);
    Ok(write_summary(&summary, output).map_err(Error::from)?)
}

fn parameters(finished: &Finished<'_>, summary: &mut Summary) {
    let (args, job) = (finished.args, finished.job);
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("threshold", args.threshold.to_string().into());
    set("method", name_of(&args.method).into());
    set("n_mode", name_of(&args.n_mode).into());
    set("align", name_of(&args.align).into());
    set("verify", job.verify.into());
    set("format", name_of(&args.format).into());
    set("output", args.output.as_deref().map(|path| path.display().to_string()).into());
    set("threads", job.threads.into());
    set("memory", job.memory.into());
}

fn results(finished: &Finished<'_>, summary: &mut Summary) {
    let outcome = finished.outcome;
    let mut set = |key: &str, value: Option<u64>| summary.set("results", key, value);
    set("pairs", Some(outcome.pairs));
    set("accepted", Some(outcome.accepted));
    set("rejected", Some(outcome.pairs - outcome.accepted));
    set("undefined", Some(outcome.undefined));
    set("exact_instead", Some(outcome.exact_instead));
    set("gpu_pairs", Some(outcome.gpu_pairs));
    set("within_threshold", outcome.verified.map(|verified| verified.exact_accepted));
    set("false_accepts", outcome.verified.map(|verified| verified.false_accepts));
    set("false_rejects", outcome.verified.map(|verified| verified.false_rejects));
}
