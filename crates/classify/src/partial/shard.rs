//! Which shard of a job partial results are of, so that a job is joined of all its shards, each once, and of
//! nothing else.

use std::io;
use std::path::{Path, PathBuf};

use merganser_run::{Incomplete, Shard, check_all_shards};

use super::{Decoder, Encoder};
use crate::output::LinesSum;
use crate::{Error, ReadShare};

/// A shard, and the lines that it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenShard {
    pub(super) shard: Shard,
    /// What tells the job's reads from others.
    job: u64,
    /// Bytes of the lines as text, and their CRC-32.
    pub(super) lines: (u64, u32),
}

impl WrittenShard {
    /// Of the share of a run, if it had one, which wrote these lines.
    pub(crate) fn of(share: Option<&ReadShare>, lines: LinesSum) -> Option<WrittenShard> {
        let lines = lines.finish();
        share.map(|share| WrittenShard { shard: share.shard(), job: share.job(), lines })
    }

    pub(super) fn write(&self, encoder: &mut Encoder<'_>) -> io::Result<()> {
        encoder.number(self.shard.number().into())?;
        encoder.number(self.shard.of().into())?;
        encoder.bytes(&self.job.to_le_bytes())?;
        encoder.number(self.lines.0)?;
        encoder.bytes(&self.lines.1.to_le_bytes())
    }

    pub(super) fn read(decoder: &mut Decoder) -> Result<WrittenShard, Error> {
        let (number, of) = (decoder.number()?, decoder.number()?);
        let small = |value: u64| u16::try_from(value).ok();
        let shard =
            small(number).zip(small(of)).and_then(|(number, of)| Shard::new(number, of).ok());
        let Some(shard) = shard else { return Err(decoder.damaged("there is no such shard")) };
        let job = u64::from_le_bytes(decoder.array()?);
        let lines = (decoder.number()?, u32::from_le_bytes(decoder.array()?));
        Ok(WrittenShard { shard, job, lines })
    }
}

/// The shards of a job, of which there must be all.
#[derive(Debug, Default)]
pub(super) struct Shards<'p> {
    /// Each file, and its shard if it is of one.
    files: Vec<(&'p PathBuf, Option<WrittenShard>)>,
}

impl<'p> Shards<'p> {
    /// Takes the next file.
    ///
    /// # Errors
    /// If it does not go with the first one.
    pub(super) fn add(
        &mut self,
        path: &'p PathBuf,
        own: Option<WrittenShard>,
    ) -> Result<(), Error> {
        if let Some((first, other)) = self.files.first() {
            check(path, own, first, *other)?;
        }
        self.files.push((path, own));
        Ok(())
    }

    /// The shards in their order, with the places of their files among all; nothing if the files are of
    /// whole runs.
    ///
    /// # Errors
    /// If one is missing, or there twice.
    pub(super) fn finish(self) -> Result<Vec<(usize, WrittenShard)>, Error> {
        let shards = self.files.iter().enumerate();
        let mut shards: Vec<_> = shards.filter_map(|(at, file)| Some((at, file.1?))).collect();
        shards.sort_by_key(|(_, own)| own.shard.number());
        let Some((_, first)) = shards.first() else { return Ok(shards) };
        let of = first.shard.of();
        let path = |at: usize| self.files[at].0;
        check_all_shards(shards.iter().map(|(_, own)| (own.shard, own.job))).map_err(|wrong| {
            match wrong {
                Incomplete::Twice(before, at) => {
                    let [(before, _), (at, own)] = [shards[before], shards[at]];
                    let before = path(before).display();
                    let what = format!("is shard {} as {before} is: give each once", own.shard);
                    Error::content(path(at), what)
                }
                Incomplete::Missing(shard) => {
                    let what = format!("shard {shard} of its job is missing: give all {of}");
                    Error::content(path(0), what)
                }
                // Seen when it was added.
                Incomplete::OtherJob(at) => {
                    Error::content(path(shards[at].0), "is a shard of another job")
                }
            }
        })?;
        Ok(shards)
    }
}

/// Sees to it that a file is of the first one's job.
fn check(
    path: &Path,
    own: Option<WrittenShard>,
    first: &Path,
    other: Option<WrittenShard>,
) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::content(path, what));
    let name = first.display();
    match (own, other) {
        (None, None) => Ok(()),
        (Some(own), None) => refuse(format!(
            "is shard {} of a job, and {name} is of a whole run: join the shards of a job by themselves",
            own.shard
        )),
        (None, Some(other)) => refuse(format!(
            "is of a whole run, and {name} is shard {} of a job: join the shards of a job by themselves",
            other.shard
        )),
        (Some(own), Some(other)) if own.shard.of() != other.shard.of() => refuse(format!(
            "is shard {}, and {name} is {}: only shards of one job can be joined",
            own.shard, other.shard
        )),
        (Some(own), Some(other)) if own.job != other.job => refuse(format!(
            "is a shard of other reads than {name}: only shards of one job can be joined"
        )),
        _ => Ok(()),
    }
}
