//! The cooperative hash insert under the interleaver: sound, and with races planted.

use crate::ffi;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The routine as kernels use it.
    Sound,
    /// Compare and swap in two steps.
    TornCas,
    /// A lost race reported as won.
    BlindCas,
    /// Every lane its own leader.
    LoneBallot,
    /// The sound routine and more keys than slots.
    Overfull,
    /// A lane that ends while the others wait for it in a collective.
    Deserted,
}

/// What a schedule showed to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Lanes waited forever.
    Stuck,
    /// The lanes of a tile had different answers.
    Disagreement,
    /// A table with room was called full, or one without was not.
    Full,
    /// The table does not hold each key once.
    Contents,
    /// A key was said to be new twice, or never.
    Answers,
}

/// Several 8-lane tiles insert keys into one table, in the interleaving of `seed`.
pub fn insert_under_schedule(variant: Variant, seed: u64) -> Result<(), Failure> {
    // SAFETY: all memory that the call uses is its own; fibers end, or are dropped, with it.
    match unsafe { ffi::mgpu_host_insert(variant as u32, seed) } {
        0 => Ok(()),
        1 => Err(Failure::Stuck),
        2 => Err(Failure::Disagreement),
        3 => Err(Failure::Full),
        4 => Err(Failure::Contents),
        _ => Err(Failure::Answers),
    }
}
