//! The `--json` summary.

use std::time::Duration;

use merganser_classify::{GpuTimes, Thresholds};
use merganser_classify::{Outcome, RunConfig};
use merganser_run::Summary;

use crate::devices;

/// Makes the summary of the parameters and results of a run.
pub(super) fn of_run(
    (config, thresholds): (&RunConfig, &Thresholds),
    threads: usize,
    outcome: &Outcome<'_>,
) -> Summary {
    let mut summary = Summary::new("classify");
    summary.version(env!("CARGO_PKG_VERSION"));
    summary.set_all("parameters", config);
    // Replaces options that were left to the preset.
    summary.set_all("parameters", thresholds);
    summary.set("parameters", "threads", threads);
    summary.set("results", "reads", outcome.records);
    summary.set("results", "bases", outcome.bases);
    summary.set("results", "classified", outcome.classified);
    summary.set("results", "unclassified", outcome.records - outcome.classified);
    summary.set("results", "passed_over", outcome.passed_over);
    summary.set("results", "skipped_alignments", outcome.skipped_alignments);
    summary.set("results", "low_coverage_sequences", outcome.low_coverage);
    for (stage, time) in outcome.stages.iter() {
        summary.set("thread_seconds", stage, time.as_secs_f64());
    }
    if let Some(gpu) = &outcome.gpu_times {
        set_gpu_times(gpu, &mut summary);
    }
    summary
}

/// Adds the times of devices.
fn set_gpu_times(gpu: &GpuTimes, summary: &mut Summary) {
    devices::upload(gpu.tables, summary);
    for (what, time) in [
        ("upload", gpu.upload),
        ("kernels", gpu.kernels),
        ("download", gpu.download),
        ("busy", gpu.busy),
    ] {
        summary.set("device_seconds", what, time.as_secs_f64());
    }
    summary.set("device_seconds", "batches", gpu.batches);
    let cycles: u64 = gpu.phases.iter().sum();
    let phases = ["sketching", "looking_up", "ordering", "choosing", "pooling"];
    for (phase, own) in phases.into_iter().zip(gpu.phases) {
        let share = own as f64 / cycles.max(1) as f64;
        let time: Duration = gpu.kernels.mul_f64(share);
        summary.set("device_seconds", phase, time.as_secs_f64());
    }
}
