//! The summary of `--json`.

use anyhow::Result;
use merganser_io::Output;
use merganser_run::{Stages, Summary};
use merganser_search::{Demultiplexed, Error, SampleCounts, Trimmed};
use serde_json::{Map, Value, json};

use super::{Finished, Outcome, Searched};
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
    let stages = match (finished.searched, finished.outcome) {
        (Searched::Samples(samples), Outcome::Demultiplexed(outcome)) => {
            let names = samples.all().iter().map(|sample| sample.name());
            set_samples(names, outcome, &mut summary);
            &outcome.stages
        }
        (_, Outcome::Trimmed(outcome)) => {
            set_trimmed(outcome, &mut summary);
            &outcome.stages
        }
        _ => &Stages::default(),
    };
    devices::clocks(finished.started, &mut summary);
    for stage in ["search", "sync"] {
        summary.stage(stage, stages.get(stage));
    }
    Ok(write_summary(&mut summary, output).map_err(Error::from)?)
}

fn parameters(finished: &Finished<'_>, summary: &mut Summary) {
    let (args, context) = (finished.args, finished.context);
    summary.set_all("parameters", &args.barcodes.options);
    let mut set = |key: &str, value: Value| summary.set("parameters", key, value);
    let files = args.patterns.iter().map(|path| path.display().to_string());
    let sheet = args.barcodes.demultiplex.as_ref();
    set("threshold", json!(args.config.threshold));
    set("pattern", args.pattern.clone().into());
    set("patterns", files.collect::<Vec<_>>().into());
    set("demultiplex", sheet.map(|path| path.display().to_string()).into());
    set("output", args.output.display().to_string().into());
    set("threads", context.threads.into());
    set("memory", context.budget().into());
}

/// Sets the numbers of reads of samples, and of refused reads by reason. Their sum is the number of reads.
fn set_samples<'n>(
    names: impl Iterator<Item = &'n str>,
    outcome: &Demultiplexed,
    summary: &mut Summary,
) {
    let reads = |(name, counts): (&str, SampleCounts)| (name.to_owned(), counts.reads.into());
    let samples: Map<String, Value> =
        names.zip(outcome.samples.iter().copied()).map(reads).collect();
    let refused: Map<String, Value> = outcome.refused().into_iter().map(reads).collect();
    let mut set = |key: &str, value: Value| summary.set("results", key, value);
    set("reads", outcome.reads().into());
    set("assigned", outcome.assigned().reads.into());
    set("refused", refused.into());
    set("samples", samples.into());
    set("skipped_alignments", outcome.skipped_alignments.into());
}

fn set_trimmed(outcome: &Trimmed, summary: &mut Summary) {
    let mut set = |key: &str, value: u64| summary.set("results", key, value);
    set("reads", outcome.reads);
    set("bases", outcome.bases);
    set("trimmed_reads", outcome.trimmed_reads);
    set("kept_reads", outcome.kept_reads);
    set("kept_bases", outcome.kept_bases);
    set("empty_reads", outcome.empty_reads());
    set("skipped_alignments", outcome.skipped_alignments);
}
