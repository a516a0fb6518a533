//! What to read: files, standard input, lists of files.

use crate::error::reason;
use crate::shard::Stretch;
use crate::stream::{Access, Descriptor, check_open};
use crate::{Error, FileKind, open_file};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One input. Displayed as its path, or `stdin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, a named pipe, or whatever else a path leads to.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// One of these, with a FASTA file: should it be CRAM, the sequences that its reads were aligned
    /// to. See [`Input::with_reference`].
    Referenced(Box<Input>, Arc<Path>),
    /// A part of a file, which [`shard`](crate::shard()) makes.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "only made and read here")]
    Stretch(Box<Input>, Arc<Stretch>),
}

impl Input {
    /// This input, and the FASTA file to read it with if it is CRAM; it is looked at as inputs are.
    #[must_use]
    pub fn with_reference(self, reference: &Path) -> Input {
        Input::Referenced(Box::new(self), Arc::from(reference))
    }

    /// Where it is; `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Stdin => None,
            Self::Referenced(input, _) | Self::Stretch(input, _) => input.path(),
        }
    }

    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        self.path().is_none()
    }

    /// The files that it is read from, its reference and that one's index among them.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let reference = self.reference().map(AsRef::as_ref);
        let index = reference.map(index_of_reference);
        self.path().into_iter().chain(reference).map(Path::to_owned).chain(index)
    }

    /// Bytes of it, of a file of `size` bytes.
    fn part_of(&self, size: u64) -> u64 {
        match self {
            Self::Stretch(_, stretch) => stretch.bytes(),
            _ => size,
        }
    }

    /// The byte of its file with which it begins.
    pub(crate) fn begins(&self) -> u64 {
        match self {
            Self::Stretch(_, stretch) => stretch.range().0,
            _ => 0,
        }
    }

    pub(crate) fn reference(&self) -> Option<&Arc<Path>> {
        match self {
            Self::Referenced(_, reference) => Some(reference),
            Self::Stretch(input, _) => input.reference(),
            _ => None,
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Stdin => formatter.write_str("stdin"),
            Self::Referenced(input, _) => input.fmt(formatter),
            Self::Stretch(input, stretch) => match stretch.range() {
                (0, _) => input.fmt(formatter),
                (from, _) => write!(formatter, "{input} (from byte {from} on)"),
            },
        }
    }
}

/// Bytes of the inputs as text, about: a compressed one counts four times. `None` if one of them is
/// no regular file.
pub fn text_bytes<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> Option<u64> {
    let size = |input: &Input| {
        let path = input.path()?;
        let at = fs::metadata(path).ok().filter(|at| at.is_file())?;
        let bytes = input.part_of(at.len());
        let name = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let compressed = ["gz", "bgz", "zst", "bz2", "xz", "bam", "cram"].contains(&name);
        Some(bytes * if compressed { 4 } else { 1 })
    };
    inputs.into_iter().map(size).sum()
}

/// Turns command-line arguments into inputs, in their order: `-` is standard input, `@list.txt` a
/// file with one path a line (blank lines and lines that begin with `#` are skipped; a relative
/// path is relative to the current directory; `-` may be listed too), anything else a path. A file
/// whose own name begins with `@` or is `-` is given as `./@name`, `./-`.
///
/// # Errors
///
/// If a list cannot be read or names no file or one that is not there, or standard input is given twice.
/// What is in the files is looked at by [`Reader::open`](crate::Reader::open).
pub fn expand_inputs(args: &[PathBuf]) -> Result<Vec<Input>, Error> {
    let mut inputs = Vec::with_capacity(args.len());
    for arg in args {
        match arg.as_os_str().as_bytes().strip_prefix(b"@") {
            Some(list) => read_list(Path::new(OsStr::from_bytes(list)), &mut inputs)?,
            None => inputs.push(one_input(arg)),
        }
    }
    if inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
        return Err(Error::StdinTwice);
    }
    Ok(inputs)
}

fn one_input(path: &Path) -> Input {
    if path.as_os_str() == "-" { Input::Stdin } else { Input::File(path.to_owned()) }
}

/// What is wrong: the list, or a file that it names.
enum Failed {
    List(io::Error),
    Input(Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::List(error)
    }
}

fn read_list(list: &Path, inputs: &mut Vec<Input>) -> Result<(), Error> {
    let failed = |reason| Error::List { list: list.to_owned(), reason };
    let before = inputs.len();
    let add = |_, line: &[u8]| {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(());
        }
        let input = one_input(Path::new(OsStr::from_bytes(line)));
        // At once: of a file that is no list the first line is none, and there may be no end of others.
        if let Some(error) = input.path().and_then(|path| fs::metadata(path).err()) {
            return Err(Failed::Input(open_error(&input, &error)));
        }
        inputs.push(input);
        Ok(())
    };
    crate::each_table_line(list, add).map_err(|error| match error {
        Failed::List(error) => failed(reason(&error)),
        Failed::Input(error) => error,
    })?;
    if inputs.len() == before {
        return Err(failed("it names no file".into()));
    }
    Ok(())
}

