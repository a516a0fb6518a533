//! Functions that several commands share.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use merganser_alignments::{MateFiles, compare_as_mates};
use merganser_io::{FileKind, Input, Output, ReadInput, check_cell, find_files_of_mates};
use merganser_run::{Context, DeviceChoice, Summary, counted, format_size, size_to_give};
use merganser_taxonomy::TaxonomySource;

use crate::args::device::DeviceArgs;
use crate::console::{self, Console};
use crate::failure::{usage, with_flags};
use crate::interrupt;
use crate::progress::Bar;

/// Returns the context of a run: the resources that the options of all commands name, and the progress bar, the
/// warnings and the cancellation of the program.
pub(crate) fn context(
    threads: Option<usize>,
    memory: Option<u64>,
    temp_dir: Option<&Path>,
    device: Option<&DeviceArgs>,
) -> Context {
    let mut context = Context::new()
        .progress(Bar::new(&console::current()))
        .warnings(&console::warnings())
        .cancel(&interrupt::cancellation());
    context.threads = threads.unwrap_or(context.threads);
    context.memory = memory;
    if let Some(directory) = temp_dir {
        context.temp_dir = directory.to_owned();
    }
    context.device = device.map_or(DeviceChoice::Cpu, |device| device.device.clone());
    context.gpu_memory = device.and_then(|device| device.gpu_memory);
    context
}

/// Returns the taxonomy, if one was given.
pub(crate) fn taxonomy_of(paths: &[PathBuf]) -> Option<TaxonomySource> {
    (!paths.is_empty()).then(|| paths.into())
}

/// Adds the inputs' names and their bytes on disk to the summary; null if an input is a pipe.
pub(crate) fn describe_inputs(inputs: &[Input], summary: &mut Summary) {
    summary.set("inputs", "files", inputs.iter().map(Input::to_string).collect::<Vec<_>>());
    let size = |input: &Input| {
        let at = fs::metadata(input.path()?).ok().filter(|at| at.is_file())?;
        Some(at.len())
    };
    summary.set("inputs", "bytes", inputs.iter().map(size).sum::<Option<u64>>());
}

/// Prints a command's whole output on stdout.
///
/// # Errors
/// If it cannot be written completely.
pub(crate) fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut output = Output::create(Path::new("-"))?;
    output.write_all(text.as_ref())?;
    output.finish()?;
    Ok(())
}

/// Writes the summary of `--json`, with all warnings so far; the file then only needs to be committed.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_summary(summary: &mut Summary, mut output: Output) -> Result<(), io::Error> {
    let warnings = console::warnings().all();
    summary.warnings(warnings.iter().map(|warning| with_flags(warning)).collect());
    output.write_all(format!("{:#}\n", summary.to_value()).as_bytes())?;
    output.finish()?;
    Ok(())
}

/// Pairs the files of first mates with those of second mates.
///
/// # Errors
/// If their numbers differ.
pub(crate) fn pairs(first: Vec<Input>, second: Vec<Input>) -> Result<Vec<ReadInput>> {
    let [ones, twos] = [first.len(), second.len()];
    if ones != twos {
        return usage(format!("-1 has {ones} files and -2 has {twos}: give equal numbers"));
    }
    Ok(first.into_iter().zip(second).map(|(one, two)| ReadInput::Pair(one, two)).collect())
}

/// The remedy for files of mates that were not given with an option of their own.
pub(crate) const REPEAT: &str =
    "repeat these options for each file: -1 a_1.fq -1 b_1.fq -2 a_2.fq -2 b_2.fq";

/// Refuses READS that contain two files of mates, or are two streams, beside the `pairs` of `-1` and `-2`: these take one
/// file each, and the second files of `-1 a_1 b_1 -2 a_2 b_2` would be read as single reads.
///
/// # Errors
/// Names the files.
pub(crate) fn refuse_mates_beside(pairs: &[ReadInput], reads: &[Input]) -> Result<()> {
    // Mates may be adjacent, or all first mates may precede all second ones.
    let beside = reads.iter().zip(reads.iter().skip(1));
    let behind = reads.iter().zip(&reads[reads.len() / 2..]);
    let are_mates = |(one, two): &(&Input, &Input)| match compare_as_mates(one, two) {
        MateFiles::Mates | MateFiles::OutOfStep(_) => true,
        MateFiles::Others => false,
        MateFiles::Unknown => reads.len() == 2,
    };
    match beside.chain(behind).filter(|_| !pairs.is_empty()).find(are_mates) {
        Some((one, two)) => usage(format!(
            "{one} and {two} may be mates, and are given without -1 and -2; {REPEAT}; -U takes single reads"
        )),
        None => Ok(()),
    }
}

