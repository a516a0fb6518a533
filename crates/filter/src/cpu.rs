//! The methods on the CPU.

pub(crate) mod anchored;
pub(crate) mod banded;
pub(crate) mod gatekeeper;
pub(crate) mod masks;
pub(crate) mod original;
pub(crate) mod sliced;
pub(crate) mod snake;
