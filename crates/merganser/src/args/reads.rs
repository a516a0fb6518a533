//! The options that all commands with reads share.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use merganser_io::{Error, Input, ReadInput, expand_folders, expand_inputs};

use crate::common::{REPEAT, hint_at_mates, pairs, refuse_mates_beside, refuse_stdin_twice};
use crate::console::Console;
use crate::failure::usage;

/// The options of reading.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadsArgs {
    /// FASTA file that the reads of CRAM inputs were aligned to
    // Has its own id, as `map` has another reference.
    #[arg(long = "reference", value_name = "FASTA", id = "cram-reference")]
    pub(crate) reference: Option<PathBuf>,
}

impl ReadsArgs {
    /// Turns arguments into inputs; folders are the files of sequences in them.
    ///
    /// # Errors
    /// Returns the errors of [`expand_inputs`] and of [`expand_folders`].
    pub(crate) fn expand(&self, paths: &[PathBuf]) -> Result<Vec<Input>, Error> {
        Ok(self.inputs(expand_folders(expand_inputs(paths)?)?))
    }

    /// Turns arguments into inputs, none of which may be a folder.
    ///
    /// # Errors
    /// Returns the errors of [`expand_inputs`].
    pub(crate) fn expand_files(&self, paths: &[PathBuf]) -> Result<Vec<Input>, Error> {
        Ok(self.inputs(expand_inputs(paths)?))
    }

    fn inputs(&self, inputs: Vec<Input>) -> Vec<Input> {
        inputs.into_iter().map(|input| self.input(input)).collect()
    }

    /// Adds to an input what is needed to read it.
    pub(crate) fn input(&self, input: Input) -> Input {
        match &self.reference {
            Some(reference) => input.with_reference(reference),
            None => input,
        }
    }
}

/// The options of reading pairs.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PairArgs {
    /// Pair mates by their position in the files, even if their names differ
    #[arg(long)]
    pub(crate) any_names: bool,
}

/// Reads that are written again, single or in pairs.
#[derive(Args, Clone, Debug)]
pub(crate) struct SegmentArgs {
    /// Files of single reads (of pairs with --interleaved), @LIST of such files, or - for stdin
    #[arg(value_name = "READS", required_unless_present = "first")]
    reads: Vec<PathBuf>,
    /// First mates; repeat -1 and -2 for more files
    #[arg(short = '1', value_name = "FILE", requires = "second")]
    first: Vec<PathBuf>,
    /// Second mates
    #[arg(short = '2', value_name = "FILE", requires = "first")]
    second: Vec<PathBuf>,
    /// READS contain pairs: each first mate is followed by its second mate
    #[arg(long, conflicts_with = "first")]
    interleaved: bool,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,
    /// The reads of a sample in a sheet.
    #[arg(skip)]
    of_sample: Option<Vec<ReadInput>>,
}

impl SegmentArgs {
    /// Returns these options for the reads of a sample in a sheet.
    pub(crate) fn of_sample(&self, segments: Vec<ReadInput>) -> SegmentArgs {
        SegmentArgs { of_sample: Some(segments), ..self.clone() }
    }

    /// Whether READS contain pairs.
    pub(crate) fn are_interleaved(&self) -> bool {
        self.interleaved
    }

    /// Whether the reads are pairs.
    pub(crate) fn are_pairs(&self) -> bool {
        match &self.of_sample {
            Some(segments) => segments.iter().any(ReadInput::is_paired),
            None => self.interleaved || self.are_in_two_files(),
        }
    }

    /// Whether the reads are pairs with first and second mates in separate files.
    pub(crate) fn are_in_two_files(&self) -> bool {
        let is_two = |segment: &ReadInput| matches!(segment, ReadInput::Pair(..));
        !self.first.is_empty()
            || self.of_sample.as_ref().is_some_and(|segments| segments.iter().any(is_two))
    }

