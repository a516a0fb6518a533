//! The shards of a job put together: BAM files of [shares](crate::share()) of its reads, to the bytes of one
//! run.

mod head;
mod shard;

use std::path::PathBuf;

use merganser_alignments::{sort_records, write_blocks};
use merganser_run::{Cancel, Progress, Resources, Unit, each};
use merganser_store::shard::{Words, check_all};

use crate::output::Outputs;
use crate::{Contig, Error, IndexKind};
use shard::ShardFile;

/// The shards of one job, all of them.
#[derive(Debug)]
pub struct JoinedShards {
    /// In the order of the reads.
    files: Vec<ShardFile>,
}

impl JoinedShards {
    /// Opens the files of all shards of a job, in any order, and looks at their headers.
    ///
    /// # Errors
    /// If a file cannot be read, is damaged, cut short, or no shard; if two are of other jobs (other reads,
    /// references or options) or the same shard; if one is missing.
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

    /// How many there are.
    pub fn shards(&self) -> usize {
        self.files.len()
    }

    /// The contigs of the reference.
    pub fn contigs(&self) -> &[Contig] {
        self.files.first().map_or(&[], |first| &first.head.contigs)
    }

    /// Whether records are in the order of the reference; else they are in that of the reads.
    pub fn is_sorted(&self) -> bool {
        self.files.first().is_some_and(|first| first.head.is_sorted())
    }

    /// Writes the BAM of all reads: of records in the order of the reads, the blocks of the shards as they
    /// are; of sorted ones, the records sorted together, in the memory of `resources` and then on disk, with
    /// an index if [`Outputs::index`] has one. Every block is checked. Calls `progress` with one or two stages.
    ///
    /// # Errors
    /// If a shard cannot be read or is damaged; if there is too little memory; as writing; if cancelled.
    /// There are then no outputs.
    pub fn write(
        &self,
        resources: &Resources,
        outputs: Outputs,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        resources.validate()?;
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
                resources,
                (outputs.records, outputs.index),
                (progress, cancel),
            );
        }
        self.check_records(resources.threads, progress, cancel)?;
        let files = self.files.iter().map(|file| file.blocks());
        Ok(write_blocks(files, head, outputs.records, cancel)?)
    }

    /// Checks all records of all shards.
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
