//! Models histograms of k-mers to learn about the genome that the reads are from.
//!
//! A histogram tells how many distinct k-mers have each count in the reads. k-mers of the genome lie in peaks
//! at multiples of the coverage; those with sequencing errors have small counts. A [`Model`] that is fitted to
//! the histogram gives the size of the genome, its heterozygosity, the coverage and the error rate, and the
//! [`Doubt`]s about these values.
//!
//! The crate does not read, write or draw: its input are rows of numbers, its results are values.
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
pub use model::{Doubt, Model, Settings, StandardErrors};
pub use quality::{
    error_rate, error_threshold, first_valley, is_flat_valley, least_k, peaks, quality,
    solid_threshold,
};
