//! The CPU backend: sketching references, making tables, and queries.

pub(crate) mod query;
pub(crate) mod section;
pub(crate) mod stretches;
pub(crate) mod tables;
