//! Pictures and pages of results. Typed results go in; SVG, PNG, PDF, letters for a terminal, a page for a browser or sections
//! of MultiQC's report come out. Nothing is computed here but places on a picture.
//!
//! [`data`] has what a run found, as plain data: [`html`] makes a page of it, [`plot`] pictures for papers, [`multiqc`] sections.
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
//! let picture = model::picture(&fitted);
//! assert!(picture.svg().starts_with("<svg"));
//! assert!(picture.png(300)?.starts_with(b"\x89PNG"));
//! assert!(picture.pdf()?.starts_with(b"%PDF"));
//! print!("{}", model::text(&fitted, 80, 16));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]
#![deny(unsafe_code)]

pub mod classes;
pub mod data;
mod draw;
pub mod haplotypes;
pub mod html;
pub mod model;
pub mod multiqc;
pub mod plot;
pub mod smudges;
pub mod text;

pub use draw::{Error, Picture};
