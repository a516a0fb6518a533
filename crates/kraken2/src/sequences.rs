//! Output of the classified and of the unclassified reads to separate files.

use merganser_io::{Record, RecordBatch, put_decimal};

use super::batch::Kraken2Batch;
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;
use merganser_taxreport::output::{ReadTaxon, ReadTexts, Wants};

/// The reads of a batch, as text or as alignments. Text is FASTQ as it was read, with a bare `+`, or FASTA with the
/// sequence on one line. Bases of low quality are written as the `x` that replaced them.
#[derive(Debug, Default)]
pub(super) struct Kraken2Sequences {
    /// Classified reads, with ` kraken:taxid|` and the taxid after the name.
    pub(super) classified: ReadTexts,
    /// Unclassified reads, with their original header.
    pub(super) unclassified: ReadTexts,
}

impl Kraken2Sequences {
    /// Makes the text of a batch's reads from its results. Headers must have been kept whole if reads are
    /// written.
    ///
    /// # Errors
    /// If a read cannot be written as an alignment.
    pub(super) fn refill(
        &mut self,
        tree: &Kraken2Taxonomy,
        batch: &RecordBatch,
        results: &Kraken2Batch,
        wants: &Wants<'_>,
    ) -> Result<(), Error> {
        self.classified.clear();
        self.unclassified.clear();
        wants.check(batch)?;
        for (read, &call) in results.calls().iter().enumerate() {
            match (call, &wants.classified, &wants.unclassified) {
                (0, _, Some(form)) => {
                    self.unclassified.add(batch, read, form, ReadTaxon::NONE)?;
                }
                (1.., Some(form), _) => {
                    let taxon = ReadTaxon { taxid: tree.taxid(call), name: tree.name(call) };
                    let write = |record: &Record<'_>, text: &mut Vec<u8>| {
                        write_classified(record, taxon.taxid, text);
                    };
                    self.classified.add_with(batch, read, form, taxon, write)?;
                }
                _ => {}
            }
        }
        Ok(wants.end(batch, [&mut self.classified, &mut self.unclassified])?)
    }

    /// Returns the memory that the texts occupy, in bytes.
    pub(super) fn capacity(&self) -> usize {
        self.classified.capacity() + self.unclassified.capacity()
    }
}

/// Writes a record with the taxid between its name and the rest of its header.
fn write_classified(record: &Record<'_>, taxid: u32, text: &mut Vec<u8>) {
    text.push(if record.quality.is_some() { b'@' } else { b'>' });
    let (name, comment) = record.header.split_at(record.name.len().min(record.header.len()));
    text.extend_from_slice(name);
    text.extend_from_slice(b" kraken:taxid|");
    put_decimal(u64::from(taxid), text);
    let comment = comment.trim_ascii();
    if !comment.is_empty() {
        text.push(b' ');
        text.extend_from_slice(comment);
    }
    text.push(b'\n');
    text.extend_from_slice(record.letters);
    text.push(b'\n');
    if let Some(quality) = record.quality {
        text.extend_from_slice(b"+\n");
        text.extend_from_slice(quality);
        text.push(b'\n');
    }
}
