//! The table of samples and their reads.

use std::io::{self, Write};

use super::{Demultiplexed, Samples};

/// The reads of a sample, or those that were refused for a reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleCounts {
    /// The number of reads.
    pub reads: u64,
    /// The number of their letters, before trimming.
    pub bases: u64,
    /// The sum of their edits, 0 for refused reads.
    pub edits: u64,
}

impl SampleCounts {
    pub(crate) fn add(&mut self, other: SampleCounts) {
        self.reads += other.reads;
        self.bases += other.bases;
        self.edits += other.edits;
    }
}

/// Writes a table with a line for each sample, in their order, and one for each reason of refused reads: category, sample
/// (NA for refused reads), reads, bases before trimming, and the mean number of edits (NA without reads).
///
/// # Errors
/// If it cannot be written.
pub fn write_sample_counts(
    outcome: &Demultiplexed,
    samples: &Samples,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = b"category\tsample\treads\tbases\tmean_edits\n".to_vec();
    for (sample, counts) in samples.all().iter().zip(&outcome.samples) {
        let SampleCounts { reads, bases, edits } = counts;
        write!(text, "assigned\t{}\t{reads}\t{bases}\t", sample.name())?;
        match reads {
            0 => writeln!(text, "NA")?,
            _ => writeln!(text, "{:.2}", *edits as f64 / *reads as f64)?,
        }
    }
    for (category, counts) in
        [("ambiguous", outcome.ambiguous), ("none", outcome.none), ("empty", outcome.empty)]
    {
        writeln!(text, "{category}\tNA\t{}\t{}\tNA", counts.reads, counts.bases)?;
    }
    out.write_all(&text)
}
