//! Functions that several commands share.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_io::{Input, Output, ReadInput, are_mates, check_cell};
use merganser_run::{Context, DeviceChoice, Summary, format_size, size_to_give};
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

/// Warns of two inputs whose names and first reads are those of mates, but which are read as single reads.
/// `done` is the participle for the message, and `remedy` makes the right options of the two names.
pub(crate) fn hint_at_mates<'a>(
    singles: impl Iterator<Item = &'a Input>,
    done: &str,
    remedy: impl Fn(&str, &str) -> String,
    console: &Console,
) {
    let paths: Vec<&Path> = singles.filter_map(Input::path).collect();
    let mates = |&[one, two]: &[&Path; 2]| {
        let name = |path: &Path| Some(path.file_name()?.as_encoded_bytes().to_vec());
        name(one).zip(name(two)).is_some_and(|(one, two)| named_as_mates(&one, &two))
            && first_name(one).zip(first_name(two)).is_some_and(|(one, two)| are_mates(&one, &two))
    };
    // Mates may be adjacent, or all first mates may precede all second ones, as in `*_1.fq *_2.fq`.
    let beside = paths.windows(2).map(|pair| [pair[0], pair[1]]);
    let behind = paths.iter().zip(&paths[paths.len() / 2..]).map(|(one, two)| [*one, *two]);
    if let Some(pair) = beside.chain(behind).find(mates) {
        let [one, two] = pair.map(|path| path.display().to_string());
        let remedy = remedy(&one, &two);
        console.warn(format_args!(
            "{one} and {two} look like mates of pairs, and are {done} as single reads: give {remedy}"
        ));
    }
}

/// Whether two names differ only in a 1 and a 2, as in `x_1.fq` or `x_R1_001.fastq.gz`.
fn named_as_mates(one: &[u8], two: &[u8]) -> bool {
    let mut differ = one.iter().zip(two).enumerate().filter(|(_, (one, two))| one != two);
    let (Some((at, letters)), None) = (differ.next(), differ.next()) else { return false };
    let part = |letter: Option<&u8>| letter.is_some_and(|letter| b"_.-".contains(letter));
    let before = one[..at].strip_suffix(b"R").unwrap_or(&one[..at]);
    one.len() == two.len()
        && letters == (&b'1', &b'2')
        && part(before.last())
        && part(one.get(at + 1))
}

/// Returns the name of the first read of a regular file.
fn first_name(path: &Path) -> Option<Vec<u8>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let file = fs::File::open(path).ok()?;
    merganser_io::decompress(file).ok()?.take(1000).read_to_end(&mut text).ok()?;
    let header = text.strip_prefix(b"@").or_else(|| text.strip_prefix(b">"))?;
    header.split(u8::is_ascii_whitespace).next().map(<[u8]>::to_vec)
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

    use super::{named_as_mates, text_of};

    #[test]
    fn names_of_mates() {
        let mates = |one: &str, two: &str| named_as_mates(one.as_bytes(), two.as_bytes());
        assert!(mates("reads_1.fq.gz", "reads_2.fq.gz"));
        assert!(mates("s_L001_R1_001.fastq.gz", "s_L001_R2_001.fastq.gz"));
        assert!(mates("s1.1.fq", "s1.2.fq"));
        assert!(!mates("s1.fq", "s2.fq"));
        assert!(!mates("reads_2.fq", "reads_1.fq"));
        assert!(!mates("reads_1.fq", "reads_2.fastq"));
        assert!(!mates("reads_1.fq", "reads_1.fq"));
        assert!(!mates("run_11.fq", "run_12.fq"));
    }

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        assert_eq!(text_of(OsStr::from_bytes(b"r\xc3\xa9\xe9.fq\xff")), "ré\\xe9.fq\\xff");
        assert_eq!(text_of(OsStr::new("a\tb\u{1b}[2J\\t")), "a\\x09b\\x1b[2J\\t");
    }
}
