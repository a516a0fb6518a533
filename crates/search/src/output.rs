//! Outputs of hits, in the order of the texts and of the hits in them.

mod line;

use std::io::Write;
use std::time::Duration;

use merganser_io::{Output, finish_all};

use crate::{Error, Hit, Pattern};
pub(crate) use line::{HEADER, append};

merganser_run::named! {
    /// The format of the hits.
    #[derive(Default)]
    pub enum Format {
        /// A header, then a line per hit with all columns.
        #[default]
        Tsv = "tsv",
        /// BED: contig, start, end, pattern, edits, strand.
        Bed = "bed",
    }
}

/// The open output of a run.
#[derive(Debug)]
pub struct Writer {
    format: Format,
    output: Output,
    begun: bool,
    text: Vec<u8>,
}

impl Writer {
    /// Creates a writer to an open output.
    pub fn new(format: Format, output: Output) -> Writer {
        Writer { format, output, begun: false, text: Vec::new() }
    }

    /// Writes the hits of a sequence, which are in order.
    pub(crate) fn write(
        &mut self,
        patterns: &[Pattern],
        sequence: &[u8],
        hits: &[Hit],
    ) -> Result<(), Error> {
        self.begin()?;
        for hit in hits {
            append(self.format, patterns, sequence, hit, &mut self.text);
            if self.text.len() > 1 << 16 {
                self.flush()?;
            }
        }
        self.flush()
    }

    /// Writes the header before the first hits. It is not written earlier, so that an error at the beginning of the
    /// input leaves nothing on stdout.
    fn begin(&mut self) -> Result<(), Error> {
        if !self.begun && self.format == Format::Tsv {
            self.output.write_all(HEADER)?;
        }
        self.begun = true;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.output.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Completes the output, and returns the time of syncing it to disk.
    pub(crate) fn finish(mut self) -> Result<Duration, Error> {
        self.begin()?;
        Ok(finish_all([self.output])?)
    }
}
