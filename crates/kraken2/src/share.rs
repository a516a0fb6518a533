//! Shards of reads that begin with the blocks that Kraken 2 reads at a time, so that its estimates of distinct
//! minimizers are the same as in a single run.

use merganser_io::{ReadInput, walk};
use merganser_run::{Context, Shard};

use super::counts::{BatchSizes, InputBlocks};
use crate::read_share::options;
use crate::{Error, ReadShare};

impl ReadShare {
    /// Returns a share as [`ReadShare::new`] does, except that it begins and ends with blocks of Kraken 2's
    /// input. Reads all inputs, including second mates.
    ///
    /// # Errors
    /// The errors of [`ReadShare::new`].
    pub fn at_blocks(
        segments: &[ReadInput],
        shard: Shard,
        context: &Context,
    ) -> Result<ReadShare, Error> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        let (mut blocks, mut starts, mut reads) = (InputBlocks::default(), Vec::new(), 0);
        let take = |sizes: BatchSizes| {
            starts.extend(sizes.begins_file.then_some(reads));
            let cuts = blocks.cut_sizes(&sizes).cuts;
            starts.extend(cuts.into_iter().map(|cut| reads + cut as u64));
            reads += sizes.reads as u64;
        };
        walk::<_, Error, _>(segments, options(context), BatchSizes::of, take, progress)?;
        starts.push(reads);
        let of = merganser_io::ReadShare::at_starts::<Error>(
            segments,
            shard,
            &starts,
            context.threads,
            cancel,
        )?;
        Ok(ReadShare::of_blocks(of))
    }
}
