//! Reads that are written to other files by whether they were classified.

use merganser_io::{Record, RecordBatch, put_decimal};

use super::taxonomy::Kraken2Taxonomy;
use super::worker::Kraken2Batch;

/// Reads of a batch as text, those of second mates apart: FASTQ as it was read, with a bare `+`, or
/// FASTA with the sequence in one line. Bases of low quality are the `x` that they were replaced by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kraken2Sequences {
    /// Classified reads or first mates; behind the name stands ` kraken:taxid|` and the taxid.
    pub classified: [Vec<u8>; 2],
    /// The others, with the header as it was.
    pub unclassified: [Vec<u8>; 2],
}

impl Kraken2Sequences {
    /// Makes the text of a batch's reads by what came of them; headers must have been kept whole.
    pub fn refill(&mut self, tree: &Kraken2Taxonomy, batch: &RecordBatch, results: &Kraken2Batch) {
        let all = self.classified.iter_mut().chain(&mut self.unclassified);
        all.for_each(Vec::clear);
        for (read, &call) in results.calls().iter().enumerate() {
            for mate in 0..batch.mates() {
                let record = batch.record(read * batch.mates() + mate);
                if call == 0 {
                    record.write(&mut self.unclassified[mate]);
                } else {
                    write_classified(&record, tree.taxid(call), &mut self.classified[mate]);
                }
            }
        }
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
