//! What a histogram of k-mers tells of the genome that the reads are from.
//!
//! A histogram says how many distinct k-mers occur how often in the reads. Those of the genome lie in
//! peaks at multiples of the coverage, those that errors of the sequencer made at small counts. A
//! [`Model`] fitted to it gives the size of the genome, its heterozygosity, the coverage and the rate
//! of errors, and with them the [`Doubt`]s that one should have.
//!
//! Nothing is read, written or drawn here: rows of numbers go in, values come out.
//!
//! ```
//! use merganser_spectrum::Model;
//!
//! // Half a million 21-mers of a haploid genome that is covered 30 times: counts lie around 30.
//! let peak = |count: f64| 5e5 * 0.0728 * (-(count - 30.0).powi(2) / 60.0).exp();
//! let histogram: Vec<(u32, u64)> = (1..100).map(|count| (count, peak(count.into()) as u64)).collect();
//!
//! let model = Model::fit(&histogram, 21, 1)?;
//! assert!((model.coverage - 30.0).abs() < 1.0);
//! assert!((model.genome_size / 5e5 - 1.0).abs() < 0.05);
//! # Ok::<(), merganser_spectrum::Error>(())
//! ```
#![deny(missing_docs)]
#![deny(unsafe_code)]

mod error;
mod model;
mod quality;
pub mod smudges;

pub use error::Error;
pub use model::{Doubt, Model, Settings};
pub use quality::{
    error_rate, first_valley, is_flat_valley, least_k, peaks, quality, solid_threshold,
};
