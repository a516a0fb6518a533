//! The format of a stretch of text.

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Fasta,
    Fastq,
    /// Made FASTQ before it is handed out,
    Sam,
    /// and so is this one.
    Bam,
}
