//! The mapping of one sample: its reads, read groups and outputs.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use merganser_alignments::{MateFiles, compare_as_mates};
use merganser_io::{Input, OutputSet, ReadInput, is_regular};
use merganser_map::{Error, IndexKind, Outputs, ReadGroup, Strand};

use crate::args::map::MapArgs;
use crate::common::{pairs, refuse_mates_beside, refuse_stdin_twice, text_of};
use crate::console::Console;
use crate::failure::usage;
use crate::samples;
use crate::samples::{check_places, of_sample};

/// A sample to map.
pub(super) struct Job {
    /// The sample's name in the sample sheet.
    pub(super) name: Option<OsString>,
    pub(super) inputs: Vec<ReadInput>,
    pub(super) output: PathBuf,
    pub(super) unmapped: Option<PathBuf>,
}

/// Returns the job that the arguments describe, or one job for each sample of the sheet.
///
/// # Errors
/// If the sheet is invalid or an option cannot be used with it, or the numbers of files of mates differ.
pub(super) fn all(args: &MapArgs, console: &Console) -> Result<Vec<Job>> {
    let Some(sheet) = &args.sample_sheet else {
        let (output, unmapped) = (args.output.clone(), args.unmapped.clone());
        return Ok(vec![Job { name: None, inputs: inputs(args, console)?, output, unmapped }]);
    };
    let own = [("-o", Some(&args.output)), ("--unmapped", args.unmapped.as_ref())];
    check_places(own, &args.pages, args.json.as_ref())?;
    let samples = samples::read(sheet, &args.inputs, args.interleaved, console)?;
    let samples = samples::of_shard(samples, args.shard)?;
    let job = |(name, inputs): samples::Sample| {
        let own = |path| of_sample(path, Some(&name));
        let (output, unmapped) = (own(&args.output), args.unmapped.as_deref().map(own));
        Job { inputs, output, unmapped, name: Some(name) }
    };
    Ok(samples.into_iter().map(job).collect())
}

impl Job {
    /// Creates the outputs, except the index.
    ///
    /// # Errors
    /// If one cannot be created.
    pub(super) fn outputs(&self, set: &OutputSet) -> Result<Outputs> {
        let unmapped = self.unmapped.as_deref().map(|path| set.output(path)).transpose();
        Ok(Outputs {
            records: set.output(&self.output).map_err(Error::from)?,
            index: None,
            unmapped: unmapped.map_err(Error::from)?,
        })
    }

    /// Returns the path of an index of this kind next to a file of sorted records; `None` if no index is written.
    pub(super) fn index_path(&self, args: &MapArgs, kind: IndexKind) -> Option<PathBuf> {
        (args.config.sort && is_regular(&self.output)).then(|| kind.beside(&self.output))
    }

    /// Returns the read groups of `-R`, with `{}` replaced by the name of each input. Samples of a sheet have a read
    /// group for each input even without `-R`.
    ///
    /// # Errors
    /// If a line is not a valid read group.
    pub(super) fn read_groups(&self, args: &MapArgs) -> Result<Vec<ReadGroup>, Error> {
        match (&args.read_group[..], &self.name) {
            ([line], _) if line.contains(PLACE) => self.filled(std::iter::repeat(&**line)),
            ([], Some(_)) => self.filled(std::iter::repeat(OF_SAMPLE)),
            (lines, _) if lines.len() == self.inputs.len() => {
                self.filled(lines.iter().map(|line| &**line))
            }
            (lines, _) => lines.iter().map(|line| Ok(ReadGroup::parse(line)?)).collect(),
        }
    }

    /// Makes a read group for each input from its line. Names are inserted into parsed fields, so that they cannot end a
    /// field or begin another one.
    fn filled<'l>(&self, lines: impl Iterator<Item = &'l str>) -> Result<Vec<ReadGroup>, Error> {
        let sample = self.name.as_deref().map(text_of);
        let one = |((number, input), line): ((usize, &ReadInput), &str)| {
            let group = ReadGroup::parse(line)?;
            let name = sample.clone().unwrap_or_else(|| name_of(input));
            let filled = group.filled(|tag, value| match tag {
                // Inputs of the same sample are lanes.
                "ID" if sample.is_some() && self.inputs.len() > 1 => {
                    value.replace(PLACE, &format!("{name}.{}", number + 1))
                }
                _ => value.replace(PLACE, &name),
            });
            Ok(filled?)
        };
        self.inputs.iter().enumerate().zip(lines).map(one).collect()
    }
}

