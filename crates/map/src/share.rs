//! The reads of a job divided among machines.

use merganser_io::{ReadInput, ReadShare, batch_starts};
use merganser_run::{Cancel, Progress, Resources, Shard};

use crate::Error;
use crate::source::options;

/// The share of `shard` in the reads of `segments`, looked through by all threads of `resources`: it begins
/// and ends where batches do, so that blocks of BAM are cut as in one run. Calls `progress` with one
/// stage, in bytes of input.
///
/// # Errors
/// If an input is no regular file; as reading; if cancelled.
pub fn share(
    segments: &[ReadInput],
    shard: Shard,
    resources: &Resources,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<ReadShare, Error> {
    let starts = batch_starts::<Error, _>(segments, options(resources, cancel), progress)?;
    ReadShare::at_starts(segments, shard, &starts, resources.threads, cancel)
}
