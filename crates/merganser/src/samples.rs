//! Sample sheets: tables of samples and their reads.

mod columns;
mod fingerprints;
pub(crate) mod journal;
mod outputs;
mod repeats;
pub(crate) mod run;
mod sheet;

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use merganser_io::{Input, ReadInput, reason};
use merganser_kmers::tables::Database;
use merganser_run::Shard;

use crate::args::ReadsArgs;
use crate::console::Console;
pub(crate) use outputs::{check_places, has_place_for_sample, of_sample};
use sheet::{Content, SampleRows};

/// A sample and its reads.
pub(crate) type Sample = (OsString, Vec<ReadInput>);

/// A sample, its reads and its assemblies.
pub(crate) type SampleWithAssemblies = (OsString, Vec<ReadInput>, Vec<PathBuf>);

/// Reads a sample sheet.
///
/// It has a line for each file or pair of files, `SAMPLE<TAB>READS` or `SAMPLE<TAB>MATES1<TAB>MATES2`. Commas or
/// semicolons may replace tabs, and cells may be quoted. A header with names of columns (`sample`, `fastq_1` …) allows
/// any order. Empty lines and lines that begin with `#` are ignored. Lines of the same sample are taken together, and
/// samples are in the order of their first lines. A row that repeats one of the same sample is left out, with a
/// warning.
///
/// # Errors
/// If the sheet is invalid or a file is missing; the message names the line.
pub(crate) fn read(
    path: &Path,
    reads: &ReadsArgs,
    interleaved: bool,
    console: &Console,
) -> Result<Vec<Sample>> {
    let content = Content { interleaved, assemblies: false };
    let samples = read_rows(path, reads, content, console)?;
    Ok(samples.into_iter().map(|(name, segments, _)| (name, segments)).collect())
}

/// Reads a sample sheet whose samples have assemblies, too. It has a header.
///
/// # Errors
/// See [`read`].
pub(crate) fn read_with_assemblies(
    path: &Path,
    console: &Console,
) -> Result<Vec<SampleWithAssemblies>> {
    let content = Content { interleaved: false, assemblies: true };
    read_rows(path, &ReadsArgs::default(), content, console)
}

fn read_rows(
    path: &Path,
    reads: &ReadsArgs,
    content: Content,
    console: &Console,
) -> Result<Vec<SampleWithAssemblies>> {
    let in_sheet = |error: String| anyhow!("{}: {error}", path.display());
    let text = merganser_io::read_table(path).map_err(|error| in_sheet(reason(&error)))?;
    let samples = sheet::parse(&text, content).map_err(|error| in_sheet(error.to_string()))?;
    check_case(samples.iter().map(|sample| &*sample.name)).map_err(in_sheet)?;
    samples.iter().try_for_each(|sample| check_files(sample, content)).map_err(in_sheet)?;
    let samples = repeats::settle(path, samples, console)?;
    let segment = |segment| match segment {
        ReadInput::Single(input) => ReadInput::Single(reads.input(input)),
        ReadInput::Interleaved(input) => ReadInput::Interleaved(reads.input(input)),
        ReadInput::Pair(one, two) => ReadInput::Pair(reads.input(one), reads.input(two)),
    };
    let sample = |rows: SampleRows| {
        let segments = rows.reads.into_iter().map(|(_, reads)| segment(reads)).collect();
        (rows.name, segments, rows.assemblies)
    };
    Ok(samples.into_iter().map(sample).collect())
}

/// Checks that the files of a sample exist. If the sheet has assemblies, reads may be a KMC database, which is named by its
/// prefix.
///
/// # Errors
/// Names the line, the file and the reason.
fn check_files(sample: &SampleRows, content: Content) -> Result<(), String> {
    let is_database = |path: &Path| content.assemblies && Database::files(path)[0].exists();
    let reads = sample.reads.iter().flat_map(|(line, reads)| {
        let paths = reads.inputs().filter_map(Input::path);
        paths.filter(|path| !is_database(path)).map(move |path| (line, path))
    });
    let assemblies = sample.assemblies.iter().map(PathBuf::as_path);
    for (line, path) in reads.chain(sample.new_assemblies.iter().zip(assemblies)) {
        path.metadata().map_err(|error| {
            format!("line {line}: {}: cannot open: {}", path.display(), reason(&error))
        })?;
    }
    Ok(())
}

/// Checks that no two names differ only in case: where file systems ignore it, one sample would replace the other.
fn check_case<'n>(names: impl Iterator<Item = &'n OsStr>) -> Result<(), String> {
    let mut seen = HashMap::new();
    for name in names {
        if let Some(before) = seen.insert(name.to_string_lossy().to_lowercase(), name)
            && before != name
        {
            return Err(format!(
                "samples {} and {} differ only in case, and some file systems ignore case in the \
                 names of outputs: rename one",
                before.display(),
                name.display()
            ));
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::check_case;

    #[test]
    fn names_differ_in_more_than_case() {
        let check = |names: &[&str]| check_case(names.iter().map(OsStr::new));
        assert!(check(&["a", "b", "A1"]).is_ok());
        let message = check(&["ä1", "b", "Ä1"]).unwrap_err();
        assert!(message.starts_with("samples ä1 and Ä1 differ only in case"), "{message}");
    }
}
