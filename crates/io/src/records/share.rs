//! The reads of a job divided among machines.

use std::ops::Range;

use merganser_run::{Cancel, Cancelled, Shard, StartError};

use super::ReadInput;
use crate::{Error, Input, fingerprint};

/// The reads that one shard of a job takes. The shards of a job have all its reads, each once and in order;
/// mates are never parted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadShare {
    shard: Shard,
    job: u64,
    reads: Range<u64>,
}

impl ReadShare {
    /// The shard of the job over `segments` that takes these of the reads, by their number in all segments
    /// from 0; a pair is one. All files are read by `threads` workers for their
    /// [`fingerprint`].
    ///
    /// # Errors
    /// If an input is no regular file, or cannot be read; if cancelled.
    pub fn new<E: From<Error> + From<Cancelled> + From<StartError> + Send>(
        segments: &[ReadInput],
        shard: Shard,
        reads: Range<u64>,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<ReadShare, E> {
        let inputs: Vec<Input> = segments.iter().flat_map(ReadInput::inputs).cloned().collect();
        let kinds: Vec<u8> = segments.iter().map(kind).collect();
        let job = fingerprint::<E>(&inputs, threads, cancel)? ^ u64::from(crc32fast::hash(&kinds));
        // Second mates that are left over are for the last shard to complain of.
        let end = if shard.number() == shard.of() { u64::MAX } else { reads.end };
        Ok(ReadShare { shard, job, reads: reads.start..end })
    }

    /// The shard that begins and ends at one of `starts`, which ascend up to the number of all reads.
    ///
    /// # Errors
    /// As [`ReadShare::new`].
    pub fn at_starts<E: From<Error> + From<Cancelled> + From<StartError> + Send>(
        segments: &[ReadInput],
        shard: Shard,
        starts: &[u64],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<ReadShare, E> {
        let total = starts.last().copied().unwrap_or_default();
        let share = shard.share(total);
        // The first one there or behind.
        let border = |at: u64| {
            starts.get(starts.partition_point(|&start| start < at)).copied().unwrap_or(total)
        };
        ReadShare::new(segments, shard, border(share.start)..border(share.end), threads, cancel)
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
    pub fn job(&self) -> u64 {
        self.job
    }
}

fn kind(segment: &ReadInput) -> u8 {
    match segment {
        ReadInput::Single(_) => b's',
        ReadInput::Interleaved(_) => b'i',
        ReadInput::Pair(..) => b'p',
    }
}
