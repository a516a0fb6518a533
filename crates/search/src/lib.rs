//! Search for short patterns: every occurrence of guides, primers, barcodes and probes within a number of edits.

mod align;
mod amplicons;
mod anchor;
mod barcodes;
mod config;
mod cuda;
mod edits;
mod error;
mod hamming;
mod hit;
mod join;
mod letters;
mod memory;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
mod naive;
mod output;
mod overhang;
mod pattern;
mod patterns;
mod places;
mod primers;
mod queries;
mod run;
mod scan;
mod score;
mod searcher;
mod seeds;
mod select;
#[cfg(test)]
mod tests;
mod tile;

pub use align::Alignment;
pub use amplicons::{Lengths, run_primers};
pub use anchor::{Pam, Seed};
pub use barcodes::{
    BarcodeOptions, Demultiplexed, ReadFiles, Sample, SampleCounts, Samples, Trimmed, UNASSIGNED,
    demultiplex_in, trim_in, write_adapter_counts, write_sample_counts,
};
pub use config::Config;
pub use error::Error;
pub use hit::Hit;
pub use memory::find;
pub use merganser_alignments::Operation;
pub use merganser_filter::{Strand, Threshold};
pub use output::{Format, OffTargets, Writer, write_counts};
pub use pattern::{MAX_PATTERN, Pattern};
pub use patterns::Patterns;
pub use primers::PrimerPair;
pub use run::{Outcome, run, run_with};
pub use score::Score;
pub use seeds::Way;
