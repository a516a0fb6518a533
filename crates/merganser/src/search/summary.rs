//! The summary of `--json`.

use anyhow::Result;
use merganser_io::Output;
use merganser_run::Summary;
use merganser_search::Error;

use super::{Finished, outputs, report};
use crate::common::{describe_inputs, write_summary};
use crate::devices;

/// Writes the summary of a run, with the actual values of options that were not given.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(finished: &Finished<'_>, output: Output) -> Result<()> {
    let mut summary = Summary::new("search");
    summary.version(env!("CARGO_PKG_VERSION"));
    describe_inputs(finished.inputs, &mut summary);
    parameters(finished, &mut summary);
    results(finished, &mut summary);
    devices::clocks(finished.started, &mut summary);
    for stage in ["measure", "search", "sync"] {
        summary.stage(stage, finished.outcome.stages.get(stage));
    }
    Ok(write_summary(&mut summary, output).map_err(Error::from)?)
}

fn parameters(finished: &Finished<'_>, summary: &mut Summary) {
    let (args, context) = (finished.args, finished.context);
    summary.set_all("parameters", &args.config);
    if args.primers.is_some() {
        summary.set_all("parameters", args.lengths);
    }
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    let files = args.patterns.iter().map(|path| path.display().to_string());
    set("pattern", args.pattern.clone().into());
    set("patterns", files.collect::<Vec<_>>().into());
    set("primers", args.primers.as_ref().map(|path| path.display().to_string()).into());
    set("format", outputs::format(args).name().into());
    set("output", args.output.display().to_string().into());
    set("threads", context.threads.into());
    set("memory", context.budget().into());
}

fn results(finished: &Finished<'_>, summary: &mut Summary) {
    let outcome = finished.outcome;
    let mut set = |key: &str, value: u64| summary.set("results", key, value);
    set("patterns", finished.patterns.len() as u64);
    set("sequences", outcome.texts);
    set("letters", outcome.letters);
    set("skipped_alignments", outcome.skipped_alignments);
    set("hits", outcome.total());
    if let Some(amplicons) = outcome.amplicons {
        set("amplicons", amplicons);
    }
    summary.set("results", "hits_by_edits", report::sums(finished));
}
