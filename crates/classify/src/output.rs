//! The lines of reads.

mod line_text;
mod lines;

pub(crate) use lines::{LineWriter, Read, TargetOrTaxon, found};
