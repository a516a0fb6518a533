//! Output of classification: the lines of reads, and the reads themselves.

mod files;
mod line;
mod reads;

pub use files::{OutputFiles, OutputPaths, ReadFiles, ReadPaths};
pub use line::{LineHead, LineText, Lines, NUMBER, TaxidText};
pub use reads::{ReadOutput, ReadTexts};

use std::io::Write;

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
    /// Receives the partial results ([`partial`](crate::partial)) at the end of the run.
    pub partial: Option<&'a mut (dyn Write + Send)>,
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
#[derive(Clone, Copy, Debug)]
pub struct Wants {
    /// Whether lines are written.
    pub lines: bool,
    /// Whether classified reads are written; the value is whether mates have separate outputs.
    pub classified: Option<bool>,
    /// Whether unclassified reads are written; the value is whether mates have separate outputs.
    pub unclassified: Option<bool>,
    /// Whether partial results are written, for which the sum that identifies the reads is computed.
    pub partial: bool,
}

impl Wants {
    /// Returns the kinds for which there is an output.
    pub fn of(outputs: &Outputs<'_>) -> Wants {
        let apart = |output: &ReadOutput<'_>| output.mates.is_some();
        Wants {
            lines: outputs.lines.is_some(),
            classified: outputs.classified.as_ref().map(apart),
            unclassified: outputs.unclassified.as_ref().map(apart),
            partial: outputs.partial.is_some(),
        }
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
}

impl Texts {
    /// Clears all texts.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.classified.clear();
        self.unclassified.clear();
    }

    /// Whether the memory should be kept for reuse; the memory of a giant read is freed.
    pub fn is_usual(&self) -> bool {
        let read_back = self.classified.capacity() + self.unclassified.capacity();
        self.lines.capacity() + read_back <= MAX_KEPT
    }

    /// Writes all texts to their outputs.
    ///
    /// # Errors
    /// If an output cannot be written.
    pub fn write(&self, outputs: &mut Outputs<'_>) -> Result<(), Error> {
        if let Some(lines) = &mut outputs.lines {
            lines.write_all(self.lines.text())?;
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
