//! Memory that does not suffice for a job, of the machine or of a GPU.

use crate::{format_given, format_needed};

/// The memory that the run may use does not suffice, which is seen before work starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} at least {} of memory, and `memory` gives {}: raise it, {remedy}",
    format_needed(*needed), format_given(*budget)
)]
pub struct Shortage {
    /// Who needs it, with the verb: `2 threads need`.
    pub what: String,
    /// Bytes that are needed.
    pub needed: u64,
    /// Bytes that may be used.
    pub budget: u64,
    /// What else to do, e.g. [`Shortage::FEWER_THREADS`].
    pub remedy: &'static str,
}

impl Shortage {
    /// The remedy where each thread takes memory.
    pub const FEWER_THREADS: &'static str = "or lower `threads`";
}

/// A GPU has too little memory, or may use too little of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cuda:{ordinal} has {} of memory for {what} and at least {} are needed: raise `gpu_memory`, \
     {remedy}or use `device` cpu",
    format_given(*available), format_needed(*needed)
)]
pub struct GpuShortage {
    /// CUDA's number of the device.
    pub ordinal: u32,
    /// What the memory is for: `k-mers`.
    pub what: &'static str,
    /// Bytes that are free there, or that the run may use of them.
    pub available: u64,
    /// Bytes that are needed.
    pub needed: u64,
    /// What else to do, with a comma and a space behind it; empty for nothing.
    pub remedy: &'static str,
}

#[cfg(test)]
mod tests {
    use super::{GpuShortage, Shortage};

    #[test]
    fn both_say_what_is_there_and_what_to_do() {
        let what = "2 threads need".to_owned();
        let remedy = Shortage::FEWER_THREADS;
        let shortage = Shortage { what, needed: 5 << 20, budget: 1 << 20, remedy };
        assert_eq!(
            shortage.to_string(),
            "2 threads need at least 5.00 MiB of memory, and `memory` gives 1.00 MiB: raise it, or \
             lower `threads`"
        );
        let (available, needed) = (1 << 20, 2 << 20);
        let shortage = GpuShortage { ordinal: 1, what: "k-mers", available, needed, remedy: "" };
        assert_eq!(
            shortage.to_string(),
            "cuda:1 has 1.00 MiB of memory for k-mers and at least 2.00 MiB are needed: raise \
             `gpu_memory`, or use `device` cpu"
        );
    }
}
