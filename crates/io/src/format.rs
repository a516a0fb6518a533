//! The format of a chunk of text.

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Fasta,
    Fastq,
    /// SAM, which is converted to FASTQ before it is returned.
    Sam,
    /// BAM, which is converted to FASTQ before it is returned.
    Bam,
}
