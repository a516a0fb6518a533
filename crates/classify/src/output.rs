//! Output lines of reads.

mod lines;

pub(crate) use lines::{LineWriter, Read, TargetOrTaxon, found};
