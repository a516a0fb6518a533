//! What these tests share: a directory of their own, the built program, simulated reads.

#[allow(dead_code, reason = "the tests of tests/cli use all of it")]
#[path = "../cli/support/oracle.rs"]
mod oracle;
#[allow(dead_code, reason = "the tests of tests/cli use all of it")]
#[path = "../cli/support/reads.rs"]
pub(crate) mod reads;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The program under test.
pub(crate) const MERGANSER: &str = env!("CARGO_BIN_EXE_merganser");

/// A directory that goes with this.
#[derive(Debug)]
pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Dir {
        Dir(tempfile::Builder::new().prefix("merganser-test-").tempdir().unwrap())
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// The names in it, hidden ones included, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.root())
    }

    /// Runs the program here, which is to go well.
    pub(crate) fn run(&self, args: &str) {
        let mut program = Command::new(MERGANSER);
        let ran = program.args(args.split_whitespace()).current_dir(self.root()).output().unwrap();
        assert!(ran.status.success(), "{args}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// The names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
