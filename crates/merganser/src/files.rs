//! The files of a run: no output takes the place of an input or of another output, and all outputs
//! appear together.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use merganser_io::{Input, OutputSet, resolve_output};

/// What a run reads and writes. Every command names all of it here before it works, and gets its
/// outputs from here: a slip of the shell should not cost the reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFiles {
    inputs: HashSet<Place>,
    outputs: Vec<PathBuf>,
}

/// What makes two files the same one, whatever names and links lead there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// By device and inode.
    There(u64, u64),
    /// Not there yet: by directory and name.
    Missing(PathBuf),
}

impl RunFiles {
    pub(crate) fn new() -> RunFiles {
        RunFiles::default()
    }

    /// Files that are read; `-` is stdin. Those that are missing are for their readers to complain of.
    pub(crate) fn read(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> RunFiles {
        let there = |path: &Path| {
            let stdin = path.as_os_str() == "-";
            let path = if stdin { Path::new("/dev/stdin") } else { path };
            place(path).filter(|at| matches!(at, Place::There(..)))
        };
        self.inputs.extend(paths.into_iter().filter_map(|path| there(path.as_ref())));
        self
    }

    /// Inputs, with all that they are read from.
    pub(crate) fn inputs<'a>(self, inputs: impl IntoIterator<Item = &'a Input>) -> RunFiles {
        let mut files: Vec<PathBuf> = Vec::new();
        for input in inputs {
            files.extend(input.files());
            files.extend(input.is_stdin().then(|| "-".into()));
        }
        self.read(files)
    }

    /// Of arguments, the lists of inputs.
    pub(crate) fn lists<'a>(self, args: impl IntoIterator<Item = &'a PathBuf>) -> RunFiles {
        let names = args.into_iter().map(|path| path.as_os_str().as_bytes());
        let lists = names.filter_map(|name| name.strip_prefix(b"@"));
        self.read(lists.map(OsStr::from_bytes).collect::<Vec<_>>())
    }

    /// Files that are written; `-` is stdout.
    pub(crate) fn write(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> RunFiles {
        self.outputs.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Sees to it that no output would take the place of an input or of another output, and gives
    /// the set that they are to be made in. Devices and pipes may be given as often as one likes.
    ///
    /// # Errors
    /// Which file it is.
    pub(crate) fn check(&self) -> Result<OutputSet> {
        let mut taken = HashSet::new();
        for output in &self.outputs {
            let is_stdout = output.as_os_str() == "-";
            let path = if is_stdout { Path::new("/dev/stdout") } else { output };
            let name = if is_stdout { Path::new("stdout") } else { output }.display();
            let Some(place) = place(path) else { continue };
            if self.inputs.contains(&place) {
                bail!("{name}: is an input, and will not be replaced by an output");
            }
            if !taken.insert(place) {
                bail!("{name}: two outputs cannot go to the same file");
            }
        }
        Ok(OutputSet::new())
    }
}

/// Whether two names lead to the same file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    place(one).is_some_and(|at| Some(at) == place(other))
}

/// Where a file is or will be; `None` for what is no regular file, and where none can be.
fn place(path: &Path) -> Option<Place> {
    let there = |at: Metadata| at.is_file().then(|| Place::There(at.dev(), at.ino()));
    if let Ok(metadata) = fs::metadata(path) {
        return there(metadata);
    }
    let target = resolve_output(path).ok()?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
    Some(Place::Missing(folder.join(target.file_name()?)))
}
