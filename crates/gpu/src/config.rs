//! Which GPUs a run uses.

use merganser_run::Resources;

/// Which GPUs to use, by CUDA's numbers, and how much of the memory of each.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuConfig {
    /// CUDA's numbers; a device listed twice is two devices that share its memory.
    pub devices: Vec<u32>,
    /// Bytes of memory on each; what is free if not given.
    pub memory: Option<u64>,
    /// Batches on each device at a time.
    pub streams: usize,
}

impl GpuConfig {
    /// These devices, with a batch on each for every thread.
    pub fn new(resources: &Resources, devices: Vec<u32>) -> GpuConfig {
        GpuConfig { devices, memory: resources.gpu_memory, streams: resources.threads }
    }
}
