//! Joins the output lines of shards.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use merganser_run::Cancel;

use super::JoinedResults;
use crate::Error;
use merganser_taxreport::output::LinesSum;

/// The number of bytes read at a time.
const BLOCK: usize = 1 << 18;

impl JoinedResults {
    /// Returns the number of shards whose lines can be joined; 0 for results of whole runs.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Writes the lines of all shards in the order of the reads, which gives the text of one run. `lines` are the
    /// shards' files, plain or compressed, in the order in which the results were given.
    ///
    /// # Errors
    /// If the number of files is not that of the shards; if a file cannot be read, or is not what its shard wrote;
    /// if writing fails; if cancelled.
    pub fn join_lines(
        &self,
        lines: &[PathBuf],
        output: &mut dyn Write,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        if lines.len() != self.shards.len() {
            let (files, shards) = (lines.len(), self.shards.len());
            return Err(Error::Input(format!(
                "there are {files} files of lines and {shards} shards: give the lines of each shard, in \
                 the order of their results"
            )));
        }
        for (at, own) in &self.shards {
            let path = &lines[*at];
            if copy(path, output, cancel)?.finish() != own.lines {
                let what = format!(
                    "does not have the lines that shard {} wrote: give the lines of each shard, in the \
                     order of their results",
                    own.of.shard
                );
                return Err(Error::content(path, what));
            }
        }
        Ok(())
    }
}

/// Writes the text of a file to `output` and returns its checksum.
fn copy(path: &Path, output: &mut dyn Write, cancel: &Cancel) -> Result<LinesSum, Error> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let mut text = BufReader::with_capacity(BLOCK, merganser_io::open_text(path).map_err(failed)?);
    let mut sum = LinesSum::default();
    loop {
        cancel.check()?;
        let block = text.fill_buf().map_err(failed)?;
        if block.is_empty() {
            return Ok(sum);
        }
        sum.add(block);
        output.write_all(block)?;
        let read = block.len();
        text.consume(read);
    }
}
