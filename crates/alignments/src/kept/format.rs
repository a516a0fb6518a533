//! The formats in which reads are written.

use std::path::{Path, PathBuf};

use merganser_io::{CommentTags, OutputFormat};
use merganser_run::ConfigError;

use crate::Format;

merganser_run::named! {
    /// The format of reads that are written.
    pub enum ReadFormat {
        /// FASTQ, or FASTA for reads without qualities.
        Fastq = "fastq",
        /// Alignments, as text.
        Sam = "sam",
        /// Alignments, compressed.
        Bam = "bam",
        /// Alignments, compressed by column, with all their bases.
        Cram = "cram",
    }
}

impl ReadFormat {
    /// Returns the format that a name asks for, if it does.
    pub fn of_name(path: &Path) -> Option<ReadFormat> {
        match OutputFormat::of_name(path)? {
            OutputFormat::Sam => Some(ReadFormat::Sam),
            OutputFormat::Bam => Some(ReadFormat::Bam),
            OutputFormat::Cram => Some(ReadFormat::Cram),
            _ => Some(ReadFormat::Fastq),
        }
    }

    /// Returns the format of alignments, if the reads are written as such. Workers compress BAM and CRAM.
    pub fn of_alignments(self) -> Option<Format> {
        match self {
            ReadFormat::Fastq => None,
            ReadFormat::Sam => Some(Format::Sam),
            ReadFormat::Bam => Some(Format::Bam(1)),
            ReadFormat::Cram => Some(Format::Cram),
        }
    }
}

/// The formats of the outputs of a run.
#[derive(Clone, Copy, Debug)]
pub struct ReadFormats<'p> {
    /// The format of all outputs, if it was given; otherwise their names decide.
    pub given: Option<ReadFormat>,
    /// The outputs, by kinds of reads: a file for each kind, or two for first and second mates.
    pub paths: &'p [&'p [PathBuf]],
    /// The tags that become comments of the reads.
    pub tags: &'p CommentTags,
}

impl ReadFormats<'_> {
    /// Returns the format of an output. One whose name asks for none has that of the others.
    pub fn of(&self, path: &Path) -> ReadFormat {
        let others = || self.all().find_map(|path| ReadFormat::of_name(path));
        let format = self.given.or_else(|| ReadFormat::of_name(path)).or_else(others);
        format.unwrap_or(ReadFormat::Fastq)
    }

    /// Whether any reads are written as alignments.
    pub fn have_alignments(&self) -> bool {
        self.all().any(|path| self.of(path).of_alignments().is_some())
    }

    /// Whether the reads are written as alignments.
    ///
    /// # Errors
    /// If only some are, mates would be written to two files of alignments, or tags to comments.
    pub fn are_alignments(&self) -> Result<bool, ConfigError> {
        let problem = match self.have_alignments() {
            false => return Ok(false),
            true if !self.all().all(|path| self.of(path).of_alignments().is_some()) => {
                "all outputs for reads must be alignments (SAM, BAM, CRAM) if one is"
            }
            true if self.paths.iter().any(|kind| kind.len() > 1) => {
                "alignments of both mates belong into one file: give a single output"
            }
            true if !self.tags.is_none() => {
                "`tags` is for FASTQ and FASTA: alignments keep all their tags"
            }
            true => return Ok(true),
        };
        Err(ConfigError::new(problem))
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().copied().flatten()
    }
}
