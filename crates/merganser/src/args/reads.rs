//! What all commands that take reads have.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use merganser_io::{Error, Input, ReadInput, expand_inputs};

use crate::common::{pairs, refuse_stdin_twice};
use crate::failure::usage;

/// The options of how reads are read.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadsArgs {
    /// The FASTA file that the reads of CRAM inputs were aligned to
    // Its own id, as `map` has another reference.
    #[arg(long = "reference", value_name = "FASTA", id = "cram-reference")]
    pub(crate) reference: Option<PathBuf>,
}

impl ReadsArgs {
    /// Turns arguments into inputs.
    ///
    /// # Errors
    /// As [`expand_inputs`].
    pub(crate) fn expand(&self, paths: &[PathBuf]) -> Result<Vec<Input>, Error> {
        let inputs = expand_inputs(paths)?;
        Ok(inputs.into_iter().map(|input| self.input(input)).collect())
    }

    /// An input, with what is needed to read it.
    pub(crate) fn input(&self, input: Input) -> Input {
        match &self.reference {
            Some(reference) => input.with_reference(reference),
            None => input,
        }
    }
}

/// The option of how pairs are read.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PairArgs {
    /// Take mates by their place in the files, whatever their names
    #[arg(long)]
    pub(crate) any_names: bool,
}

/// Reads that are written again: single ones, or pairs.
#[derive(Args, Debug)]
pub(crate) struct SegmentArgs {
    /// Files of single reads (or of pairs, with --interleaved), @LIST of such files, or - for stdin
    #[arg(value_name = "READS", required_unless_present = "first")]
    #[arg(conflicts_with_all = ["first", "second"])]
    reads: Vec<PathBuf>,
    /// Files of first mates
    #[arg(short = '1', value_name = "FILE", num_args = 1.., requires = "second")]
    first: Vec<PathBuf>,
    /// Files of second mates
    #[arg(short = '2', value_name = "FILE", num_args = 1.., requires = "first")]
    second: Vec<PathBuf>,
    /// First and second mates take turns in the files of reads
    #[arg(long, conflicts_with = "first")]
    interleaved: bool,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    #[command(flatten)]
    inputs: ReadsArgs,
}

impl SegmentArgs {
    /// Whether these are pairs,
    pub(crate) fn are_pairs(&self) -> bool {
        self.interleaved || self.are_in_two_files()
    }

    /// and whether first and second mates are in files of their own.
    pub(crate) fn are_in_two_files(&self) -> bool {
        !self.first.is_empty()
    }

    /// The arguments, some of which may be lists of files.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &PathBuf> {
        self.first.iter().chain(&self.second).chain(&self.reads)
    }

    /// Pairs of files, or files of pairs or of single reads.
    ///
    /// # Errors
    /// If a list cannot be read, there are not as many files of first as of second mates, or stdin is named
    /// twice.
    pub(crate) fn segments(&self) -> Result<Vec<ReadInput>> {
        let expanded = |paths: &[PathBuf]| self.inputs.expand(paths);
        let kind = if self.interleaved { ReadInput::Interleaved } else { ReadInput::Single };
        let mut segments = pairs(expanded(&self.first)?, expanded(&self.second)?)?;
        segments.extend(expanded(&self.reads)?.into_iter().map(kind));
        refuse_stdin_twice(segments.iter().flat_map(ReadInput::inputs))?;
        Ok(segments)
    }
}

/// Reads of all kinds, which are classified or taken out of files.
#[derive(Args, Clone, Debug)]
pub(crate) struct MixedReadsArgs {
    // Its help is the command's.
    #[arg(value_name = "READS")]
    pub(crate) reads: Vec<PathBuf>,
    /// First mates; as many files as -2 has. Pairs come before all other reads
    #[arg(short = '1', value_name = "FILE", requires = "mates2", id = "mates1")]
    mates1: Vec<PathBuf>,
    /// Second mates
    #[arg(short = '2', value_name = "FILE", requires = "mates1", id = "mates2")]
    mates2: Vec<PathBuf>,
    /// READS hold pairs: the mates one after the other
    #[arg(long)]
    pub(crate) interleaved: bool,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// Single reads, beside -1 and -2 or interleaved READS; they come before READS
    #[arg(short = 'U', value_name = "FILE", id = "singles")]
    singles: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,
}

impl MixedReadsArgs {
    /// The arguments, some of which may be lists of files.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.mates1, &self.mates2, &self.singles, &self.reads].into_iter().flatten()
    }

    /// Pairs, then single reads, then READS. `other` is read beside them.
    ///
    /// # Errors
    /// If a list cannot be read, there are not as many files of first as of second mates, stdin is named
    /// twice, or there are no reads.
    pub(crate) fn segments(&self, other: Option<&Input>) -> Result<Vec<ReadInput>> {
        let [first, second, singles, reads] =
            [&self.mates1, &self.mates2, &self.singles, &self.reads]
                .map(|paths| self.inputs.expand(paths));
        let kind = if self.interleaved { ReadInput::Interleaved } else { ReadInput::Single };
        let mut segments = pairs(first?, second?)?;
        segments.extend(singles?.into_iter().map(ReadInput::Single));
        segments.extend(reads?.into_iter().map(kind));
        refuse_stdin_twice(segments.iter().flat_map(ReadInput::inputs).chain(other))?;
        if segments.is_empty() {
            return usage("give reads: READS, -1 and -2, or -U");
        }
        Ok(segments)
    }
}
