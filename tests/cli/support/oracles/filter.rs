//! The definitions of `filter` word by word, as its crate's own tests have them.

use merganser_filter::{Align, Config, Decision, Method, NMode, REJECTED, UNDEFINED};

#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
#[path = "../../../../crates/filter/src/naive.rs"]
pub(crate) mod naive;
