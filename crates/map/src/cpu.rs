//! The CPU backend: from the reads of a batch to hits by seeds, candidates and verification; and sorting of an
//! index's positions.

mod candidates;
mod circles;
mod mapper;
pub(crate) mod prefilter;
mod seeds;
mod silencer;
mod singles;
pub(crate) mod sort;
mod strata;
mod verify;

pub(crate) use mapper::Mapper;
pub(crate) use silencer::{Quota, SilenceRule, Silencer, is_extended, may_share_start};
pub(crate) use singles::Singles;
pub(crate) use strata::Strata;
pub(crate) use verify::hamming::ends as hamming;
pub(crate) use verify::scan::Scan;
pub(crate) use verify::{End, Window};

#[cfg(test)]
pub(crate) use mapper::tests;
