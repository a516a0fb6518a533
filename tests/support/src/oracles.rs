//! Plain definitions of what the jobs compute.

pub mod deplete;
pub mod filter;
pub mod map;
