//! Plots and pages of results. The input are typed results; the output are SVG, PNG, PDF, text for a terminal, an
//! HTML page, or sections of a MultiQC report. Nothing is computed here except positions in a plot.
//!
//! [`data`] has the results of a run: [`html`] makes a page of them, [`plot`] figures for publication, [`multiqc`]
//! sections. [`model`] plots the model of a k-mer histogram, [`classes`] histograms of classes of k-mers,
//! [`haplotypes`] the parents' k-mers in assemblies, [`smudges`] the pairs of k-mers that show the ploidy.
//! [`taxa`] converts classification reports.
//!
//! ```
//! use merganser_report::data::Spectrum;
//! use merganser_report::{model, text};
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
//! let rows = histogram.iter().map(|&(count, kmers)| (count.into(), kmers)).collect();
//! let spectrum = Spectrum { k: 21, rows, model: Some((&fitted).into()) };
//! print!("{}", text::spectrum(&spectrum, 80, 16));
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
pub mod taxa;
pub mod text;

pub use draw::{Error, Picture};
