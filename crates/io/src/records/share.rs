//! Division of the reads of a job into shards.

use std::ops::Range;

use merganser_run::{Cancel, Cancelled, Shard, StartError};

use super::ReadInput;
use crate::{Error, Input, fingerprint};

/// The reads of one shard of a job. The shards of a job contain all its reads, each once and in the order of the
/// input; mates are never separated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadShare {
    shard: Shard,
    job: u64,
    reads: Range<u64>,
}

impl ReadShare {
    /// Creates the shard of the job over `segments` that contains `reads`, by their number in all segments from 0;
    /// a pair counts as one. `threads` workers read all files to compute their [`fingerprint`].
    ///
    /// # Errors
    /// If an input is not a regular file or cannot be read, or if cancelled.
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
        // The last shard reports unpaired second mates at the end.
        let end = if shard.number() == shard.of() { u64::MAX } else { reads.end };
        Ok(ReadShare { shard, job, reads: reads.start..end })
    }

    /// Creates a shard that begins and ends at one of `starts`, which ascend and end with the number of all reads.
    ///
    /// # Errors
    /// See [`ReadShare::new`].
    pub fn at_starts<E: From<Error> + From<Cancelled> + From<StartError> + Send>(
        segments: &[ReadInput],
        shard: Shard,
        starts: &[u64],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<ReadShare, E> {
        let total = starts.last().copied().unwrap_or_default();
        let share = shard.share(total);
        // The first start at or after `at`.
        let border = |at: u64| {
            starts.get(starts.partition_point(|&start| start < at)).copied().unwrap_or(total)
        };
        ReadShare::new(segments, shard, border(share.start)..border(share.end), threads, cancel)
    }

    /// Returns the shard.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// Returns the reads by their number in all segments, from 0; a pair counts as one. The range of the last shard
    /// is unbounded.
    pub fn reads(&self) -> Range<u64> {
        self.reads.clone()
    }

    /// Returns the identifier of the job, which depends on the content of the inputs and not on their location.
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
