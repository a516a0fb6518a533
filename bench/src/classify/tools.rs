//! The compared programs.

use crate::count::find_program;
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Paths of the installed programs.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) merganser: PathBuf,
    /// Paths of `kraken2` and `kraken2-build`, if they are installed.
    pub(crate) kraken: Option<[PathBuf; 2]>,
}

impl Tools {
    /// Finds the programs.
    ///
    /// # Errors
    ///
    /// If merganser is not found.
    pub(crate) fn find(merganser: Option<&Path>) -> Result<Tools> {
        let beside = std::env::current_exe().ok().map(|exe| exe.with_file_name("merganser"));
        let beside = beside.filter(|path| path.is_file());
        let merganser = match merganser {
            Some(path) => Some(path.canonicalize().context("cannot find --merganser")?),
            None => beside.or_else(|| find_program("merganser")),
        };
        let kraken = find_program("kraken2").zip(find_program("kraken2-build"));
        let merganser = merganser.context("no merganser beside this program or on the PATH")?;
        Ok(Tools { merganser, kraken: kraken.map(<[PathBuf; 2]>::from) })
    }

    /// Returns the versions as a Markdown list.
    pub(crate) fn versions(&self) -> String {
        let of = |program: &Path| {
            crate::count::machine::first_line(Command::new(program).arg("--version"))
        };
        let kraken = self.kraken.as_ref().and_then(|[kraken, _]| of(kraken));
        format!(
            "- {}\n- {}\n",
            of(&self.merganser).unwrap_or_default(),
            kraken.unwrap_or_else(|| "Kraken 2: not installed".into())
        )
    }
}

/// Returns a command line of words and paths.
pub(crate) fn words<const N: usize>(words: [&dyn AsRef<std::ffi::OsStr>; N]) -> Vec<OsString> {
    words.iter().map(|word| word.as_ref().to_owned()).collect()
}

/// Runs a command and returns its stdout.
///
/// # Errors
///
/// If the command fails; the message has the last line of its stderr.
pub(crate) fn run(command: &[OsString]) -> Result<String> {
    let (program, arguments) = command.split_first().context("no command")?;
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{}: {}", program.display(), said.lines().last().unwrap_or("failed"));
    }
    ensure!(output.status.success());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
