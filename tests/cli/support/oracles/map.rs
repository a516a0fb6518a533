//! The definitions of `map` word by word, as its crate's own tests have them.

use merganser_map::{Config, NMode, Strand};

#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
#[path = "../../../../crates/map/src/naive.rs"]
pub(crate) mod naive;
