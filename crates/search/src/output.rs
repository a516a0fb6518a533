//! Outputs of hits, in the order of the texts and of the hits in them.

mod alignments;
mod counts;
mod line;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use merganser_io::{Output, OutputFormat, finish_all};

use crate::{Config, Error, Hit, Pattern};
use alignments::Alignments;
pub(crate) use alignments::{TextLengths, check_names};
pub use counts::write_counts;
pub(crate) use line::{HEADER, append, put_directed, put_record};

merganser_run::named! {
    /// The format of the hits.
    #[derive(Default)]
    pub enum Format {
        /// A header, then a line per hit with all columns.
        #[default]
        Tsv = "tsv",
        /// BED: contig, start, end, pattern, edits, strand.
        Bed = "bed",
        /// SAM: the patterns as reads, aligned to the texts.
        Sam = "sam",
        /// BAM: SAM in binary form, compressed as BGZF.
        Bam = "bam",
        /// FASTA: the letters of the hits, in the direction of the pattern.
        Fasta = "fasta",
    }
}

impl Format {
    /// Returns the format that the name of a file requests; without one, TSV.
    pub fn of_name(path: &Path) -> Format {
        let asked = OutputFormat::of_name(path);
        let find = |format: &&Format| Some(format.suffix()) == asked;
        Format::ALL.iter().find(find).copied().unwrap_or_default()
    }

    /// Returns the format in the table of suffixes.
    pub fn suffix(self) -> OutputFormat {
        match self {
            Format::Tsv => OutputFormat::Tsv,
            Format::Bed => OutputFormat::Bed,
            Format::Sam => OutputFormat::Sam,
            Format::Bam => OutputFormat::Bam,
            Format::Fasta => OutputFormat::Fasta,
        }
    }

    /// Returns whether the hits are alignments, whose header has the lengths of all texts. The texts are read twice then.
    pub fn is_of_alignments(self) -> bool {
        matches!(self, Format::Sam | Format::Bam)
    }
}

/// The open output of a run.
#[derive(Debug)]
pub struct Writer {
    format: Format,
    command: String,
    output: Output,
    begun: bool,
    alignments: Option<Alignments>,
    text: Vec<u8>,
}

impl Writer {
    /// Creates a writer to an open output.
    pub fn new(format: Format, output: Output) -> Writer {
        let (command, text) = (String::new(), Vec::new());
        Writer { format, command, output, begun: false, alignments: None, text }
    }

    /// Adds the command that the header of SAM and BAM names. It must not depend on the resources of the run.
    #[must_use]
    pub fn command(self, command: impl Into<String>) -> Writer {
        Writer { command: command.into(), ..self }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Takes the lengths of the texts, which alignments need.
    pub(crate) fn measured(&mut self, lengths: TextLengths, config: &Config) {
        self.alignments = Some(Alignments::new(self.format, lengths, config));
    }

    /// Writes hits of a text, which are in order. `number` counts the texts from 0.
    pub(crate) fn write(
        &mut self,
        patterns: &[Pattern],
        number: u64,
        name: &[u8],
        hits: &[Hit],
    ) -> Result<(), Error> {
        self.begin()?;
        if let Some(alignments) = &self.alignments {
            alignments.check(number, name, hits)?;
        }
        for hit in hits {
            match &mut self.alignments {
                Some(alignments) => alignments.append(patterns, number, hit, &mut self.text),
                None => append(self.format, patterns, name, hit, &mut self.text),
            }
            if self.text.len() > 1 << 16 {
                self.flush(false)?;
            }
        }
        self.flush(false)
    }

    /// Writes the header before the first hits. It is not written earlier, so that an error at the beginning of the
    /// input leaves nothing on stdout.
    fn begin(&mut self) -> Result<(), Error> {
        if !self.begun {
            match &self.alignments {
                Some(alignments) => self.text = alignments.header(&self.command),
                None if self.format == Format::Tsv => self.text.extend_from_slice(HEADER),
                None => {}
            }
        }
        self.begun = true;
        Ok(())
    }

    /// Writes the text. That of BAM is written in whole blocks, except for `all`.
    fn flush(&mut self, all: bool) -> Result<(), Error> {
        match &mut self.alignments {
            Some(alignments) => alignments.write(&mut self.text, all, &mut self.output)?,
            None => {
                self.output.write_all(&self.text)?;
                self.text.clear();
            }
        }
        Ok(())
    }

    /// Completes the output, and returns the time of syncing it to disk.
    pub(crate) fn finish(mut self) -> Result<Duration, Error> {
        self.begin()?;
        self.flush(true)?;
        Ok(finish_all([self.output])?)
    }
}
