//! The files of a run: no output replaces an input or another output, and all outputs appear together.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use merganser_io::{
    FileIdentity, Input, OutputSet, check_creation, check_output, is_read_once, reason,
};
use merganser_kmers::tables::AnyTable;
use merganser_run::Context;

use crate::console::note_output;
use crate::failure::usage;
use crate::holds::Holds;

/// The files that a run reads and writes. Every command declares all of them here before it works, and gets its
/// outputs from here, so that a mistake in file names never costs data.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFiles {
    inputs: HashSet<FileIdentity>,
    /// The error of a file that could not be identified.
    failed: Option<String>,
    outputs: Vec<(Holds, PathBuf)>,
}

impl RunFiles {
    pub(crate) fn new() -> RunFiles {
        RunFiles::default()
    }

    /// Adds files that are read; `-` is stdin. Missing files are ignored here; reading them reports the error.
    pub(crate) fn read(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> RunFiles {
        for path in paths {
            let path = path.as_ref();
            let stdin = path.as_os_str() == "-";
            match FileIdentity::of(if stdin { Path::new("/dev/stdin") } else { path }) {
                Ok(Some(at @ FileIdentity::Existing(..))) => drop(self.inputs.insert(at)),
                Ok(_) => {}
                Err(error) => self.failed = Some(cannot_tell(path, &error)),
            }
        }
        self
    }

    /// Adds inputs, with all files that they are read from.
    pub(crate) fn inputs<'a>(self, inputs: impl IntoIterator<Item = &'a Input>) -> RunFiles {
        let mut files: Vec<PathBuf> = Vec::new();
        for input in inputs {
            files.extend(input.files());
            files.extend(input.is_stdin().then(|| "-".into()));
        }
        self.read(files)
    }

    /// Adds the lists of inputs (`@LIST`) among these arguments.
    pub(crate) fn lists<'a>(self, args: impl IntoIterator<Item = &'a PathBuf>) -> RunFiles {
        let names = args.into_iter().map(|path| path.as_os_str().as_bytes());
        let lists = names.filter_map(|name| name.strip_prefix(b"@"));
        self.read(lists.map(OsStr::from_bytes).collect::<Vec<_>>())
    }

    /// Adds files that are written, with their formats; `-` is stdout.
    pub(crate) fn write(
        self,
        holds: Holds,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> RunFiles {
        self.write_each(paths.into_iter().map(|path| (holds, path.as_ref().to_owned())))
    }

    /// Adds files that are written, each with its formats.
    pub(crate) fn write_each(
        mut self,
        outputs: impl IntoIterator<Item = (Holds, PathBuf)>,
    ) -> RunFiles {
        self.outputs.extend(outputs);
        self
    }

    /// Checks that outputs can have the formats that their names ask for, that no output replaces an input or another
    /// output, that streams are open and that files are writable. Devices and pipes may be given more than once.
    /// Returns the set in which the outputs are to be created.
    ///
    /// # Errors
    /// Names the file that fails the check.
    pub(crate) fn check(&self) -> Result<OutputSet> {
        if let Some(failed) = &self.failed {
            bail!("{failed}");
        }
        let mut taken = HashSet::new();
        for (_, output) in &self.outputs {
            note_output(output);
            let is_stdout = output.as_os_str() == "-";
            let path = if is_stdout { Path::new("/dev/stdout") } else { output };
            let name = if is_stdout { Path::new("stdout") } else { output }.display();
            let file =
                FileIdentity::of(path).map_err(|error| anyhow!(cannot_tell(path, &error)))?;
            let Some(file) = file else { continue };
            if self.inputs.contains(&file) {
                bail!("{name}: is an input, and will not be replaced by an output");
            }
            if !taken.insert(file) {
                bail!("{name}: two outputs cannot go to the same file");
            }
        }
        self.outputs.iter().try_for_each(|(_, output)| check_output(output))?;
        // Checked last, because errors that would cost a file are more important.
        match self.outputs.iter().find_map(|(holds, path)| holds.problem(path)) {
            Some(problem) => usage(problem),
            None => Ok(OutputSet::new()),
        }
    }
}

impl RunFiles {
    /// Returns the paths of all outputs; `-` is stdout.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Path> {
        self.outputs.iter().map(|(_, path)| path.as_path())
    }

    /// Checks that all outputs can be created, without creating any. Those in the folder `made`, or a
    /// folder above it, are not checked if it is missing: the run creates it.
    ///
    /// # Errors
    /// Names the first output that cannot be created.
    pub(crate) fn check_creation(&self, made: Option<&Path>) -> Result<(), merganser_io::Error> {
        let is_made = |path: &Path| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let missing = folder.filter(|folder| !folder.exists());
            missing.is_some_and(|missing| made.is_some_and(|made| made.starts_with(missing)))
        };
        self.outputs().filter(|path| !is_made(path)).try_for_each(check_creation)
    }
}

/// Returns the files of the table at `path`, such as both files of a KMC database; `None` if it has sequences, or can be
/// read only once.
///
/// # Errors
/// If it is not a table, or cannot be read.
pub(crate) fn files_of_table(path: &Path, context: &Context) -> Result<Option<Vec<PathBuf>>> {
    if is_read_once(path) || AnyTable::is_of_sequences(path)? {
        return Ok(None);
    }
    Ok(Some(AnyTable::open_with(path, true, context)?.files()))
}

/// Whether two paths lead to the same file.
///
/// # Errors
/// If the disk fails.
pub(crate) fn is_same(one: &Path, other: &Path) -> Result<bool> {
    let look = |path| FileIdentity::of(path).map_err(|error| anyhow!(cannot_tell(path, &error)));
    let [one, other] = [look(one)?, look(other)?];
    Ok(one.is_some() && one == other)
}

fn cannot_tell(path: &Path, error: &io::Error) -> String {
    format!("{}: cannot access this file: {}", path.display(), reason(error))
}
