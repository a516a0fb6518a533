//! What is to be computed, as data.

use std::path::PathBuf;

use super::expression::{Cut, Expression};
use crate::formats::TableFormat;

/// What to compute, and what becomes of it.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// What to compute of the tables.
    pub expression: Expression,
    /// The result's own bounds.
    pub cut: Cut,
    /// Larger counts are lowered to this.
    pub ceiling: u32,
    /// Where the result goes; for [`TableFormat::Kmc`] the name without suffix.
    pub output: Option<PathBuf>,
    /// How it is written.
    pub format: TableFormat,
}
