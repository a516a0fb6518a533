//! The GPUs that a run uses.

use merganser_run::Context;

/// The GPUs to use, and the limits on their use.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuConfig {
    /// The CUDA device numbers; a device listed twice counts as two devices that share its memory.
    pub devices: Vec<u32>,
    /// Bytes of memory to use on each device; `None` for all that is free.
    pub memory: Option<u64>,
    /// The number of batches on each device at a time.
    pub streams: usize,
}

impl GpuConfig {
    /// Returns a configuration with these devices, with one batch a thread on each.
    pub fn new(context: &Context, devices: Vec<u32>) -> GpuConfig {
        GpuConfig { devices, memory: context.gpu_memory, streams: context.threads }
    }
}
