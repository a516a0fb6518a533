//! Plain definitions of the jobs' results, which tests compare with.

pub mod deplete;
pub mod filter;
pub mod map;
