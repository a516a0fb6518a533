//! Joins the BAM files of all [shares](crate::share()) of a job into the file that a single run would have
//! written, byte for byte.

mod head;
mod shard;

use std::path::PathBuf;

use merganser_alignments::{sort_records, write_blocks};
use merganser_run::{Cancel, Context, Progress, Unit, each};
use merganser_store::shard::{Words, check_all};

use crate::output::Outputs;
use crate::{Contig, Error, IndexKind};
use shard::ShardFile;

/// All shards of one job.
#[derive(Debug)]
pub struct JoinedShards {
    /// The files in the order of the reads.
    files: Vec<ShardFile>,
}

impl JoinedShards {
    /// Opens the files of all shards of a job, in any order, and checks their headers.
    ///
    /// # Errors
    /// If a file cannot be read, is damaged, truncated or not a shard; if two files are of different jobs
    /// (reads, references or options) or of the same shard; if a shard is missing.
    pub fn open(paths: &[PathBuf]) -> Result<JoinedShards, Error> {
        let mut files =
            paths.iter().map(|path| ShardFile::open(path)).collect::<Result<Vec<_>, _>>()?;
        if let Some((first, others)) = files.split_first() {
            others.iter().try_for_each(|other| other.check_goes_with(first))?;
        }
        files.sort_by_key(|file| file.mark.of.shard.number());
        let shards = files.iter().map(|file| (&*file.path, file.mark.of));
        check_all(shards, Words::File { twice: ["is the same shard as ", ""] })
            .map_err(|(at, what)| files[at].error(what))?;
        Ok(JoinedShards { files })
    }

    /// Returns the number of shards.
    pub fn shards(&self) -> usize {
        self.files.len()
    }

    /// Returns the contigs of the reference.
    pub fn contigs(&self) -> &[Contig] {
        self.files.first().map_or(&[], |first| &first.head.contigs)
    }

    /// Whether records are in the order of the reference; otherwise they are in the order of the reads.
    pub fn is_sorted(&self) -> bool {
        self.files.first().is_some_and(|first| first.head.is_sorted())
    }

    /// Writes the BAM file of all reads.
    ///
    /// Records in the order of the reads are joined by copying the blocks of the shards. Sorted records are
    /// merged, in the memory of `context` and then on disk, and indexed if [`Outputs::index`] is given. Every
    /// block is verified. The progress has one or two stages.
    ///
    /// # Errors
    /// If a shard cannot be read or is damaged, there is too little memory, an output cannot be written, or the
    /// run is cancelled. No output appears then.
    pub fn write(&self, context: &Context, outputs: Outputs) -> Result<(), Error> {
        let (progress, cancel) = (&*context.progress, &context.cancel);
        context.validate()?;
        let Some(first) = self.files.first() else { return Ok(()) };
        let problem = outputs
            .index
            .as_ref()
            .and_then(|(_, kind): &(_, IndexKind)| kind.problem(self.contigs()));
        if let Some(problem) = problem {
            return Err(Error::Config(merganser_run::ConfigError::new(problem)));
        }
        let bytes = self.files.iter().map(ShardFile::bytes).sum();
        progress.stage("read", Unit::Bytes, Some(bytes));
        let head = (&first.head.without_mark()[..], first.mark.level);
        if self.is_sorted() {
            let each = |number: usize, take: &mut dyn FnMut(&[u8]) -> Result<(), Error>| {
                self.files[number].each_records(progress, cancel, take)
            };
            return sort_records(
                (self.files.len(), &each),
                head,
                self.contigs(),
                context,
                (outputs.records, outputs.index),
                (progress, cancel),
            );
        }
        self.check_records(context.threads, progress, cancel)?;
        let files = self.files.iter().map(|file| file.blocks());
        Ok(write_blocks(files, head, outputs.records, cancel)?)
    }

    /// Verifies all records of all shards.
    fn check_records(
        &self,
        threads: usize,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        each(threads, 0..self.files.len(), cancel, |numbers| {
            for number in numbers {
                self.files[number].each_records(progress, cancel, &mut |_| Ok(()))?;
            }
            Ok(())
        })
        .map(drop)
    }
}
