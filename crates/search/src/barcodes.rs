//! Barcodes and adapters near the ends of reads: divides reads among samples, and trims them.

mod adapters;
mod assign;
mod counts;
mod demultiplex;
mod divide;
mod finder;
mod options;
mod samples;
#[cfg(test)]
mod tests;
mod writer;

pub use adapters::{Trimmed, trim_in, write_adapter_counts};
pub use counts::{SampleCounts, write_sample_counts};
pub use demultiplex::{Demultiplexed, demultiplex_in};
pub use divide::ReadFiles;
pub use options::BarcodeOptions;
pub use samples::{Sample, Samples, UNASSIGNED};
