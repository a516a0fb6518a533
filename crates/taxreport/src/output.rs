//! Output of classification: the lines of reads, and the reads themselves.

mod files;
mod line;
mod read_files;
mod reads;
mod segments;
mod taxon;

pub use files::{OutputFiles, OutputPaths};
pub use line::{LineHead, LineText, Lines, NUMBER, TaxidText};
pub use read_files::{ReadFiles, ReadPaths, ReadStyle};
pub use reads::{ReadForm, ReadOutput, ReadTexts};
pub use segments::{
    SEGMENT_BASES, SEGMENTS_HEADING, Segment, add_segments, compared_clade, segment_count,
    segment_ranges,
};
pub use taxon::{ReadTaxon, TaxonTags};

use std::io::Write;

use merganser_alignments::TemplatePass;
use merganser_io::{Header, Keep, KeepAlignments, RecordBatch};
use merganser_run::{ConfigError, Context};

use crate::Error;

/// The outputs of a classification run.
#[derive(Default)]
pub struct Outputs<'a> {
    /// Receives the lines of reads.
    pub lines: Option<&'a mut (dyn Write + Send)>,
    /// Receives the reads that have a taxon.
    pub classified: Option<ReadOutput<'a>>,
    /// Receives the reads without a taxon.
    pub unclassified: Option<ReadOutput<'a>>,
    /// Receives the table of the segments of reads.
    pub segments: Option<&'a mut (dyn Write + Send)>,
    /// Receives the partial results ([`partial`](crate::partial)) at the end of the run.
    pub partial: Option<&'a mut (dyn Write + Send)>,
    /// The pass over the reads, if they are written as alignments.
    pub pass: Option<TemplatePass<'a>>,
}

/// A checksum that identifies the lines of a shard, whether they are stored compressed or not.
#[derive(Clone, Debug, Default)]
pub struct LinesSum {
    bytes: u64,
    checksum: crc32fast::Hasher,
}

impl LinesSum {
    /// Adds more text.
    pub fn add(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        self.checksum.update(text);
    }

    /// Returns the number of bytes of text and their CRC-32.
    pub fn finish(self) -> (u64, u32) {
        (self.bytes, self.checksum.finalize())
    }
}

/// The kinds of output that are requested.
#[derive(Clone, Debug, Default)]
pub struct Wants<'a> {
    /// Whether lines are written.
    pub lines: bool,
    /// How classified reads are written, if they are.
    pub classified: Option<ReadForm<'a>>,
    /// How unclassified reads are written, if they are.
    pub unclassified: Option<ReadForm<'a>>,
    /// Whether the segments of reads are classified and written.
    pub segments: bool,
    /// Whether partial results are written, for which the sum that identifies the reads is computed.
    pub partial: bool,
    pass: Option<TemplatePass<'a>>,
}

impl<'a> Wants<'a> {
    /// Returns the kinds for which there is an output. `is_share` tells whether only a share of the reads is classified.
    ///
    /// # Errors
    /// If alignments of a share of the reads are to be written in a second pass.
    pub fn of(outputs: &Outputs<'a>, is_share: bool) -> Result<Wants<'a>, ConfigError> {
        if is_share && outputs.pass.as_ref().is_some_and(TemplatePass::collects_names) {
            return Err(ConfigError::new(
                "a shard of reads whose alignments do not lie side by side cannot be written as alignments: bring \
                 those of each read together with samtools collate",
            ));
        }
        Ok(Wants {
            lines: outputs.lines.is_some(),
            classified: outputs.classified.as_ref().map(ReadOutput::form),
            unclassified: outputs.unclassified.as_ref().map(ReadOutput::form),
            segments: outputs.segments.is_some(),
            partial: outputs.partial.is_some(),
            pass: outputs.pass.clone(),
        })
    }

    /// Returns the parts of records that are needed to write them; `qualities` are needed anyway.
    pub fn keep(&self, qualities: bool) -> Keep {
        let whole = self.classified.is_some() || self.unclassified.is_some();
        let header = if whole { Header::Whole } else { Header::Name };
        Keep { header, qualities: whole || qualities }
    }

    /// Returns the alignments to keep beside the records.
    pub fn alignments(&self) -> KeepAlignments {
        self.pass.as_ref().map_or_else(KeepAlignments::default, |pass| pass.keep().clone())
    }

    /// Returns the number of alignments that count as skipped: none if they are written.
    pub fn skipped(&self, skipped: u64) -> u64 {
        self.pass.as_ref().map_or(skipped, |pass| pass.skipped(skipped))
    }

    /// Returns the context of the run without the memory that names of reads take, if they are collected within a limit.
    pub fn context(&self, context: &Context) -> Context {
        let collects = self.pass.as_ref().is_some_and(TemplatePass::collects_names);
        match context.memory.filter(|_| collects) {
            Some(memory) => context.clone().memory(memory / 4 * 3),
            None => context.clone(),
        }
    }

    /// Refuses alignments that cannot be written. It is called for each batch.
    ///
    /// # Errors
    /// If mates are in two files of alignments.
    pub fn check(&self, batch: &RecordBatch) -> Result<(), Error> {
        self.pass.as_ref().map_or(Ok(()), |pass| Ok(pass.check(batch)?))
    }

    /// Ends the texts of a batch.
    ///
    /// # Errors
    /// If compression fails, or there is no memory for the names of reads.
    pub fn end(&self, batch: &RecordBatch, texts: [&mut ReadTexts; 2]) -> Result<(), Error> {
        for text in texts {
            text.compress_alignments()?;
            if let Some(pass) = &self.pass {
                pass.note_values(batch, text.noted())?;
            }
        }
        Ok(())
    }
}

/// The maximum memory of texts that is kept for reuse, in bytes.
const MAX_KEPT: usize = 16 << 20;

/// The output texts of a batch.
#[derive(Debug, Default)]
pub struct Texts {
    /// The lines of the reads.
    pub lines: Lines,
    /// The classified reads.
    pub classified: ReadTexts,
    /// The unclassified reads.
    pub unclassified: ReadTexts,
    /// The lines of segments.
    pub segments: Lines,
}

impl Texts {
    /// Clears all texts.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.classified.clear();
        self.unclassified.clear();
        self.segments.clear();
    }

    /// Whether the memory should be kept for reuse; the memory of a giant read is freed.
    pub fn is_usual(&self) -> bool {
        let read_back = self.classified.capacity() + self.unclassified.capacity();
        self.lines.capacity() + self.segments.capacity() + read_back <= MAX_KEPT
    }

    /// Writes all texts to their outputs.
    ///
    /// # Errors
    /// If an output cannot be written.
    pub fn write(&self, outputs: &mut Outputs<'_>) -> Result<(), Error> {
        if let Some(lines) = &mut outputs.lines {
            lines.write_all(self.lines.text())?;
        }
        if let Some(segments) = &mut outputs.segments {
            segments.write_all(self.segments.text())?;
        }
        if let Some(reads) = &mut outputs.classified {
            self.classified.write(reads)?;
        }
        if let Some(reads) = &mut outputs.unclassified {
            self.unclassified.write(reads)?;
        }
        Ok(())
    }
}
