//! What a run is made of: the configuration and what it may use of the machine.

use std::path::Path;

use merganser_kmers::Piece;
use merganser_run::{Resources, Warnings};

use crate::Config;

/// A configuration with what the run may use of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'j> {
    pub(crate) config: &'j Config,
    /// Worker threads in all.
    pub(crate) threads: usize,
    /// Bytes of memory of the whole process.
    pub(crate) memory: u64,
    /// For temporary files.
    pub(crate) temp_dir: &'j Path,
    /// Bytes of memory to use on each GPU, `None` for what is free.
    pub(crate) gpu_memory: Option<u64>,
    /// The GPUs that count, by CUDA's numbers; none for the CPU.
    pub(crate) devices: &'j [u32],
    /// What the table will be a piece of.
    pub(crate) piece: Option<Piece>,
    pub(crate) warnings: &'j Warnings,
}

impl<'j> Job<'j> {
    /// A run of `config` on these GPUs.
    pub(crate) fn new(config: &'j Config, resources: &'j Resources, devices: &'j [u32]) -> Job<'j> {
        Job {
            config,
            threads: resources.threads,
            memory: resources.budget(),
            temp_dir: &resources.temp_dir,
            gpu_memory: resources.gpu_memory,
            devices,
            piece: None,
            warnings: &resources.warnings,
        }
    }
}
