//! The plain definition of `map`, shared with the tests of its crate.

use merganser_map::{Config, NMode, Strand};

#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
#[path = "../../../../crates/map/src/naive.rs"]
pub mod naive;
