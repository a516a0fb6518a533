//! The reads of a job divided among machines.

use merganser_io::{ReadShare, Segment, batch_starts};
use merganser_run::{Cancel, Progress, Shard};

use crate::Error;
use crate::source::options;

/// The share of `shard` in the reads of `segments`, which are looked through by so many threads: it begins
/// and ends where batches do, so that blocks of BAM are cut as in one run. Calls `progress` with one
/// stage, in bytes of input.
///
/// # Errors
/// If an input is no regular file; as reading; if cancelled.
pub fn share(
    segments: &[Segment],
    shard: Shard,
    threads: usize,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<ReadShare, Error> {
    let starts = batch_starts::<Error>(segments, options(threads, cancel), progress)?;
    Ok(ReadShare::at_starts(segments, shard, &starts)?)
}
