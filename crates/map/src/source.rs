//! Source of reads and pairs in input order, a batch at a time.
//!
//! The size of batches is fixed and does not depend on threads or memory, so that compressed output is always
//! cut at the same places.

use std::sync::Arc;

use merganser_alignments::{NO_QUALITY, RecordOptions, name_problem};
use merganser_inflate::InflateAhead;
use merganser_io::{Header, Keep, KeepAlignments, ReadInput, ReadShare, RecordBatch, Records};
use merganser_run::Context;

use crate::groups::{KeptTags, tags_of_reader};
use crate::{Config, Error, Format, Strand};

/// The maximum number of reads of a batch, and of bytes of names, letters and qualities.
const BATCH_READS: usize = 2048;
const BATCH_BYTES: usize = 2 << 20;
/// The maximum length of a record, in bytes, with the least memory and with enough. Reads that are too long to be mapped
/// are read and written as unmapped.
const LONGEST_RECORD: [usize; 2] = [2 << 20, 64 << 20];

/// A batch of reads with names and qualities. Mates of pairs alternate.
#[derive(Debug, Default)]
pub(crate) struct ReadBatch {
    records: RecordBatch,
    pub(crate) paired: bool,
}

/// The name, letters and qualities of a read; qualities are empty if they are missing.
pub(crate) type ReadParts<'a> = [&'a [u8]; 3];

impl ReadBatch {
    /// Returns the number of reads; the mates of a pair count separately.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns the number of reads that are reported together: 1, or 2 for pairs.
    pub(crate) fn unit(&self) -> usize {
        self.records.mates()
    }

    /// Returns the number of batches before this one.
    pub(crate) fn number(&self) -> u64 {
        self.records.number()
    }

    /// Returns the number of the input that contains the reads.
    pub(crate) fn segment(&self) -> usize {
        self.records.segment()
    }

    /// Returns a read. Alignments without qualities have the highest ones in FASTQ, but not in SAM.
    pub(crate) fn get(&self, at: usize) -> ReadParts<'_> {
        let record = self.records.record(at);
        let quality = record.quality.unwrap_or_default();
        let are_missing =
            self.records.are_alignments() && quality.iter().all(|&letter| letter == NO_QUALITY);
        [record.name, record.letters, if are_missing { &[] } else { quality }]
    }

    /// Returns the rest of a read's header after its name, if it is kept.
    pub(crate) fn comment(&self, at: usize) -> &[u8] {
        let record = self.records.record(at);
        &record.header[record.name.len()..]
    }

    /// Returns the name of a read as it is reported; mates share one name.
    pub(crate) fn name(&self, at: usize) -> &[u8] {
        self.records.name(at)
    }

    /// Returns the file that contains a read.
    pub(crate) fn file(&self, at: usize) -> String {
        self.records.place(at).0.to_string()
    }

    /// Returns an error about a read, with its file and record.
    pub(crate) fn error(&self, at: usize, problem: impl std::fmt::Display) -> Error {
        let (file, record) = self.records.place(at);
        Error::Input(format!("{file}: record {record}: {problem}"))
    }

    /// Checks that all reads can be mapped and written as `source` requires.
    fn check(&self, source: &ReadSource<'_>) -> Result<(), Error> {
        if self.paired && source.one_strand && self.len() > 0 {
            let problem = "belongs to a pair, whose mates are on both strands: leave `strand` out";
            return Err(self.error(0, problem));
        }
        for at in 0..self.len() {
            let [name, ..] = self.get(at);
            if let Some(problem) = name_problem(name, source.format) {
                return Err(self.error(at, problem));
            }
        }
        Ok(())
    }
}

/// The source of all reads.
pub(crate) struct ReadSource<'r> {
    records: Records,
    /// The format in which records are written.
    format: Format,
    /// Whether only one strand is searched, on which no pair can be concordant.
    one_strand: bool,
    kept: Option<&'r KeptTags>,
}

/// Returns the maximum length of a record, in bytes, with this much memory for each thread.
pub(crate) fn longest_record(memory: u64) -> usize {
    let [least, most] = LONGEST_RECORD;
    // A record is read, parsed, and formatted.
    usize::try_from(memory / 8).unwrap_or(most).clamp(least, most)
}

/// Returns the options for reading with all threads of `context`, and nothing else in memory. Comments of reads are
/// kept only if their tags are.
pub(crate) fn options(config: &Config, context: &Context) -> RecordOptions {
    let cancel = &context.cancel;
    let tags = tags_of_reader(config);
    let header = if tags.is_some() { Header::Whole } else { Header::Name };
    let tags = tags.unwrap_or_default();
    RecordOptions {
        keep: Keep { header, qualities: true },
        keep_alignments: KeepAlignments { tags, ..KeepAlignments::default() },
        batch_records: BATCH_READS,
        batch_bytes: BATCH_BYTES,
        workers: context.threads,
        max_record: longest_record(context.budget() / context.threads as u64),
        find_pairs: !config.single,
        cancel: cancel.clone(),
        warnings: context.warnings.clone(),
        ..RecordOptions::default()
    }
}

impl<'r> ReadSource<'r> {
    /// Opens every input, so that a missing one is an error before the run begins. All threads of `context`
    /// may request batches. If the configuration has a share, only its reads are read. Records may have `longest`
    /// bytes. `kept` checks the read groups of the inputs.
    pub(crate) fn open(
        inputs: &[ReadInput],
        config: &Config,
        context: &Context,
        longest: usize,
        inflater: Option<Arc<dyn InflateAhead>>,
        kept: Option<&'r KeptTags>,
    ) -> Result<ReadSource<'r>, Error> {
        let mut options = options(config, context);
        options.keep_alignments.headers = kept.and_then(KeptTags::headers);
        options.inflater = inflater;
        options.max_record = longest;
        options.reads = config.share.as_ref().map_or(options.reads, ReadShare::reads);
        options.any_names = config.any_names;
        options.phred.offset = config.quality_offset;
        Ok(ReadSource {
            records: Records::open(inputs, options)?,
            format: config.format,
            one_strand: config.strand != Strand::Both,
            kept,
        })
    }

    pub(crate) fn bytes_total(&self) -> Option<u64> {
        self.records.bytes_total()
    }

    /// Returns the number of alignments that have been skipped so far.
    pub(crate) fn skipped_alignments(&self) -> u64 {
        self.records.skipped_alignments()
    }
}

impl merganser_run::engine::Source for ReadSource<'_> {
    type Batch = ReadBatch;
    type Error = Error;

    fn next(&self, batch: &mut ReadBatch) -> Result<Option<u64>, Error> {
        let filled = self.records.next(&mut batch.records).map_err(|error| match error {
            merganser_io::Error::LongRecord { input, record, limit } => {
                let length = merganser_run::format_size(limit);
                Error::Input(format!(
                    "{input}: record {record}: a read of more than {length}: raise `memory`, or leave it out"
                ))
            }
            other => other.into(),
        });
        batch.paired = batch.records.is_paired();
        // If mates are out of step, the records before the error are still checked, so that the first error
        // wins.
        let groups = match self.kept {
            Some(kept) if filled.is_ok() => kept.check(batch.segment()),
            _ => Ok(()),
        };
        batch.check(self).and(filled).and_then(|filled| groups.map(|()| filled))
    }

    fn number(batch: &ReadBatch) -> u64 {
        batch.number()
    }

    fn is_long(&self, batch: &ReadBatch) -> bool {
        batch.records.is_long()
    }

    fn stop(&self, _number: u64) {
        self.records.stop();
    }
}
