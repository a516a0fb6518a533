//! Shards of the reads of a job.

use std::ops::Range;

use merganser_alignments::RecordOptions;
use merganser_io::{Header, Keep, ReadInput, batch_starts, longest_record};
use merganser_run::{Budget, Context, Shard};
use merganser_store::shard::JobShard;

use crate::Error;

/// The reads that one shard of a job classifies. Together the shards of a job have each of its reads once,
/// in order; the mates of a pair are never separated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadShare {
    of: merganser_io::ReadShare,
    is_of_blocks: bool,
}

impl ReadShare {
    /// Returns the share of `shard` in the reads of `segments`. Counts the reads first, with the threads and within
    /// the memory of `context`; of pairs in two files only the first file is read. The progress has one stage,
    /// in bytes of input.
    ///
    /// # Errors
    /// If an input is not a regular file; if reading fails; if cancelled.
    pub fn new(
        segments: &[ReadInput],
        shard: Shard,
        context: &Context,
    ) -> Result<ReadShare, Error> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        let counted: Vec<ReadInput> = segments.iter().map(first_mates).collect();
        let starts = batch_starts::<Error, _>(&counted, options(context), progress)?;
        let total = starts.last().copied().unwrap_or_default();
        let reads = shard.share(total);
        let of =
            merganser_io::ReadShare::new::<Error>(segments, shard, reads, context.threads, cancel)?;
        Ok(ReadShare { of, is_of_blocks: false })
    }

    /// Wraps a share that begins and ends with blocks of Kraken 2's input.
    pub(crate) fn of_blocks(of: merganser_io::ReadShare) -> ReadShare {
        ReadShare { of, is_of_blocks: true }
    }

    /// Whether the share was made by [`ReadShare::at_blocks`].
    pub fn is_of_blocks(&self) -> bool {
        self.is_of_blocks
    }

    /// Returns the shard's number and the number of shards.
    pub fn shard(&self) -> Shard {
        self.of.shard()
    }

    /// Returns the range of reads by their number in all segments, from 0; a pair is one read. The range of
    /// the last shard has no end.
    pub fn reads(&self) -> Range<u64> {
        self.of.reads()
    }

    /// Returns the shard and its job, which is identified by the content of its inputs, not by their paths.
    pub fn job_shard(&self) -> JobShard {
        JobShard { shard: self.shard(), job: self.of.job() }
    }

    /// Whether the share contains the first reads of the job.
    pub fn is_first(&self) -> bool {
        self.shard().number() == 1
    }
}

/// Returns the range of reads of a share; without a share, the range of all reads.
pub fn reads_of(share: Option<&ReadShare>) -> Range<u64> {
    share.map_or(0..u64::MAX, ReadShare::reads)
}

/// Memory of a thread for reading ahead, in bytes.
const THREAD_BYTES: u64 = 3 << 20;
/// Copies of a long record in memory: its text, the parsed record, and the text that is read meanwhile.
const COPIES: u64 = 3;

/// Returns the options for reading records in order to count them.
pub(crate) fn options(context: &Context) -> RecordOptions {
    let cancel = &context.cancel;
    let budget = Budget::of_run(context, THREAD_BYTES).with_files(1);
    RecordOptions {
        keep: Keep { header: Header::Nothing, qualities: false },
        workers: context.threads,
        max_record: longest_record(budget.left(), COPIES),
        find_pairs: true,
        cancel: cancel.clone(),
        warnings: context.warnings.clone(),
        ..RecordOptions::default()
    }
}

/// Returns an input with the same number of reads, but without the second mates.
fn first_mates(segment: &ReadInput) -> ReadInput {
    match segment {
        ReadInput::Pair(first, _) => ReadInput::Single(first.clone()),
        other => other.clone(),
    }
}
