//! A value for each position of sequences, as bedGraph or wig.

use std::io::Write;
use std::path::Path;

use merganser_io::{Output, OutputFormat, put_decimal};

use crate::Error;

/// The format of a track of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueFormat {
    /// bedGraph: sequence, start, end (0-based, half open) and value; neighbouring positions with the same value share
    /// a line.
    #[default]
    BedGraph,
    /// wig with `fixedStep` and a line for each position.
    Wig,
}

impl ValueFormat {
    /// Returns the format that the name of a file requests; bedGraph if it requests none.
    pub fn of_name(path: &Path) -> ValueFormat {
        match OutputFormat::of_name(path) {
            Some(OutputFormat::Wig) => ValueFormat::Wig,
            _ => ValueFormat::BedGraph,
        }
    }
}

/// A track of values.
pub(super) struct Values {
    output: Output,
    format: ValueFormat,
    name: Vec<u8>,
    /// The run that is not written yet: its start, its end, and its count, which decides the value.
    run: (u64, u64, u32),
    /// The text of the value of the run.
    value: Vec<u8>,
    /// The position after the last written one, if wig continues there.
    written: Option<u64>,
    text: Vec<u8>,
}

/// The size, in bytes, at which the text is written.
const TEXT: usize = 1 << 16;

impl Values {
    pub(super) fn new(output: Output, format: ValueFormat) -> Values {
        let (name, value, text) = (Vec::new(), Vec::new(), Vec::new());
        Values { output, format, name, run: (0, 0, 0), value, written: None, text }
    }

    /// Begins a sequence.
    pub(super) fn begin(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
        self.written = None;
    }

    /// Adds positions with the same count, after all earlier ones; `put` appends the value for it.
    pub(super) fn add(
        &mut self,
        start: u64,
        places: u64,
        count: u32,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        let (first, end, own) = self.run;
        if end == start && end > first && own == count {
            self.run.1 += places;
            return Ok(());
        }
        self.flush()?;
        self.run = (start, start + places, count);
        self.value.clear();
        put(&mut self.value);
        Ok(())
    }

    /// Ends a sequence.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Error> {
        let (start, end, _) = std::mem::take(&mut self.run);
        if start == end {
            return Ok(());
        }
        match self.format {
            ValueFormat::BedGraph => {
                self.text.extend_from_slice(&self.name);
                for number in [start, end] {
                    self.text.push(b'\t');
                    put_decimal(number, &mut self.text);
                }
                self.text.push(b'\t');
                self.text.extend_from_slice(&self.value);
                self.text.push(b'\n');
                self.write_above(TEXT)
            }
            ValueFormat::Wig => self.put_wig(start, end),
        }
    }

    fn put_wig(&mut self, start: u64, end: u64) -> Result<(), Error> {
        if self.written != Some(start) {
            self.text.extend_from_slice(b"fixedStep chrom=");
            self.text.extend_from_slice(&self.name);
            self.text.extend_from_slice(b" start=");
            put_decimal(start + 1, &mut self.text);
            self.text.extend_from_slice(b" step=1\n");
        }
        self.written = Some(end);
        for _ in start..end {
            self.text.extend_from_slice(&self.value);
            self.text.push(b'\n');
            self.write_above(TEXT)?;
        }
        Ok(())
    }

    fn write_above(&mut self, bytes: usize) -> Result<(), Error> {
        if self.text.len() > bytes {
            self.output.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Writes the rest, and returns the output.
    pub(super) fn finish(mut self) -> Result<Output, Error> {
        self.write_above(0)?;
        Ok(self.output)
    }
}
