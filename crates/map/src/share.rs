//! Division of a job's reads into shards.

use merganser_io::{ReadInput, ReadShare, batch_starts};
use merganser_run::{Context, Shard};

use crate::source::options;
use crate::{Config, Error};

/// Returns the range of reads in `segments` that belongs to `shard`.
///
/// All threads of `context` read the inputs once, with the options of the run. A share begins and ends between batches, so that BAM blocks
/// are cut as in a single run. The progress has one stage, in bytes of input.
///
/// # Errors
/// If an input is not a regular file or cannot be read, or the run is cancelled.
pub fn share(
    config: &Config,
    segments: &[ReadInput],
    shard: Shard,
    context: &Context,
) -> Result<ReadShare, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    let starts = batch_starts::<Error, _>(segments, options(config, context), progress)?;
    ReadShare::at_starts(segments, shard, &starts, context.threads, cancel)
}
