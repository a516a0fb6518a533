//! The options that choose processors.

use clap::Args;
use merganser_run::DeviceChoice;

/// The options of every job that can run on GPUs.
#[derive(Args, Clone, Debug)]
pub(crate) struct DeviceArgs {
    /// Processor to use: auto, cpu, cuda (all GPUs), or GPUs by number, e.g. cuda:0,1
    ///
    /// auto uses GPUs if there are any and the input is large enough to make up for the time to start
    /// them; otherwise it uses the CPU. cuda fails if no GPU can be used.
    #[arg(long, value_name = "DEVICE", default_value_t, help_heading = "Resources")]
    pub(crate) device: DeviceChoice,
    /// Memory to use on each GPU, e.g. 4G [default: all free memory]
    #[arg(long, value_name = "SIZE", value_parser = merganser_run::parse_size)]
    #[arg(help_heading = "Resources")]
    pub(crate) gpu_memory: Option<u64>,
}
