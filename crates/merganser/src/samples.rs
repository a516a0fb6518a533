//! Sample sheets: which reads are of which sample.

mod repeats;
mod sheet;

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use merganser_io::ReadInput;
use merganser_run::Shard;

use crate::args::ReadsArgs;
use crate::console::Console;

/// A sample and its reads.
pub(crate) type Sample = (OsString, Vec<ReadInput>);

/// Reads a sample sheet: a line for each file or pair of files, `SAMPLE<TAB>READS` or
/// `SAMPLE<TAB>MATES1<TAB>MATES2`, or with commas or semicolons, and cells in quotes; a first line that names
/// columns (`sample`, `fastq_1` …) says which have what; empty lines and those that begin with `#` say
/// nothing. Lines of the same sample belong together; samples are in the order of their first lines. A row that
/// repeats one of its sample is left out, with a warning.
///
/// # Errors
/// What is wrong, and in which line.
pub(crate) fn read(
    path: &Path,
    reads: &ReadsArgs,
    interleaved: bool,
    console: &Console,
) -> Result<Vec<Sample>> {
    let text = merganser_io::read_table(path)
        .map_err(|error| anyhow::anyhow!("{}: {}", path.display(), merganser_io::reason(&error)))?;
    let samples = sheet::parse(&text, interleaved)
        .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    let samples = repeats::settle(path, samples, console)?;
    let segment = |segment| match segment {
        ReadInput::Single(input) => ReadInput::Single(reads.input(input)),
        ReadInput::Interleaved(input) => ReadInput::Interleaved(reads.input(input)),
        ReadInput::Pair(one, two) => ReadInput::Pair(reads.input(one), reads.input(two)),
    };
    let sample = |(name, segments): Sample| (name, segments.into_iter().map(segment).collect());
    Ok(samples.into_iter().map(sample).collect())
}

/// The samples that a shard of a job takes, of about as many bytes as the others': a sample is whole, and
/// of the shard in whose share it begins. All, if there are no shards.
///
/// # Errors
/// If a file of reads is none.
pub(crate) fn of_shard(samples: Vec<Sample>, shard: Option<Shard>) -> Result<Vec<Sample>> {
    let Some(shard) = shard else { return Ok(samples) };
    let bytes = |(name, segments): &Sample| {
        let inputs = segments.iter().flat_map(ReadInput::inputs);
        // Of empty files, too, each is one shard's.
        merganser_io::text_bytes(inputs).map(|bytes| bytes + 1).ok_or_else(|| {
            anyhow::anyhow!("{}: --shard takes samples by their size: name files", name.display())
        })
    };
    let sizes = samples.iter().map(bytes).collect::<Result<Vec<u64>>>()?;
    let share = shard.share(sizes.iter().sum());
    let mut at = 0;
    let begins_here = sizes.into_iter().map(|size| {
        let begin = at;
        at += size;
        share.contains(&begin)
    });
    Ok(samples.into_iter().zip(begins_here).filter(|(_, own)| *own).map(|(own, _)| own).collect())
}
