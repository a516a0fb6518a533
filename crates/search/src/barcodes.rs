//! Barcodes of reads: divides reads among samples by the barcodes near their ends.

mod assign;
mod counts;
mod finder;
mod options;
mod output;
mod run;
mod samples;
#[cfg(test)]
mod tests;
mod worker;

pub use counts::{SampleCounts, write_sample_counts};
pub use options::BarcodeOptions;
pub use output::SamplePaths;
pub use run::{Demultiplexed, demultiplex, demultiplex_in};
pub use samples::{Sample, Samples};
