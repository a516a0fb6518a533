//! `merganser devices`, and what summaries say of devices.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_gpu::availability;
use merganser_run::Summary;

use crate::common;

/// What there is to compute on, and why a GPU cannot be used.
pub(crate) fn run() -> Result<ExitCode> {
    common::print(merganser_gpu::diagnose().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Tells the summary what computes: the CPU, or GPUs by CUDA's numbers, and their models.
pub(crate) fn describe(gpus: &[u32], memory: Option<u64>, summary: &mut Summary) {
    let devices: Vec<String> = gpus.iter().map(|number| format!("cuda:{number}")).collect();
    let device = if gpus.is_empty() { "cpu".into() } else { devices.join(",") };
    summary.set("machine", "device", device);
    summary.set("machine", "gpu_memory", memory);
    let present: Vec<_> =
        if gpus.is_empty() { Vec::new() } else { availability().usable().collect() };
    let model = |number: &u32| present.iter().find(|at| at.ordinal == *number).map(|at| &at.name);
    summary.set("machine", "gpus", gpus.iter().filter_map(model).collect::<Vec<_>>());
    summary.set("machine", "simd", merganser_seq::simd::Level::best().name());
}

/// The clocks of the summary, of a run that began at `started` and ends now: all of it, starting CUDA,
/// and the rest, and from when to when CUDA started. The time after this is the exit, which counts for
/// neither.
pub(crate) fn clocks(started: Instant, summary: &mut Summary) {
    let (wall, cuda_start) = (started.elapsed(), merganser_gpu::start_time());
    summary.set("seconds", "wall", wall.as_secs_f64());
    summary.set("seconds", "cuda_start", cuda_start.as_secs_f64());
    summary.set("seconds", "run", wall.saturating_sub(cuda_start).as_secs_f64());
    let since = |moment: Instant| moment.duration_since(started).as_secs_f64();
    summary.set("seconds", "cuda_called", merganser_gpu::first_call().map(since));
    summary.set("seconds", "cuda_ready", merganser_gpu::ready_at().map(since));
}
