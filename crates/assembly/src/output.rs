//! What Merqury writes: the same files, columns and numbers.

mod files;
mod number;
mod track;

pub use files::{Files, Names};
