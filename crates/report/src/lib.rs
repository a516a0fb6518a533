//! Pictures of results. Typed results go in; SVG, PNG, or letters for a terminal come out. Nothing is
//! computed here but places on a picture.
//!
//! [`model`] draws the model of a histogram of k-mers, [`classes`] histograms of classes of k-mers over each other,
//! [`haplotypes`] the parents' k-mers in assemblies, [`smudges`] pairs of k-mers that tell the ploidy.
//!
//! ```
//! use merganser_report::model;
//! use merganser_spectrum::Model;
//!
//! // 21-mers of a haploid genome that is covered 30 times: counts lie around 30.
//! let peak = |count: f64| 36_400.0 * (-(count - 30.0).powi(2) / 60.0).exp();
//! let histogram: Vec<(u32, u64)> = (1..100).map(|count| (count, peak(count.into()) as u64)).collect();
//! let fitted = Model::fit(&histogram, 21, 1)?;
//!
//! assert!(model::svg(&fitted).starts_with("<svg"));
//! assert!(model::png(&fitted)?.starts_with(b"\x89PNG"));
//! print!("{}", model::text(&fitted, 80, 16));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]
#![deny(unsafe_code)]

pub mod classes;
pub mod data;
pub mod haplotypes;
pub mod html;
pub mod model;
pub mod multiqc;
mod png;
mod scene;
pub mod smudges;
mod svg;
