//! What is written as reads are classified: their lines, and the reads themselves.

mod line;
mod reads;

pub use line::{LineHead, LineText, NUMBER};
pub use reads::{ReadOutput, ReadTexts};

use std::io::Write;

use crate::Error;

/// Where results go as they come.
#[derive(Default)]
pub struct Outputs<'a> {
    /// The reads' lines.
    pub lines: Option<&'a mut (dyn Write + Send)>,
    /// Reads that have a taxon,
    pub classified: Option<ReadOutput<'a>>,
    /// and those that have none.
    pub unclassified: Option<ReadOutput<'a>>,
    /// Partial results ([`partial`](crate::partial)), at the end of the run.
    pub partial: Option<&'a mut (dyn Write + Send)>,
}

/// What tells the lines of a shard from others, compressed or not.
#[derive(Clone, Debug, Default)]
pub struct LinesSum {
    bytes: u64,
    checksum: crc32fast::Hasher,
}

impl LinesSum {
    /// Takes more of the text.
    pub fn add(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        self.checksum.update(text);
    }

    /// Bytes of text, and their CRC-32.
    pub fn finish(self) -> (u64, u32) {
        (self.bytes, self.checksum.finalize())
    }
}

/// What is to be written of each read.
#[derive(Clone, Copy, Debug)]
pub struct Wants {
    /// Their lines.
    pub lines: bool,
    /// Of classified reads, and whether mates go apart.
    pub classified: Option<bool>,
    /// Of unclassified reads, the same.
    pub unclassified: Option<bool>,
    /// Of all of them, for partial results: what tells them from others.
    pub partial: bool,
}

impl Wants {
    /// What there are outputs for.
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

/// Memory of texts that is kept for the next ones.
const MAX_KEPT: usize = 16 << 20;

/// What is written of a batch.
#[derive(Debug, Default)]
pub struct Texts {
    /// The reads' lines.
    pub lines: Vec<u8>,
    /// Classified reads.
    pub classified: ReadTexts,
    /// The others.
    pub unclassified: ReadTexts,
}

impl Texts {
    /// Forgets what was written.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.classified.clear();
        self.unclassified.clear();
    }

    /// Whether its memory is worth keeping: that of one giant read is not.
    pub fn is_usual(&self) -> bool {
        let read_back = self.classified.capacity() + self.unclassified.capacity();
        self.lines.capacity() + read_back <= MAX_KEPT
    }

    /// Writes all to where it goes.
    ///
    /// # Errors
    /// If an output does not take it.
    pub fn write(&self, outputs: &mut Outputs<'_>) -> Result<(), Error> {
        if let Some(lines) = &mut outputs.lines {
            lines.write_all(&self.lines)?;
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
