//! The reads of a job divided among machines.

use std::ops::Range;

use merganser_alignments::RecordOptions;
use merganser_io::{Header, Keep, ReadInput, batch_starts, longest_record};
use merganser_run::{Budget, Cancel, Progress, Resources, Shard};
use merganser_store::shard::JobShard;

use crate::Error;

/// The reads that one shard of a job classifies. The shards of a job have all its reads, each once and in
/// order; mates are never parted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadShare {
    of: merganser_io::ReadShare,
    is_of_blocks: bool,
}

impl ReadShare {
    /// The share of `shard` in the reads of `segments`, which are counted by the threads and within the memory of
    /// `resources`: of pairs in two files, those of the first one. Calls `progress` with one stage, in bytes of input.
    ///
    /// # Errors
    /// If an input is no regular file; as reading; if cancelled.
    pub fn new(
        segments: &[ReadInput],
        shard: Shard,
        resources: &Resources,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<ReadShare, Error> {
        let counted: Vec<ReadInput> = segments.iter().map(first_mates).collect();
        let starts = batch_starts::<Error, _>(&counted, options(resources, cancel), progress)?;
        let total = starts.last().copied().unwrap_or_default();
        let reads = shard.share(total);
        let of = merganser_io::ReadShare::new::<Error>(
            segments,
            shard,
            reads,
            resources.threads,
            cancel,
        )?;
        Ok(ReadShare { of, is_of_blocks: false })
    }

    /// One that begins and ends where blocks of Kraken 2's input do.
    pub(crate) fn of_blocks(of: merganser_io::ReadShare) -> ReadShare {
        ReadShare { of, is_of_blocks: true }
    }

    /// Whether it was made [at such blocks](ReadShare::at_blocks).
    pub fn is_of_blocks(&self) -> bool {
        self.is_of_blocks
    }

    /// Which shard of how many.
    pub fn shard(&self) -> Shard {
        self.of.shard()
    }

    /// The reads by their number in all segments, from 0; a pair is one. The last shard's have no end.
    pub fn reads(&self) -> Range<u64> {
        self.of.reads()
    }

    /// The shard and its job, which is told from others by its inputs, wherever they lie.
    pub fn job_shard(&self) -> JobShard {
        JobShard { shard: self.shard(), job: self.of.job() }
    }

    /// Whether the job's first reads are among them.
    pub fn is_first(&self) -> bool {
        self.shard().number() == 1
    }
}

/// The reads of a share, or all.
pub fn reads_of(share: Option<&ReadShare>) -> Range<u64> {
    share.map_or(0..u64::MAX, ReadShare::reads)
}

/// Memory of a thread for what it reads ahead.
const THREAD_BYTES: u64 = 3 << 20;
/// Of a long record: the text, what is made of it, and what is read meanwhile.
const COPIES: u64 = 3;

/// How reads are looked at to count them.
pub(crate) fn options(resources: &Resources, cancel: &Cancel) -> RecordOptions {
    let budget = Budget::of_run(resources, THREAD_BYTES).with_files(1);
    RecordOptions {
        keep: Keep { header: Header::Nothing, qualities: false },
        workers: resources.threads,
        max_record: longest_record(budget.left(), COPIES),
        find_pairs: true,
        cancel: cancel.clone(),
        warnings: resources.warnings.clone(),
        ..RecordOptions::default()
    }
}

/// As many reads, with less to look at.
fn first_mates(segment: &ReadInput) -> ReadInput {
    match segment {
        ReadInput::Pair(first, _) => ReadInput::Single(first.clone()),
        other => other.clone(),
    }
}
