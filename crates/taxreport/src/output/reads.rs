//! Output of reads as they were read, separately for classified and unclassified reads.

use std::io::Write;

use merganser_alignments::{Compressor, KeptWriter, SinkForm, SinkWriter};
use merganser_io::{BgzfBlocks, Record, RecordBatch};

use super::{ReadTaxon, TaxonTags};
use crate::Error;

/// The outputs of reads of one kind. Alignments go to `alignments`. Otherwise, the mates of a pair go to `mates` or,
/// without it, one after the other to `single`.
#[derive(Default)]
pub struct ReadOutput<'a> {
    /// Receives single reads.
    pub single: Option<&'a mut (dyn Write + Send)>,
    /// Receives first mates and second mates.
    pub mates: Option<[&'a mut (dyn Write + Send); 2]>,
    /// Receives alignments.
    pub alignments: Option<&'a mut SinkWriter>,
    /// Receives the taxa of the reads, if they are written later, in a second pass.
    pub taxa: Option<&'a TaxonTags>,
}

/// How reads of one kind are written.
#[derive(Clone, Debug, Default)]
pub struct ReadForm<'a> {
    /// Whether mates have separate outputs.
    pub apart: bool,
    /// The form of alignments, if the reads are written as such.
    pub alignments: Option<SinkForm>,
    /// Receives the taxa of the reads, if they are not written in this pass.
    pub taxa: Option<&'a TaxonTags>,
}

impl<'a> ReadOutput<'a> {
    /// Returns how the reads are written.
    pub fn form(&self) -> ReadForm<'a> {
        let alignments = self.alignments.as_ref().map(|writer| writer.form().clone());
        ReadForm { apart: self.mates.is_some(), alignments, taxa: self.taxa }
    }
}

/// The text of single reads or alignments, of first mates, and of second mates.
#[derive(Debug, Default)]
pub struct ReadTexts {
    single: Vec<u8>,
    mates: [Vec<u8>; 2],
    /// The compressor of alignments, once there are any.
    compressor: Option<Compressor>,
    /// The reads that are written in a second pass, with their taxids.
    noted: Vec<(usize, u32)>,
}

impl ReadTexts {
    /// Adds a read in this form. As text, it has its original header, letters and qualities, and a FASTA sequence is on
    /// one line; alignments get the tags of the read's taxon.
    ///
    /// # Errors
    /// If an alignment cannot be written in the format of the output.
    pub fn add(
        &mut self,
        batch: &RecordBatch,
        read: usize,
        form: &ReadForm<'_>,
        taxon: ReadTaxon<'_>,
    ) -> Result<(), Error> {
        self.add_with(batch, read, form, taxon, |record, text| {
            record.write(text);
        })
    }

    /// Adds a read as [`add`](Self::add) does; `write` writes each of its records as text.
    ///
    /// # Errors
    /// Fails as [`add`](Self::add) does.
    pub fn add_with(
        &mut self,
        batch: &RecordBatch,
        read: usize,
        form: &ReadForm<'_>,
        taxon: ReadTaxon<'_>,
        write: impl Fn(&Record<'_>, &mut Vec<u8>),
    ) -> Result<(), Error> {
        if let Some(taxa) = form.taxa {
            taxa.add(taxon);
            self.noted.push((read, taxon.taxid));
            return Ok(());
        }
        let Some(alignments) = &form.alignments else {
            self.add_by(batch, read, form.apart, write);
            return Ok(());
        };
        let Some(writer) = alignments.alignments() else { return Ok(()) };
        self.compressor.get_or_insert_with(|| alignments.compressor());
        let (first, tags) = (read * batch.mates(), taxon.tags());
        for at in first..first + batch.mates() {
            writer.put_tagged(batch, at, &tags, &mut self.single)?;
        }
        Ok(())
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

    /// Compresses the text of alignments, if there are any.
    ///
    /// # Errors
    /// If compression fails.
    pub(super) fn compress_alignments(&mut self) -> Result<(), Error> {
        match &mut self.compressor {
            Some(compressor) => Ok(compressor.compress(&mut self.single)?),
            None => Ok(()),
        }
    }

    /// Returns the reads that are written in a second pass, with their taxids.
    pub(super) fn noted(&self) -> impl Iterator<Item = (usize, u32)> {
        self.noted.iter().copied()
    }

    /// Compresses the text of alignments.
    ///
    /// # Errors
    /// If compression fails.
    pub fn compress_with(&mut self, compressor: &mut Compressor) -> Result<(), Error> {
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
        self.noted.clear();
    }

    /// Writes all texts to their outputs.
    ///
    /// # Errors
    /// If an output cannot be written.
    pub fn write(&self, output: &mut ReadOutput<'_>) -> Result<(), Error> {
        if let Some(writer) = &mut output.alignments {
            return Ok(writer.write(&self.single)?);
        }
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
