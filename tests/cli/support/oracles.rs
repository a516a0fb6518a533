//! Plain definitions of what the jobs compute.

pub(crate) mod deplete;
pub(crate) mod filter;
pub(crate) mod map;
