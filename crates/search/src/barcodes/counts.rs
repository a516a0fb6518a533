//! The table of samples and their reads.

use std::io::{self, Write};
use std::ops::Add;

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

impl Add for SampleCounts {
    type Output = SampleCounts;

    fn add(self, other: SampleCounts) -> SampleCounts {
        SampleCounts {
            reads: self.reads + other.reads,
            bases: self.bases + other.bases,
            edits: self.edits + other.edits,
        }
    }
}

/// Writes a table with a line for each sample, in their order, and one for each reason of refused reads: category, sample
/// (NA for refused reads), reads, bases before trimming, and the sum of their edits (NA for refused reads).
///
/// # Errors
/// If it cannot be written.
pub fn write_sample_counts(
    outcome: &Demultiplexed,
    samples: &Samples,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = b"category\tsample\treads\tbases\tedits\n".to_vec();
    for (sample, SampleCounts { reads, bases, edits }) in samples.all().iter().zip(&outcome.samples)
    {
        writeln!(text, "assigned\t{}\t{reads}\t{bases}\t{edits}", sample.name())?;
    }
    for (category, SampleCounts { reads, bases, .. }) in outcome.refused() {
        writeln!(text, "{category}\tNA\t{reads}\t{bases}\tNA")?;
    }
    out.write_all(&text)
}
