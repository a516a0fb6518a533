//! Sample sheets: tables of samples and their reads.

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

/// Reads a sample sheet.
///
/// It has a line for each file or pair of files, `SAMPLE<TAB>READS` or `SAMPLE<TAB>MATES1<TAB>MATES2`. Commas or
/// semicolons may replace tabs, and cells may be quoted. A header with names of columns (`sample`, `fastq_1` …) allows
/// any order. Empty lines and lines that begin with `#` are ignored. Lines of the same sample are taken together, and
/// samples are in the order of their first lines. A row that repeats one of the same sample is left out, with a
/// warning.
///
/// # Errors
/// If the sheet is invalid; the message names the line.
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

/// Returns the samples of a shard of a job, or all samples if there are no shards. Shards have about equal numbers of
/// bytes. Samples are not divided: a sample belongs to the shard in which it begins.
///
/// # Errors
/// If an input is not a file.
pub(crate) fn of_shard(samples: Vec<Sample>, shard: Option<Shard>) -> Result<Vec<Sample>> {
    let Some(shard) = shard else { return Ok(samples) };
    let bytes = |(name, segments): &Sample| {
        let inputs = segments.iter().flat_map(ReadInput::inputs);
        // Samples of empty files, too, must belong to exactly one shard.
        merganser_io::text_bytes(inputs).map(|bytes| bytes + 1).ok_or_else(|| {
            anyhow::anyhow!(
                "{}: --shard divides samples by the size of their files: give regular files",
                name.display()
            )
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
