//! `merganser devices`, and the choice of a run's devices.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_gpu::availability;
use merganser_io::Input;
use merganser_run::{DeviceChoice, Summary};

use crate::console::Console;

/// What there is to compute on, and why a GPU cannot be used.
pub(crate) fn run() -> Result<ExitCode> {
    write!(io::stdout().lock(), "{}", merganser_gpu::diagnose())?;
    Ok(ExitCode::SUCCESS)
}

/// The GPUs that a run shall use, by CUDA's numbers; none means the CPU. `auto` takes them for
/// inputs of `break_even` bytes or more, and of unknown size, and says so.
///
/// # Errors
/// If GPUs are asked for and there are none. Numbers are not checked: opening does that.
pub(crate) fn choose(
    choice: &DeviceChoice,
    inputs: &[Input],
    break_even: u64,
    console: &Console,
) -> Result<Vec<u32>> {
    let usable = || availability().usable().map(|device| device.ordinal).collect::<Vec<_>>();
    match choice {
        DeviceChoice::Cpu => Ok(Vec::new()),
        DeviceChoice::Auto if bytes(inputs).is_some_and(|bytes| bytes < break_even) => {
            Ok(Vec::new())
        }
        DeviceChoice::Auto => {
            let ordinals = usable();
            if !ordinals.is_empty() {
                console.info(format_args!("computing on {}", availability().reason()));
            }
            Ok(ordinals)
        }
        DeviceChoice::AllCuda => {
            let ordinals = usable();
            if ordinals.is_empty() {
                return Err(merganser_gpu::unavailable().into());
            }
            Ok(ordinals)
        }
        DeviceChoice::Cuda(ordinals) => Ok(ordinals.clone()),
    }
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
/// and the rest. The time after this is the exit, which counts for neither.
pub(crate) fn clocks(started: Instant, summary: &mut Summary) {
    let (wall, cuda_start) = (started.elapsed(), merganser_gpu::start_time());
    summary.set("seconds", "wall", wall.as_secs_f64());
    summary.set("seconds", "cuda_start", cuda_start.as_secs_f64());
    summary.set("seconds", "run", wall.saturating_sub(cuda_start).as_secs_f64());
}

/// Bytes of the inputs as text, about: a compressed one counts four times. `None` if one of them is
/// no file.
fn bytes(inputs: &[Input]) -> Option<u64> {
    let size = |input: &Input| {
        let path = input.path()?;
        let at = std::fs::metadata(path).ok().filter(|at| at.is_file())?;
        let name = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let compressed = ["gz", "bgz", "zst", "bz2", "xz", "bam", "cram"].contains(&name);
        Some(at.len() * if compressed { 4 } else { 1 })
    };
    inputs.iter().map(size).sum()
}
