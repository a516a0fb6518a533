//! Building and querying on the CPU.

pub(crate) mod entries;
pub(crate) mod query;
pub(crate) mod scan;
pub(crate) mod section;
pub(crate) mod tables;