/// The placeholder that is replaced by a name.
const PLACE: &str = "{}";
/// The default read group of a sample's inputs.
const OF_SAMPLE: &str = "@RG\tID:{}\tSM:{}";

/// Returns the name of an input: the name of its first file up to the first dot, for pairs without the mate's number.
fn name_of(input: &ReadInput) -> String {
    let path = input.inputs().next().and_then(|input| input.path());
    let name = path.and_then(|path| path.file_name()).map_or_else(|| "stdin".into(), text_of);
    let stem = name.split('.').next().unwrap_or_default();
    match input {
        ReadInput::Pair(..) => {
            let mates = ["_R1_001", "_R1", "_1"];
            mates.iter().find_map(|mate| stem.strip_suffix(mate)).unwrap_or(stem).to_owned()
        }
        _ => stem.to_owned(),
    }
}

/// Returns the inputs: pairs, then READS. Two files of mates in READS are a pair.
///
/// # Errors
/// If a list cannot be read, the numbers of files of mates differ, READS beside them contain mates, or two files in READS
/// are out of step or are streams, so that single reads cannot be told from mates.
fn inputs(args: &MapArgs, console: &Console) -> Result<Vec<ReadInput>> {
    let [first, second, reads] = [&args.mates1, &args.mates, &args.reads]
        .map(|paths| args.inputs.expand(paths).map_err(Error::from));
    let (mut first, second, mut reads) = (first?, second?, reads?);
    if first.is_empty() && !second.is_empty() {
        if reads.len() != second.len() {
            return usage(format!(
                "there are {} files of reads and {} of mates (-2): give equal numbers",
                reads.len(),
                second.len()
            ));
        }
        std::mem::swap(&mut first, &mut reads);
    }
    let mut segments = pairs(first, second)?;
    if !args.single && !args.interleaved {
        refuse_mates_beside(&segments, &reads)?;
    }
    let may_pair = !args.single && !args.interleaved && args.config.strand == Strand::Both;
    if let ([], [one, two]) = (&segments[..], &reads[..])
        && may_pair
        && are_mates(one, two, args.pairs.any_names)?
    {
        console.info(format_args!(
            "note: {one} and {two} are read as mates of pairs: -U reads them as single reads"
        ));
        return Ok(vec![ReadInput::Pair(one.clone(), two.clone())]);
    }
    let kind = if args.interleaved { ReadInput::Interleaved } else { ReadInput::Single };
    segments.extend(reads.into_iter().map(kind));
    refuse_stdin_twice(segments.iter().flat_map(ReadInput::inputs))?;
    Ok(segments)
}

/// Whether the two files in READS are mates; `any_names` says so of any two files.
fn are_mates(one: &Input, two: &Input, any_names: bool) -> Result<bool> {
    if any_names {
        return Ok(true);
    }
    match compare_as_mates(one, two) {
        MateFiles::Mates => Ok(true),
        MateFiles::Others => Ok(false),
        MateFiles::OutOfStep(error) => {
            Err(anyhow!("{error}; if they are not mates, -U reads both as single reads"))
        }
        MateFiles::Unknown => usage(format!(
            "{one} and {two}: streams cannot be checked for mates: give -1 and -2 for mates, or -U \
             for single reads"
        )),
    }
}

#[cfg(test)]
mod tests {
    use merganser_io::{Input, ReadInput};

    use super::name_of;

    #[test]
    fn inputs_have_the_names_of_their_files() {
        let file = |name: &str| Input::File(name.into());
        let pair = |one, two| name_of(&ReadInput::Pair(file(one), file(two)));
        assert_eq!(pair("a/b_1.fq.gz", "a/b_2.fq.gz"), "b");
        assert_eq!(pair("s_L001_R1_001.fastq", "s_L001_R2_001.fastq"), "s_L001");
        assert_eq!(name_of(&ReadInput::Single(file("x_1.fq"))), "x_1");
        assert_eq!(name_of(&ReadInput::Single(Input::Stdin)), "stdin");
    }
}
