//! The reads of a job divided among machines.

use std::ops::Range;

use merganser_io::{Header, Input, Keep, RecordOptions, Segment, batch_starts, fingerprint};
use merganser_run::{Cancel, Progress, Shard};

use crate::Error;

/// The reads that one shard of a job classifies. The shards of a job have all its reads, each once and in
/// order; mates are never parted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadShare {
    shard: Shard,
    job: u64,
    reads: Range<u64>,
    /// It begins and ends where blocks of Kraken 2's input do.
    is_of_blocks: bool,
}

impl ReadShare {
    /// The share of `shard` in the reads of `segments`, which are counted by so many threads: of pairs
    /// in two files, those of the first one. Calls `progress` with one stage, in bytes of input.
    ///
    /// # Errors
    /// If an input is no regular file; as reading; if cancelled.
    pub fn new(
        segments: &[Segment],
        shard: Shard,
        threads: usize,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<ReadShare, Error> {
        let counted: Vec<Segment> = segments.iter().map(first_mates).collect();
        let starts = batch_starts::<Error>(&counted, options(threads, cancel), progress)?;
        let total = starts.last().copied().unwrap_or_default();
        ReadShare::within(segments, shard, shard.share(total))
    }

    /// The share that begins and ends where this is so, of all reads.
    pub(crate) fn within(
        segments: &[Segment],
        shard: Shard,
        reads: Range<u64>,
    ) -> Result<ReadShare, Error> {
        let inputs: Vec<Input> = segments.iter().flat_map(Segment::inputs).cloned().collect();
        let kinds: Vec<u8> = segments.iter().map(kind).collect();
        let job = fingerprint(&inputs)? ^ u64::from(crc32fast::hash(&kinds));
        // Second mates that are left over are for the last shard to complain of.
        let end = if shard.number() == shard.of() { u64::MAX } else { reads.end };
        Ok(ReadShare { shard, job, reads: reads.start..end, is_of_blocks: false })
    }

    /// This one, which begins and ends where blocks of Kraken 2's input do.
    pub(crate) fn of_blocks(self) -> ReadShare {
        ReadShare { is_of_blocks: true, ..self }
    }

    /// Whether it was made [at such blocks](ReadShare::at_blocks).
    pub fn is_of_blocks(&self) -> bool {
        self.is_of_blocks
    }

    /// Which shard of how many.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// The reads by their number in all segments, from 0; a pair is one. The last shard's have no end.
    pub fn reads(&self) -> Range<u64> {
        self.reads.clone()
    }

    /// What tells the job's inputs from others, wherever they lie.
    pub(crate) fn job(&self) -> u64 {
        self.job
    }

    /// Whether the job's first reads are among them.
    pub(crate) fn is_first(&self) -> bool {
        self.shard.number() == 1
    }
}

/// The reads of a share, or all.
pub(crate) fn reads_of(share: Option<&ReadShare>) -> Range<u64> {
    share.map_or(0..u64::MAX, ReadShare::reads)
}

/// How reads are looked at to count them.
pub(crate) fn options(threads: usize, cancel: &Cancel) -> RecordOptions {
    RecordOptions {
        keep: Keep { header: Header::Nothing, qualities: false },
        workers: threads,
        cancel: cancel.clone(),
        ..RecordOptions::default()
    }
}

/// As many reads, with less to look at.
fn first_mates(segment: &Segment) -> Segment {
    match segment {
        Segment::Pair(first, _) => Segment::Single(first.clone()),
        other => other.clone(),
    }
}

fn kind(segment: &Segment) -> u8 {
    match segment {
        Segment::Single(_) => b's',
        Segment::Interleaved(_) => b'i',
        Segment::Pair(..) => b'p',
    }
}
