//! Errors of too little memory, of the machine or of a GPU.

use crate::{format_given, format_needed};

/// The error of a memory limit that does not suffice, detected before work starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} at least {} of memory, and `memory` gives {}: raise it, {remedy}",
    format_needed(*needed), format_given(*budget)
)]
pub struct Shortage {
    /// The subject of the message with its verb: `2 threads need`.
    pub what: String,
    /// The bytes that are needed.
    pub needed: u64,
    /// The bytes that may be used.
    pub budget: u64,
    /// An alternative to raising the limit, such as [`Shortage::FEWER_THREADS`].
    pub remedy: &'static str,
}

impl Shortage {
    /// The remedy if each thread needs memory.
    pub const FEWER_THREADS: &'static str = "or lower `threads`";
}

/// The error of a GPU with too little memory, or with a limit that is too low.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cuda:{ordinal} has {} of memory for {what} and at least {} are needed: raise `gpu_memory`, \
     {remedy}or use `device` cpu",
    format_given(*available), format_needed(*needed)
)]
pub struct GpuShortage {
    /// The CUDA number of the device.
    pub ordinal: u32,
    /// The purpose of the memory: `k-mers`.
    pub what: &'static str,
    /// The bytes that are free, or that the limit allows.
    pub available: u64,
    /// The bytes that are needed.
    pub needed: u64,
    /// A further remedy followed by a comma and a space; empty without one.
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
