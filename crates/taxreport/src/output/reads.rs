//! Reads as they came, those with a taxon and those without.

use std::io::Write;

use merganser_io::{BgzfBlocks, Record, RecordBatch};

use crate::Error;

/// Where reads go. A pair goes to the `mates`, or, where these are not, both mates one after the
/// other to `single`.
#[derive(Default)]
pub struct ReadOutput<'a> {
    /// For reads that stand for themselves.
    pub single: Option<&'a mut (dyn Write + Send)>,
    /// For first mates and second mates.
    pub mates: Option<[&'a mut (dyn Write + Send); 2]>,
}

/// The text of single reads, first mates and second mates.
#[derive(Debug, Default)]
pub struct ReadTexts {
    single: Vec<u8>,
    mates: [Vec<u8>; 2],
}

impl ReadTexts {
    /// Adds a read: header, letters and qualities as they were; a FASTA sequence is one line.
    pub fn add(&mut self, batch: &RecordBatch, read: usize, apart: bool) {
        self.add_by(batch, read, apart, |record, text| {
            record.write(text);
        });
    }

    /// Adds a read, each record as `write` writes it.
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

    /// Makes BGZF of those texts that are to be compressed: of single reads, of first and second mates.
    pub fn compress(&mut self, which: [bool; 3], blocks: &mut BgzfBlocks) {
        let [first, second] = &mut self.mates;
        for (text, _) in [&mut self.single, first, second].into_iter().zip(which).filter(|at| at.1)
        {
            let mut compressed = Vec::with_capacity(text.len() / 2);
            blocks.compress(text, true, &mut compressed);
            *text = compressed;
        }
    }

    /// Of single reads, of first and second mates.
    pub fn texts(&self) -> [&[u8]; 3] {
        [&self.single, &self.mates[0], &self.mates[1]]
    }

    /// Bytes of memory that it keeps.
    pub fn capacity(&self) -> usize {
        self.single.capacity() + self.mates.iter().map(Vec::capacity).sum::<usize>()
    }

    /// Forgets what was written.
    pub fn clear(&mut self) {
        self.single.clear();
        self.mates.iter_mut().for_each(Vec::clear);
    }

    /// Writes all to where it goes.
    ///
    /// # Errors
    /// If an output does not take it.
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
