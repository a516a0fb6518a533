//! What the tests of `tests/cli` have already: a directory of their own, the built program, simulated reads.
#![allow(dead_code, unreachable_pub, reason = "those tests use the rest")]

#[path = "../cli/support/dir.rs"]
mod dir;
#[path = "../cli/support/oracle.rs"]
mod oracle;
#[path = "../cli/support/reads.rs"]
pub(crate) mod reads;
#[path = "../cli/support/signals.rs"]
mod signals;
#[path = "../cli/support/two_species.rs"]
pub(crate) mod two_species;

pub(crate) use dir::{Dir, MERGANSER, names, root};
