//! Converts FASTA and FASTQ to rows of reads.

use std::io::{self, BufRead};

use arrow_array::builder::StringBuilder;
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::rows::Rows;

/// The columns of reads.
#[derive(Default)]
pub(super) struct KeptReads {
    names: StringBuilder,
    sequences: StringBuilder,
    qualities: StringBuilder,
}

impl KeptReads {
    /// Adds all records of a text with one line per sequence.
    pub(super) fn read(mut self, text: &mut impl BufRead) -> io::Result<KeptReads> {
        let mut header = Vec::new();
        let mut line = Vec::new();
        while text.read_until(b'\n', &mut header)? > 0 {
            let is_fastq = header[0] == b'@';
            let name = header[1..].split(u8::is_ascii_whitespace).next().unwrap_or_default();
            self.names.append_value(String::from_utf8_lossy(name));
            next(text, &mut line)?;
            self.sequences.append_value(String::from_utf8_lossy(&line));
            if is_fastq {
                next(text, &mut line)?;
                next(text, &mut line)?;
                self.qualities.append_value(String::from_utf8_lossy(&line));
            } else {
                self.qualities.append_null();
            }
            header.clear();
        }
        Ok(self)
    }

    /// Returns the rows.
    pub(super) fn rows(mut self) -> PyResult<Rows> {
        Columns::new()
            .with("read", self.names.finish())
            .with("sequence", self.sequences.finish())
            .optional("quality", self.qualities.finish())
            .rows()
    }
}

/// Reads the next line, without its line end.
fn next(text: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<()> {
    line.clear();
    text.read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(())
}
