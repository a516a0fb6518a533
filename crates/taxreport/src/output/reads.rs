//! Output of reads as they were read, separately for classified and unclassified reads.

use std::io::Write;

use merganser_alignments::{Compressor, KeptWriter};
use merganser_io::{BgzfBlocks, Record, RecordBatch};

use crate::Error;

/// The outputs of reads of one kind. The mates of a pair go to `mates` or, without it, one after the other to
/// `single`.
#[derive(Default)]
pub struct ReadOutput<'a> {
    /// Receives single reads.
    pub single: Option<&'a mut (dyn Write + Send)>,
    /// Receives first mates and second mates.
    pub mates: Option<[&'a mut (dyn Write + Send); 2]>,
}

/// The text of single reads, first mates and second mates.
#[derive(Debug, Default)]
pub struct ReadTexts {
    single: Vec<u8>,
    mates: [Vec<u8>; 2],
}

impl ReadTexts {
    /// Adds a read with its original header, letters and qualities; a FASTA sequence is on one line.
    pub fn add(&mut self, batch: &RecordBatch, read: usize, apart: bool) {
        self.add_by(batch, read, apart, |record, text| {
            record.write(text);
        });
    }

    /// Adds a read; `write` writes each of its records.
    pub fn add_by(
        &mut self,
        batch: &RecordBatch,
        read: usize,
        apart: bool,
        write: impl Fn(&Record<'_>, &mut Vec<u8>),
    ) {
        for mate in 0..batch.mates() {
            let record = batch.record(read * batch.mates() + mate);
            let text = match batch.is_paired() && apart {
                true => &mut self.mates[mate],
                false => &mut self.single,
            };
            write(&record, text);
        }
    }

    /// Adds the alignments of a read.
    ///
    /// # Errors
    /// If they cannot be written in the format of the output.
    pub fn add_alignments(
        &mut self,
        batch: &RecordBatch,
        read: usize,
        writer: &KeptWriter,
    ) -> Result<(), Error> {
        let first = read * batch.mates();
        for at in first..first + batch.mates() {
            writer.put(batch, at, &mut self.single)?;
        }
        Ok(())
    }

    /// Compresses the text of alignments.
    ///
    /// # Errors
    /// If compression fails.
    pub fn compress_alignments(&mut self, compressor: &mut Compressor) -> Result<(), Error> {
        Ok(compressor.compress(&mut self.single)?)
    }

    /// Compresses the selected texts as BGZF: single reads, first mates, second mates.
    pub fn compress(&mut self, which: [bool; 3], blocks: &mut BgzfBlocks) {
        let [first, second] = &mut self.mates;
        for (text, _) in [&mut self.single, first, second].into_iter().zip(which).filter(|at| at.1)
        {
            let mut compressed = Vec::with_capacity(text.len() / 2);
            blocks.compress(text, true, &mut compressed);
            *text = compressed;
        }
    }

    /// Returns the texts of single reads, first mates and second mates.
    pub fn texts(&self) -> [&[u8]; 3] {
        [&self.single, &self.mates[0], &self.mates[1]]
    }

    /// Returns the memory of the texts in bytes.
    pub fn capacity(&self) -> usize {
        self.single.capacity() + self.mates.iter().map(Vec::capacity).sum::<usize>()
    }

    /// Clears all texts.
    pub fn clear(&mut self) {
        self.single.clear();
        self.mates.iter_mut().for_each(Vec::clear);
    }

    /// Writes all texts to their outputs.
    ///
    /// # Errors
    /// If an output cannot be written.
    pub fn write(&self, output: &mut ReadOutput<'_>) -> Result<(), Error> {
        if let Some(single) = &mut output.single {
            single.write_all(&self.single)?;
        }
        if let Some(mates) = &mut output.mates {
            for (output, text) in mates.iter_mut().zip(&self.mates) {
                output.write_all(text)?;
            }
        }
        Ok(())
    }
}
