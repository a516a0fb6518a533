//! `merganser devices`, and the description of devices in summaries.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_gpu::{Uploaded, availability};
use merganser_run::Summary;

use crate::common;

/// Prints the available devices, and why a GPU cannot be used.
pub(crate) fn run() -> Result<ExitCode> {
    common::print(merganser_gpu::diagnose().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the devices of the run to the summary: the CPU, or GPUs with CUDA's numbers, and their models.
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

/// Adds the copy of a database or an index to devices: its time, which overlaps with the first reads, and its bytes,
/// over all devices; and the bytes of text that devices have inflated.
pub(crate) fn upload(uploaded: Uploaded, summary: &mut Summary) {
    summary.stage("upload", uploaded.time);
    summary.set("machine", "uploaded_bytes", uploaded.bytes);
    summary.set("machine", "inflated_bytes", merganser_gpu::ingest::inflated_bytes());
}

/// Adds the clocks of a run that began at `started` and ends now: the total time, the time to start CUDA, the
/// difference of both, and the points in time at which CUDA was first called and ready. The time of the exit that
/// follows is not included.
pub(crate) fn clocks(started: Instant, summary: &mut Summary) {
    let (wall, cuda_start) = (started.elapsed(), merganser_gpu::start_time());
    summary.set("seconds", "wall", wall.as_secs_f64());
    summary.set("seconds", "cuda_start", cuda_start.as_secs_f64());
    summary.set("seconds", "run", wall.saturating_sub(cuda_start).as_secs_f64());
    let since = |moment: Instant| moment.duration_since(started).as_secs_f64();
    summary.set("seconds", "cuda_called", merganser_gpu::first_call().map(since));
    summary.set("seconds", "cuda_ready", merganser_gpu::ready_at().map(since));
}
