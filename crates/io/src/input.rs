//! Inputs: files, standard input, and lists of files.

use crate::converted::{Convert, Converted};
use crate::error::reason;
use crate::shard::Stretch;
use crate::stream::{Access, Descriptor, check_open};
use crate::{Error, FileKind, ReadInput, open_file};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One input. It is displayed as its path, or as `stdin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, a named pipe, or anything else that a path refers to.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// An input with a FASTA file of the sequences that its reads were aligned to, which is used if the input is
    /// CRAM. See [`Input::with_reference`].
    Referenced(Box<Input>, Arc<Path>),
    /// A stretch of a file, made by [`shard`](crate::shard()).
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "only this crate creates and reads it")]
    Stretch(Box<Input>, Arc<Stretch>),
    /// A file of another format, which is read as FASTA. See [`Input::converted`].
    Converted(PathBuf, Converted),
}

impl Input {
    /// Makes an input of a regular file whose sequences are read as the FASTA that a conversion returns. It is checked as
    /// a file, and cannot be cut into shards.
    pub fn converted(path: &Path, conversion: impl Convert + 'static) -> Input {
        Input::Converted(path.to_owned(), Converted(Arc::new(conversion)))
    }

    /// Attaches the FASTA file that is needed to read the input if it is CRAM. The file is checked together with
    /// the inputs.
    #[must_use]
    pub fn with_reference(self, reference: &Path) -> Input {
        Input::Referenced(Box::new(self), Arc::from(reference))
    }

    /// Returns the path; `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Converted(path, _) => Some(path),
            Self::Stdin => None,
            Self::Referenced(input, _) | Self::Stretch(input, _) => input.path(),
        }
    }

    /// Whether the input is a regular file, which can be read more than once. False if the system cannot tell.
    pub fn is_file(&self) -> bool {
        self.path().is_some_and(|path| crate::is_file(path).unwrap_or(false))
    }

    /// Whether the input is standard input, a pipe or a device, which can be read only once.
    pub fn is_stream(&self) -> bool {
        self.path().is_none_or(crate::is_read_once)
    }

    /// Whether the input is standard input.
    pub fn is_stdin(&self) -> bool {
        self.path().is_none()
    }

    /// Returns the files that the input is read from, including its reference and the index of the reference.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let reference = self.reference().map(AsRef::as_ref);
        let index = reference.map(index_of_reference);
        self.path().into_iter().chain(reference).map(Path::to_owned).chain(index)
    }

    /// Returns the number of bytes of the input if its file has `size` bytes.
    fn part_of(&self, size: u64) -> u64 {
        match self {
            Self::Stretch(_, stretch) => stretch.bytes(),
            Self::Converted(_, Converted(conversion)) => conversion.bytes(),
            _ => size,
        }
    }

    /// Returns the offset in the file at which the input begins.
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

/// Makes an input of a path, as [`Input::File`].
macro_rules! from_path {
    ($($path:ty),*) => {$(
        impl From<$path> for Input {
            fn from(path: $path) -> Input {
                Input::File(path.into())
            }
        }

        impl From<$path> for ReadInput {
            fn from(path: $path) -> ReadInput {
                ReadInput::Single(path.into())
            }
        }
    )*};
}

from_path!(PathBuf, &PathBuf, &Path, String, &String, &str);

impl From<&Input> for Input {
    fn from(input: &Input) -> Input {
        input.clone()
    }
}

impl fmt::Display for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Converted(path, _) => path.display().fmt(formatter),
            Self::Stdin => formatter.write_str("stdin"),
            Self::Referenced(input, _) => input.fmt(formatter),
            Self::Stretch(input, stretch) => match stretch.range() {
                (0, _) => input.fmt(formatter),
                (from, _) => write!(formatter, "{input} (from byte {from} on)"),
            },
        }
    }
}

/// Estimates the size of the inputs as text, in bytes: a compressed file counts four times. `None` if an input is
/// not a regular file.
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

/// Converts command-line arguments to inputs, in the same order.
///
/// `-` is standard input, `@list.txt` is a list with one path per line, and anything else is a path. In lists,
/// blank lines and lines that begin with `#` are skipped, relative paths are relative to the current directory, and
/// `-` may occur too. A file whose own name is `-` or begins with `@` is given as `./-` or `./@name`.
///
/// # Errors
///
/// If a list cannot be read, names no file, or names a file that does not exist, or if standard input is given
/// twice. [`Reader::open`](crate::Reader::open) checks the contents of the files.
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

/// The cause of a failure: the list itself, or a file that it names.
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
        // Checked at once: a file that is not a list fails at its first line, instead of after a large number of
        // lines.
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

/// Checks that `input` can be opened for reading, and returns its size on disk in bytes if it is a regular file.
///
/// Regular files are opened and closed again, because there may be more inputs than files that can be open at once.
/// A named pipe is not opened yet: opening it waits for its writer, which may first have to fill another pipe.
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

/// Returns standard input, from its current position.
///
/// # Errors
///
/// If it is closed or cannot be read.
pub fn stdin() -> Result<File, Error> {
    let failed = |error| open_error(&Input::Stdin, &error);
    Descriptor::STDIN.open(Access::Read).map_err(failed)
}

/// Returns the error for an input that cannot be opened.
pub(crate) fn open_error(input: &Input, error: &io::Error) -> Error {
    let mut reason = reason(error);
    if error.kind() == io::ErrorKind::NotFound && input.path().is_some_and(are_files) {
        reason.push_str("; commas do not separate files: repeat the option, or give the files as several arguments");
    }
    Error::Open { input: input.to_string(), reason }
}

/// Whether a path is a list of existing files, separated by commas.
fn are_files(path: &Path) -> bool {
    let mut parts = path.as_os_str().as_bytes().split(|&byte| byte == b',').peekable();
    parts.next_if(|part| Path::new(OsStr::from_bytes(part)).is_file()).is_some()
        && parts.peek().is_some()
        && parts.all(|part| Path::new(OsStr::from_bytes(part)).is_file())
}

/// Checks that a reference can be opened.
fn check_reference(path: &Path) -> Result<(), Error> {
    let failed = |error| open_error(&Input::File(path.to_owned()), &error);
    let file = open_file(path).map_err(failed)?;
    match file.metadata().map_err(failed)?.is_file() {
        true => Ok(()),
        false => Err(failed(io::ErrorKind::IsADirectory.into())),
    }
}

/// Returns the path at which the index of a reference (`.fai`) is expected.
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
        // A missing file is found at once and named as in the list.
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