    /// Returns the arguments, some of which may be lists of files.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &PathBuf> {
        self.first.iter().chain(&self.second).chain(&self.reads)
    }

    /// Returns the inputs: pairs of files, or files of pairs or of single reads.
    ///
    /// # Errors
    /// If a list cannot be read, there are READS beside files of mates, the numbers of files of first and second mates
    /// differ, or stdin is given twice.
    pub(crate) fn segments(&self) -> Result<Vec<ReadInput>> {
        if let Some(segments) = &self.of_sample {
            return Ok(segments.clone());
        }
        if let ([_, ..], [one, ..]) = (&self.first[..], &self.reads[..]) {
            return usage(format!(
                "{}: READS cannot be given with -1 and -2; {REPEAT}",
                one.display()
            ));
        }
        let expanded = |paths: &[PathBuf]| self.inputs.expand(paths);
        let kind = if self.interleaved { ReadInput::Interleaved } else { ReadInput::Single };
        let mut segments = pairs(expanded(&self.first)?, expanded(&self.second)?)?;
        segments.extend(expanded(&self.reads)?.into_iter().map(kind));
        refuse_stdin_twice(segments.iter().flat_map(ReadInput::inputs))?;
        Ok(segments)
    }
}

/// Reads of any kind: pairs in two files, interleaved pairs and single reads.
#[derive(Args, Clone, Debug)]
pub(crate) struct MixedReadsArgs {
    // The command gives the help, as it differs between commands.
    #[arg(value_name = "READS")]
    pub(crate) reads: Vec<PathBuf>,
    /// First mates; repeat -1 and -2 for more files; pairs come before all other reads
    #[arg(short = '1', value_name = "FILE", requires = "mates2", id = "mates1")]
    mates1: Vec<PathBuf>,
    /// Second mates
    #[arg(short = '2', value_name = "FILE", requires = "mates1", id = "mates2")]
    mates2: Vec<PathBuf>,
    /// READS contain pairs: each first mate is followed by its second mate
    #[arg(long)]
    pub(crate) interleaved: bool,
    #[command(flatten)]
    pub(crate) pairs: PairArgs,
    /// Single reads, in addition to -1 and -2 or to interleaved READS; they come before READS
    #[arg(short = 'U', value_name = "FILE", id = "singles")]
    singles: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: ReadsArgs,
}

impl MixedReadsArgs {
    /// Returns the arguments, some of which may be lists of files.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.mates1, &self.mates2, &self.singles, &self.reads].into_iter().flatten()
    }

    /// Returns the inputs: pairs in two files, then single reads, then READS. `other` is an input that is read
    /// at the same time.
    ///
    /// # Errors
    /// If a list cannot be read, the numbers of files of first and second mates differ, READS beside them contain
    /// mates, stdin is given twice, or there are no reads.
    pub(crate) fn segments(&self, other: Option<&Input>) -> Result<Vec<ReadInput>> {
        let [first, second, singles, reads] =
            [&self.mates1, &self.mates2, &self.singles, &self.reads]
                .map(|paths| self.inputs.expand(paths));
        let kind = if self.interleaved { ReadInput::Interleaved } else { ReadInput::Single };
        let (mut segments, reads) = (pairs(first?, second?)?, reads?);
        if !self.interleaved {
            refuse_mates_beside(&segments, &reads)?;
        }
        segments.extend(singles?.into_iter().map(ReadInput::Single));
        segments.extend(reads.into_iter().map(kind));
        refuse_stdin_twice(segments.iter().flat_map(ReadInput::inputs).chain(other))?;
        if segments.is_empty() {
            return usage("give reads: READS, -1 and -2, or -U");
        }
        Ok(segments)
    }

    /// Warns of mates that are given as single reads, unless all single reads are given with `-U`; see
    /// [`hint_at_mates`].
    pub(crate) fn hint_at_mates(&self, segments: &[ReadInput], done: &str, console: &Console) {
        if !self.reads.is_empty() {
            let singles = segments.iter().filter(|segment| !segment.is_paired());
            hint_at_mates(singles.flat_map(ReadInput::inputs), done, console);
        }
    }
}
