//! The plain definition of `filter`, shared with the tests of its crate.

use merganser_filter::{Align, Code, Config, Method, NMode, REJECTED, UNDEFINED};

#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
#[path = "../../../../crates/filter/src/naive.rs"]
pub mod naive;
