//! Reads and pairs in their order, a batch at a time.
//!
//! A batch is full with a fixed number of reads or bytes, whatever threads and memory there are, so
//! that compressed output is cut at the same places.

use merganser_alignments::RecordOptions;
use merganser_io::{Keep, ReadInput, ReadShare, RecordBatch, Records};
use merganser_run::{Cancel, Resources};

use crate::{Config, Error, Format, MAX_READ, Strand};

/// A batch is full with so many reads or bytes of names, letters and qualities.
const BATCH_READS: usize = 2048;
const BATCH_BYTES: usize = 2 << 20;
/// The longest record, far longer than that of the longest read: those between are refused by their
/// length, longer ones as soon as so much of them has been read.
const LONGEST_RECORD: usize = 2 << 20;
/// The longest name that BAM can hold.
const MAX_NAME: usize = 254;

/// Reads with names and qualities, one after the other; of pairs the mates in turn.
#[derive(Debug, Default)]
pub(crate) struct ReadBatch {
    records: RecordBatch,
    pub(crate) paired: bool,
}

/// A read: name, letters, qualities (empty if there are none).
pub(crate) type ReadParts<'a> = [&'a [u8]; 3];

impl ReadBatch {
    /// Reads; mates count one each.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Reads of a unit that is reported together: a read or the two of a pair.
    pub(crate) fn unit(&self) -> usize {
        self.records.mates()
    }

    /// How many batches come before this one.
    pub(crate) fn number(&self) -> u64 {
        self.records.number()
    }

    /// The number of the input that its reads are of.
    pub(crate) fn segment(&self) -> usize {
        self.records.segment()
    }

    pub(crate) fn get(&self, at: usize) -> ReadParts<'_> {
        let record = self.records.record(at);
        [record.name, record.letters, record.quality.unwrap_or_default()]
    }

    /// The name of a read as it is reported: mates share theirs.
    pub(crate) fn name(&self, at: usize) -> &[u8] {
        self.records.name(at)
    }

    /// The file that a read is of.
    pub(crate) fn file(&self, at: usize) -> String {
        self.records.place(at).0.to_string()
    }

    /// What is wrong with a read, with its place.
    pub(crate) fn error(&self, at: usize, problem: impl std::fmt::Display) -> Error {
        let (file, record) = self.records.place(at);
        Error::Input(format!("{file}: record {record}: {problem}"))
    }

    /// Sees to it that all reads can be mapped and written as `source` wants them.
    fn check(&self, source: &ReadSource) -> Result<(), Error> {
        if self.paired && source.one_strand && self.len() > 0 {
            let problem = "is of a pair, and mates lie on both strands: leave `strand` out";
            return Err(self.error(0, problem));
        }
        for at in 0..self.len() {
            let [name, letters, _] = self.get(at);
            if letters.len() > MAX_READ {
                let length = letters.len();
                let problem = format!("a read of {length} bases: reads may have up to {MAX_READ}");
                return Err(self.error(at, problem));
            }
            if let Some(problem) = name_problem(name, source.text) {
                return Err(self.error(at, problem));
            }
            if name.len() > MAX_NAME {
                let problem = format!("a name of {} bytes: BAM allows {MAX_NAME}", name.len());
                return Err(self.error(at, problem));
            }
        }
        Ok(())
    }
}

/// Why no record can have a name: in text, a line that begins with `@` is one of the header.
fn name_problem(name: &[u8], text: bool) -> Option<String> {
    let shown = || String::from_utf8_lossy(name).into_owned();
    if name.iter().fold(false, |found, byte| found | byte.is_ascii_control()) {
        return Some(format!("the name {} has control characters: rename the read", shown()));
    }
    (text && name.starts_with(b"@")).then(|| {
        format!(
            "the name {} would begin a line of SAM with @, which is one of its header: write BAM (-o \
             FILE.bam), or rename the read",
            shown()
        )
    })
}

/// All reads.
pub(crate) struct ReadSource {
    records: Records,
    /// Records are written as text.
    text: bool,
    /// One strand of the reference is searched, on which no pair lies.
    one_strand: bool,
}

/// How reads are read by all threads of `resources`.
pub(crate) fn options(resources: &Resources, cancel: &Cancel) -> RecordOptions {
    RecordOptions {
        keep: Keep { qualities: true, ..Keep::default() },
        batch_records: BATCH_READS,
        batch_bytes: BATCH_BYTES,
        workers: resources.threads,
        max_record: LONGEST_RECORD,
        find_pairs: true,
        cancel: cancel.clone(),
        warnings: resources.warnings.clone(),
        ..RecordOptions::default()
    }
}

impl ReadSource {
    /// Looks at every input, so that one that is missing ends the run before it begins. All threads of
    /// `resources` will ask for batches. Of a share, its reads alone.
    pub(crate) fn open(
        inputs: &[ReadInput],
        config: &Config,
        resources: &Resources,
        cancel: &Cancel,
    ) -> Result<ReadSource, Error> {
        let mut options = options(resources, cancel);
        options.reads = config.share.as_ref().map_or(options.reads, ReadShare::reads);
        options.any_names = config.any_names;
        options.phred.offset = config.quality_offset;
        Ok(ReadSource {
            records: Records::open(inputs, options)?,
            text: config.format == Format::Sam,
            one_strand: config.strand != Strand::Both,
        })
    }

    pub(crate) fn bytes_total(&self) -> Option<u64> {
        self.records.bytes_total()
    }

    /// Alignments that were passed over so far.
    pub(crate) fn skipped_alignments(&self) -> u64 {
        self.records.skipped_alignments()
    }
}

impl merganser_run::engine::Source for ReadSource {
    type Batch = ReadBatch;
    type Error = Error;

    fn next(&self, batch: &mut ReadBatch) -> Result<Option<u64>, Error> {
        let filled = self.records.next(&mut batch.records).map_err(|error| match error {
            merganser_io::Error::LongRecord { input, record, limit } => {
                let length = merganser_run::format_size(limit);
                Error::Input(format!(
                    "{input}: record {record}: a read of more than {length}: reads may have up to \
                     {MAX_READ} bases"
                ))
            }
            other => other.into(),
        });
        batch.paired = batch.records.is_paired();
        // With mates out of step, those before them are there.
        batch.check(self).and(filled)
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
