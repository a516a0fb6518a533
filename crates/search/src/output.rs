//! Outputs of hits, in the order of the texts and of the hits in them.

mod alignments;
mod counts;
mod line;
mod off_targets;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use merganser_io::{Output, OutputFormat, finish_all};
use merganser_run::ConfigError;

use crate::{Config, Error, Hit, Pattern, Score};
use alignments::Alignments;
pub(crate) use alignments::{TextLengths, check_names};
pub use counts::write_counts;
pub(crate) use line::{HEADER, append, put_record};
pub use off_targets::OffTargets;

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
    score: Option<Score>,
    off_targets: Option<OffTargets>,
    text: Vec<u8>,
}

impl Writer {
    /// Creates a writer to an open output.
    pub fn new(format: Format, output: Output) -> Writer {
        let (command, text) = (String::new(), Vec::new());
        let (score, off_targets) = (None, None);
        Writer { format, command, output, begun: false, alignments: None, score, off_targets, text }
    }

    /// Adds a score to each hit, as the last column of TSV.
    #[must_use]
    pub fn score(self, score: Option<Score>) -> Writer {
        Writer { score, ..self }
    }

    /// Also counts the hits of each pattern by PAM and edits, for [`Outcome::off_targets`](crate::Outcome::off_targets).
    #[must_use]
    pub fn count_off_targets(self) -> Writer {
        Writer { off_targets: Some(OffTargets::default()), ..self }
    }

    /// Checks the options of the output, and prepares the table of off-targets, which may take `memory` bytes.
    ///
    /// # Errors
    /// If hits have no such score, or the format has no column for it; if there is no PAM to count by.
    pub(crate) fn prepare(
        &mut self,
        config: &Config,
        patterns: &[Pattern],
        memory: u64,
    ) -> Result<(), Error> {
        let wrong = |problem| Err(Error::Config(ConfigError::new(problem)));
        if let Some(score) = self.score {
            if self.format != Format::Tsv {
                return wrong("`score` is a column of TSV: choose this `format`");
            }
            score.check(config, patterns)?;
        }
        if let Some(off_targets) = &mut self.off_targets {
            if config.pam.is_none() {
                return wrong("`off_targets` requires `pam`");
            }
            *off_targets = OffTargets::new(config, patterns, memory);
        }
        Ok(())
    }

    pub(crate) fn take_off_targets(&mut self) -> Option<OffTargets> {
        self.off_targets.take()
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
        if let Some(off_targets) = &mut self.off_targets {
            off_targets.add(hits)?;
        }
        for hit in hits {
            match &mut self.alignments {
                Some(alignments) => alignments.append(patterns, number, hit, &mut self.text),
                None => append(self.format, patterns, name, hit, self.score, &mut self.text),
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
                None if self.format == Format::Tsv => {
                    self.text.extend_from_slice(HEADER);
                    let score = self.score.map(|score| format!("\t{score}"));
                    self.text.extend_from_slice(score.unwrap_or_default().as_bytes());
                    self.text.push(b'\n');
                }
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
