//! The `--json` summary.

use std::time::Duration;

use merganser_classify::run::{Outcome, RunConfig};
use merganser_classify::{GpuTimes, Thresholds};
use merganser_run::Summary;

/// The parameters and results of a run.
pub(super) fn of_run(config: &RunConfig, threads: usize, outcome: &Outcome<'_>) -> Summary {
    let thresholds = &config.thresholds;
    let mut summary = Summary::new("classify");
    summary.version(env!("CARGO_PKG_VERSION"));
    summary.set("parameters", "threads", threads);
    set_thresholds(thresholds, &mut summary);
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("insert", thresholds.insert.into());
    set("near", thresholds.near.into());
    set("confidence", thresholds.confidence.into());
    set("min_read_len", config.filter.min_bases.into());
    let longest = config.filter.max_bases;
    set("max_read_len", (longest < usize::MAX).then_some(longest).into());
    set("min_qual", config.filter.min_quality.into());
    set("quality_offset", config.filter.quality_offset.number().into());
    set("cov_percentile", (f64::from(config.coverage_per_mille) / 10.0).into());
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

/// What devices did in which time.
fn set_gpu_times(gpu: &GpuTimes, summary: &mut Summary) {
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

/// How taxa were chosen.
pub(crate) fn set_thresholds(thresholds: &Thresholds, summary: &mut Summary) {
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("lowest", thresholds.lowest.name().into());
    set("highest", thresholds.highest.name().into());
    set("max_cand", thresholds.max_candidates.into());
    set("hitmin", thresholds.min_hits.into());
    set("hitmin_per_kb", thresholds.min_hits_per_kb.into());
    set("hitmin_contested", thresholds.contested.into());
    set("hitdiff", (f64::from(thresholds.hit_diff) / 10.0).into());
}
