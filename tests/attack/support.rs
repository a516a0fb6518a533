//! What the tests of `tests/cli` have already: simulated reads, and tools where they are installed.
#![allow(dead_code, unreachable_pub, reason = "those tests use the rest")]

#[path = "../cli/support/dir.rs"]
mod dir;
#[path = "../cli/support/fastk.rs"]
pub(crate) mod fastk;
#[path = "../cli/support/mend.rs"]
pub(crate) mod mend;
#[path = "../cli/support/meryl.rs"]
pub(crate) mod meryl;
#[path = "../cli/support/oracle.rs"]
pub(crate) mod oracle;
#[path = "../cli/support/peak.rs"]
pub(crate) mod peak;
#[path = "../cli/support/reads.rs"]
pub(crate) mod reads;
#[path = "../cli/support/repeats.rs"]
pub(crate) mod repeats;
#[path = "../cli/support/signals.rs"]
pub(crate) mod signals;
#[path = "../cli/support/tools.rs"]
pub(crate) mod tools;
#[path = "../cli/support/two_species.rs"]
pub(crate) mod two_species;

pub(crate) use dir::{Dir, MERGANSER};
