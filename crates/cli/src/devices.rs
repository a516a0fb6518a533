//! `merganser devices`, and the choice of a run's devices.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use merganser_gpu::availability;
use merganser_io::Input;
use merganser_run::DeviceChoice;

use crate::console::Console;

/// What there is to compute on, and why a GPU cannot be used.
pub(crate) fn run() -> Result<ExitCode> {
    write!(io::stdout().lock(), "{}", merganser_gpu::doctor())?;
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

/// Bytes of the inputs as text, about: a compressed one counts four times. `None` if one of them is
/// no file.
fn bytes(inputs: &[Input]) -> Option<u64> {
    let size = |input: &Input| match input {
        Input::File(path) => {
            let at = std::fs::metadata(path).ok().filter(|at| at.is_file())?;
            let name = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
            let compressed = ["gz", "bgz", "zst", "bz2", "xz"].contains(&name);
            Some(at.len() * if compressed { 4 } else { 1 })
        }
        Input::Stdin => None,
    };
    inputs.iter().map(size).sum()
}
