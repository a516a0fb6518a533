//! The shards of a job in partial results: a job can be joined only from all of its shards, each once, and nothing
//! else.

use std::io;
use std::path::{Path, PathBuf};

use merganser_run::Shard;
use merganser_store::shard::{JobShard, Words, check_all};

use super::{Decoder, Encoder};
use crate::Error;
use crate::output::LinesSum;

/// A shard and a checksum of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenShard {
    /// The shard.
    pub of: JobShard,
    /// The number of bytes of the lines as text, and their CRC-32.
    pub lines: (u64, u32),
}

impl WrittenShard {
    /// Returns the shard with its lines; `None` for a whole run.
    pub fn of(shard: Option<JobShard>, lines: LinesSum) -> Option<WrittenShard> {
        let lines = lines.finish();
        shard.map(|of| WrittenShard { of, lines })
    }

    pub(super) fn write(&self, encoder: &mut Encoder<'_>) -> io::Result<()> {
        encoder.number(self.of.shard.number().into())?;
        encoder.number(self.of.shard.of().into())?;
        encoder.bytes(&self.of.job.to_le_bytes())?;
        encoder.number(self.lines.0)?;
        encoder.bytes(&self.lines.1.to_le_bytes())
    }

    pub(super) fn read(decoder: &mut Decoder) -> Result<WrittenShard, Error> {
        let (number, of) = (decoder.number()?, decoder.number()?);
        let small = |value: u64| u16::try_from(value).ok();
        let shard =
            small(number).zip(small(of)).and_then(|(number, of)| Shard::new(number, of).ok());
        let Some(shard) = shard else { return Err(decoder.damaged("a shard is out of range")) };
        let job = u64::from_le_bytes(decoder.array()?);
        let lines = (decoder.number()?, u32::from_le_bytes(decoder.array()?));
        Ok(WrittenShard { of: JobShard { shard, job }, lines })
    }
}

/// Collects the shards of a job and checks that they are complete.
#[derive(Debug, Default)]
pub struct Shards<'p> {
    /// The files, each with its shard; `None` for a whole run.
    files: Vec<(&'p PathBuf, Option<WrittenShard>)>,
}

impl<'p> Shards<'p> {
    /// Adds a file.
    ///
    /// # Errors
    /// If the file and the first one belong to different jobs.
    pub fn add(&mut self, path: &'p PathBuf, own: Option<WrittenShard>) -> Result<(), Error> {
        if let Some((first, other)) = self.files.first() {
            check(path, own, first, *other)?;
        }
        self.files.push((path, own));
        Ok(())
    }

    /// Returns the shards in the order of their numbers, each with the index of its file; an empty list if the
    /// files are the results of whole runs.
    ///
    /// # Errors
    /// If a shard is missing or occurs twice.
    pub fn finish(self) -> Result<Vec<(usize, WrittenShard)>, Error> {
        let files =
            self.files.iter().filter_map(|(path, own)| Some((path.as_path(), own.as_ref()?.of)));
        let words = Words::File { twice: ["is shard {} as ", " is"] };
        check_all(files, words).map_err(|(at, what)| Error::content(self.files[at].0, what))?;
        let shards = self.files.iter().enumerate();
        let mut shards: Vec<_> = shards.filter_map(|(at, file)| Some((at, file.1?))).collect();
        shards.sort_by_key(|(_, own)| own.of.shard.number());
        Ok(shards)
    }
}

/// Checks that a file belongs to the same job as the first one.
fn check(
    path: &Path,
    own: Option<WrittenShard>,
    first: &Path,
    other: Option<WrittenShard>,
) -> Result<(), Error> {
    let refused = |what: String| Error::content(path, what);
    let name = first.display();
    match (own.map(|own| own.of), other.map(|other| other.of)) {
        (None, None) => Ok(()),
        (Some(own), None) => Err(refused(format!(
            "is shard {} of a job, and {name} is of a whole run: join the shards of a job by themselves",
            own.shard
        ))),
        (None, Some(other)) => Err(refused(format!(
            "is of a whole run, and {name} is shard {} of a job: join the shards of a job by themselves",
            other.shard
        ))),
        (Some(own), Some(other)) => own
            .check_number(other, first)
            .and_then(|()| own.check_job(other, first, "a shard of other reads"))
            .map_err(refused),
    }
}
