//! The definitions of `deplete` word by word, as its crate's own tests have them.

use merganser_deplete::Params;

#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
#[path = "../../../../crates/deplete/src/naive.rs"]
pub(crate) mod naive;
