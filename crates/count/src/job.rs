//! The inputs of a run: its configuration and context.

use std::path::Path;

use merganser_kmers::Piece;
use merganser_run::{Context, Warnings};

use crate::Config;

/// A configuration together with the context of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'j> {
    pub(crate) config: &'j Config,
    /// The number of worker threads.
    pub(crate) threads: usize,
    /// The memory limit of the whole process, in bytes.
    pub(crate) memory: u64,
    /// The directory for temporary files.
    pub(crate) temp_dir: &'j Path,
    /// The memory to use on each GPU, in bytes; `None` for all that is free.
    pub(crate) gpu_memory: Option<u64>,
    /// The CUDA device numbers of the GPUs that count; empty if the CPU counts.
    pub(crate) devices: &'j [u32],
    /// The shard of a larger table that this run makes, if it makes one.
    pub(crate) piece: Option<Piece>,
    pub(crate) warnings: &'j Warnings,
}

impl<'j> Job<'j> {
    /// Returns the job of counting with `config` on these GPUs.
    pub(crate) fn new(config: &'j Config, context: &'j Context, devices: &'j [u32]) -> Job<'j> {
        Job {
            config,
            threads: context.threads,
            memory: context.budget(),
            temp_dir: &context.temp_dir,
            gpu_memory: context.gpu_memory,
            devices,
            piece: None,
            warnings: &context.warnings,
        }
    }
}
