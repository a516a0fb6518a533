//! The plain definition of `deplete`, shared with the tests of its crate.

use merganser_deplete::Params;

#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
#[path = "../../../../crates/deplete/src/naive.rs"]
pub mod naive;
