//! The `--json` summary.

use merganser_classify::Thresholds;
use std::time::Duration;

use merganser_classify::run::{RunConfig, RunResult, RunStages};
use merganser_run::Summary;

/// The parameters and results of a run.
pub(super) fn of_run(
    thresholds: &Thresholds,
    config: &RunConfig,
    result: &RunResult<'_>,
) -> Summary {
    let mut summary = Summary::new("classify");
    summary.version(env!("CARGO_PKG_VERSION"));
    summary.set("parameters", "threads", config.threads);
    set_thresholds(thresholds, &mut summary);
    let mut set = |key: &str, value: serde_json::Value| summary.set("parameters", key, value);
    set("insert", thresholds.insert.into());
    set("min_read_len", config.filter.min_bases.into());
    let longest = config.filter.max_bases;
    set("max_read_len", (longest < usize::MAX).then_some(longest).into());
    set("min_qual", config.filter.min_quality.into());
    set("cov_percentile", (f64::from(config.coverage_per_mille) / 10.0).into());
    summary.set("results", "reads", result.reads);
    summary.set("results", "bases", result.bases);
    summary.set("results", "classified", result.classified);
    summary.set("results", "unclassified", result.reads - result.classified);
    summary.set("results", "passed_over", result.passed_over);
    summary.set("results", "skipped_alignments", result.skipped_alignments);
    summary.set("results", "low_coverage_sequences", result.low_coverage);
    set_stages(&result.stages, &mut summary);
    summary
}

/// What threads and devices did in which time.
fn set_stages(stages: &RunStages, summary: &mut Summary) {
    let records = &stages.records;
    for (stage, time) in [
        ("reading", records.reading),
        ("parsing", records.parsing),
        ("gathering", records.gathering),
        ("waiting_for_reads", records.waiting),
        ("finding", stages.finding),
        ("waiting_for_devices", stages.waiting),
        ("collecting", stages.collecting),
        ("deciding", stages.deciding),
        ("waiting_for_turns", stages.turns),
        ("writing", stages.writing),
    ] {
        summary.set("thread_seconds", stage, time.as_secs_f64());
    }
    let Some(gpu) = &stages.gpu else { return };
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
    let phases = ["sketching", "looking_up", "ordering", "choosing"];
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
    set("hitdiff", (f64::from(thresholds.hit_diff) / 10.0).into());
}
