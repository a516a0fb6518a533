//! Division of a job's reads into shards.

use merganser_io::{ReadInput, ReadShare, batch_starts};
use merganser_run::{Context, Shard};

use crate::Error;
use crate::source::options;

/// Returns the range of reads in `segments` that belongs to `shard`.
///
/// All threads of `context` read the inputs once. A share begins and ends between batches, so that BAM blocks
/// are cut as in a single run. The progress has one stage, in bytes of input.
///
/// # Errors
/// If an input is not a regular file or cannot be read, or the run is cancelled.
pub fn share(segments: &[ReadInput], shard: Shard, context: &Context) -> Result<ReadShare, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let starts = batch_starts::<Error, _>(segments, options(context), progress)?;
    ReadShare::at_starts(segments, shard, &starts, context.threads, cancel)
}