/// Sees to it that `input` can be opened for reading, and returns its size on disk in bytes if it
/// is a regular file.
///
/// Regular files are opened and closed again: thousands may be given, more than may be open at
/// once. A named pipe is not opened yet, as this would wait for its writer, who may first want to
/// fill another one.
pub(crate) fn check(input: &Input) -> Result<Option<u64>, Error> {
    if let Some(reference) = input.reference() {
        check_reference(reference)?;
    }
    let failed = |error: io::Error| open_error(input, &error);
    let Some(path) = input.path() else { return stdin().map(|_| None) };
    check_open(path).map_err(failed)?;
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(Error::Open {
            input: input.to_string(),
            reason: match FileKind::of_path(path) {
                Some(kind @ (FileKind::Kraken2 | FileKind::Taxonomy)) => {
                    format!("it is {kind}; name files of sequences")
                }
                _ => "it is a directory; name the files in it".into(),
            },
        });
    }
    if metadata.is_file() {
        File::open(path).map_err(failed)?;
        return Ok(Some(input.part_of(metadata.len())));
    }
    rustix::fs::access(path, rustix::fs::Access::READ_OK).map_err(|errno| failed(errno.into()))?;
    Ok(None)
}

/// Standard input, from where it was read to.
///
/// # Errors
///
/// If it is closed, or cannot be read.
pub fn stdin() -> Result<File, Error> {
    let failed = |error| open_error(&Input::Stdin, &error);
    Descriptor::STDIN.open(Access::Read).map_err(failed)
}

/// The error for an input that cannot be opened.
pub(crate) fn open_error(input: &Input, error: &io::Error) -> Error {
    Error::Open { input: input.to_string(), reason: reason(error) }
}

/// Sees to it that a reference can be opened.
fn check_reference(path: &Path) -> Result<(), Error> {
    let failed = |error| open_error(&Input::File(path.to_owned()), &error);
    let file = open_file(path).map_err(failed)?;
    match file.metadata().map_err(failed)?.is_file() {
        true => Ok(()),
        false => Err(failed(io::ErrorKind::IsADirectory.into())),
    }
}

/// Returns where the index of a reference is (`.fai`), if it has one.
pub fn index_of_reference(path: &Path) -> PathBuf {
    let mut index = path.as_os_str().to_owned();
    index.push(".fai");
    index.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<PathBuf> {
        texts.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn lists_are_read_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let (list, spaced) = (dir.path().join("list.txt"), dir.path().join("c d.fq.gz"));
        let latin = dir.path().join(OsStr::from_bytes(b"\xe9.fq"));
        [&spaced, &latin].into_iter().for_each(|path| fs::write(path, "").unwrap());
        let [spaced_name, latin_name] = [&spaced, &latin].map(|path| path.as_os_str().as_bytes());
        let lines = [&b"# reads\n"[..], b"Cargo.toml", &[b"  ", spaced_name, b" "].concat()];
        let lines = [&lines[..], &[b"-", latin_name]].concat();
        fs::write(&list, lines.join(&b'\n')).unwrap();
        let args = paths(&["a.fq", &format!("@{}", list.display()), "./-"]);
        let file = |text: &str| Input::File(text.into());
        assert_eq!(
            expand_inputs(&args).unwrap(),
            [
                file("a.fq"),
                file("Cargo.toml"),
                Input::File(spaced),
                Input::Stdin,
                Input::File(latin),
                file("./-")
            ]
        );
        // What is not there is found at once, named as the list has it.
        fs::write(&list, "Cargo.toml\nb.fq\n").unwrap();
        let error = expand_inputs(&args).unwrap_err().to_string();
        assert_eq!(error, "b.fq: cannot open: no such file or directory");
    }

    #[test]
    fn bad_arguments_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let empty = dir.path().join("empty");
        fs::write(&empty, "#\n").unwrap();
        let message = |texts: &[&str]| expand_inputs(&paths(texts)).unwrap_err().to_string();
        assert_eq!(
            message(&["-", "a", "-"]),
            "standard input ('-') is given more than once; it can be read only once"
        );
        assert_eq!(
            message(&["@/no/list"]),
            "/no/list: cannot read this list of input files: no such file or directory"
        );
        let text = empty.display();
        assert_eq!(
            message(&[&format!("@{text}")]),
            format!("{text}: cannot read this list of input files: it names no file")
        );
    }

    #[test]
    fn unreadable_files_are_named() {
        let message = |text: &str| check(&Input::File(text.into())).unwrap_err().to_string();
        assert_eq!(message("/no/file"), "/no/file: cannot open: no such file or directory");
        assert_eq!(message("/tmp"), "/tmp: cannot open: it is a directory; name the files in it");
    }
}
