//! The CPU backend: sketches of a reference, its tables, and queries.

pub(crate) mod query;
pub(crate) mod section;
pub(crate) mod stretches;
pub(crate) mod tables;
