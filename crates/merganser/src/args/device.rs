//! Which processors a job may use.

use clap::Args;
use merganser_run::DeviceChoice;

/// The options of every job that can compute on GPUs.
#[derive(Args, Debug)]
pub(crate) struct DeviceArgs {
    /// What computes: auto (GPUs if there are any and the input is large enough to pay for starting
    /// them), cpu, cuda (any GPUs), or GPUs by number: cuda:0,1
    #[arg(long, value_name = "DEVICE", default_value_t, help_heading = "Resources")]
    pub(crate) device: DeviceChoice,
    /// Memory to use on each GPU, e.g. 4G [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) gpu_memory: Option<u64>,
}