/// Warns of two inputs that look like files of mates, or are the only ones and streams, but are read as single reads.
/// `done` is the participle for the message.
pub(crate) fn hint_at_mates<'a>(
    singles: impl Iterator<Item = &'a Input>,
    done: &str,
    console: &Console,
) {
    let singles: Vec<&Input> = singles.collect();
    if let Some(pair) = find_files_of_mates(singles.iter().copied()) {
        let [one, two] = pair.map(Path::display);
        console.warn(format_args!(
            "{one} and {two} look like mates of pairs, and are {done} as single reads: give -1 {one} -2 {two}"
        ));
    } else if let [one, two] = singles[..]
        && one.is_stream()
        && two.is_stream()
    {
        console.warn(format_args!(
            "{one} and {two} are {done} as single reads: if they are mates of pairs, give them with -1 and -2"
        ));
    }
}

/// Fails if a file of one of `kinds` is among the reads, so that `first` has its place in `command`.
pub(crate) fn refuse_swapped<'a>(
    command: &str,
    kinds: &[FileKind],
    first: &Path,
    reads: impl IntoIterator<Item = &'a Input>,
) -> Result<()> {
    let kind = |path| FileKind::of_path(path).filter(|kind| kinds.contains(kind));
    let mut paths = reads.into_iter().filter_map(Input::path);
    match paths.find_map(|path| Some((path.display(), kind(path)?))) {
        Some((path, kind)) => usage(format!(
            "{path} is {kind}, not reads: give it first, as in merganser {command} {path} {}",
            first.display()
        )),
        None => Ok(()),
    }
}

/// Checks that stdin is given at most once.
///
/// # Errors
/// If it is given more than once.
pub(crate) fn refuse_stdin_twice<'a>(inputs: impl Iterator<Item = &'a Input>) -> Result<()> {
    match inputs.filter(|input| input.is_stdin()).count() {
        0 | 1 => Ok(()),
        _ => Err(merganser_io::Error::StdinTwice.into()),
    }
}

/// Reports the number of skipped alignments, if any: their reads are also in other alignments.
pub(crate) fn tell_skipped(skipped: u64, console: &Console) {
    if skipped > 0 {
        let skipped = merganser_run::thousands(skipped);
        console.info(format_args!("{skipped} secondary and supplementary alignments were skipped"));
    }
}

/// Reports how many bytes were written to disk for lack of memory, and how much memory would avoid it.
pub(crate) fn tell_spilled(bytes: u64, enough: u64, console: &Console) {
    let (size, memory) = (format_size(bytes), size_to_give(enough));
    console.info(format_args!(
        "note: {size} went to disk: with --memory {memory} it would have stayed in memory"
    ));
}

/// Prints the wall time, the threads and the peak memory of a run, as the last line about it.
pub(crate) fn tell_time(
    started: Instant,
    threads: usize,
    peak_memory: Option<u64>,
    console: &Console,
) {
    let peak = peak_memory.map(|peak| format!(", peak memory {}", format_size(peak)));
    let (seconds, threads) = (started.elapsed().as_secs_f64(), counted(threads as u64, "thread"));
    console.info(format_args!("{seconds:.2} s, {threads}{}", peak.unwrap_or_default()));
}

/// Returns the number of files of these inputs as text.
pub(crate) fn number_of_files<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> String {
    counted(inputs.into_iter().count() as u64, "file")
}

/// Returns the word for the records of these inputs, of which a pair is one.
pub(crate) fn unit(segments: &[ReadInput]) -> &'static str {
    let paired = segments.iter().filter(|segment| segment.is_paired()).count();
    match (paired, paired == segments.len()) {
        (0, _) => "reads",
        (_, true) => "pairs",
        (_, false) => "reads and pairs",
    }
}

/// Checks names of files, samples or assemblies that become cells of a table.
///
/// # Errors
/// Names the first one that cannot be a cell, and why.
pub(crate) fn check_cells<N: AsRef<OsStr>>(names: impl IntoIterator<Item = N>) -> Result<()> {
    let mut names = names.into_iter();
    names.try_for_each(|name| check_cell(name.as_ref()).map_err(anyhow::Error::msg))
}

/// Returns a name as text. Control characters and bytes that are not UTF-8 are escaped, so that different names stay
/// different.
pub(crate) fn text_of(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter.is_control() {
                true => text += &format!("\\x{:02x}", u32::from(letter)),
                false => text.push(letter),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::text_of;

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        assert_eq!(text_of(OsStr::from_bytes(b"r\xc3\xa9\xe9.fq\xff")), "ré\\xe9.fq\\xff");
        assert_eq!(text_of(OsStr::new("a\tb\u{1b}[2J\\t")), "a\\x09b\\x1b[2J\\t");
    }
}
