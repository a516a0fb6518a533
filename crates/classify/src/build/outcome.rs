//! What a build found.

use merganser_gpu::DeviceInfo;
use merganser_run::Stages;

/// What a build found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildOutcome {
    /// Sequences of the inputs.
    pub records: u64,
    /// Secondary and supplementary alignments of the inputs, whose reads stand in others.
    pub skipped_alignments: u64,
    /// How long each stage took.
    pub stages: Stages,
    /// The GPUs that computed.
    pub devices: Vec<DeviceInfo>,
    /// The largest resident size of the process so far, in bytes, if the system tells it.
    pub peak_memory: Option<u64>,
    /// Targets without a taxon and why, in order: (name, reason).
    pub unmapped: Vec<(String, String)>,
    /// How many targets have an id that an earlier one has; the first such id.
    pub duplicates: (u64, Option<String>),
    /// How many targets have no k-mer, being too short or of N alone; the first such id.
    pub without_kmer: (u64, Option<String>),
    /// Bases read.
    pub bases: u64,
    /// Orphan taxids of the dump.
    pub orphans: Vec<u32>,
    /// Bytes that were written to temporary files.
    pub spilled_bytes: u64,
    /// Ranges of features whose tables a device made, one after the other; 0: the host made all.
    pub device_runs: usize,
}
