//! edlib, as a small program around its C API, which is built when it is needed.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("edlib.cpp");

/// The compiled program, in a temporary folder.
pub(crate) struct Edlib {
    folder: tempfile::TempDir,
}

/// Results of edlib.
pub(crate) struct Found {
    /// The distance of each pair; -1 if it is larger than the threshold.
    pub(crate) distances: Vec<i32>,
    /// Nanoseconds per pair.
    pub(crate) nanoseconds: f64,
}

impl Edlib {
    /// Builds the program.
    ///
    /// # Errors
    /// If there is no C++ compiler or no edlib (Debian's libedlib-dev).
    pub(crate) fn build() -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        let source = folder.path().join("edlib.cpp");
        std::fs::write(&source, SOURCE).context("cannot write edlib.cpp")?;
        let output = Command::new("g++")
            .args(["-O3", "-std=c++17", "-o"])
            .args([&folder.path().join("edlib"), &source])
            .arg("-ledlib")
            .output()
            .context("cannot run g++")?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cannot build with libedlib-dev: {}", error.trim());
        Ok(Self { folder })
    }

    /// Computes the distances of complete reads and segments in a file of pairs; `k` limits them unless it is
    /// negative.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn run(&self, pairs: &Path, k: i32) -> Result<Found> {
        self.run_as(pairs, k, "NW")
    }

    /// Like [`Edlib::run`]; with mode HW, for reads in any part of their segments.
    pub(crate) fn run_as(&self, pairs: &Path, k: i32, mode: &str) -> Result<Found> {
        let out = self.folder.path().join("out");
        let output = Command::new(self.folder.path().join("edlib"))
            .arg(pairs)
            .arg(k.to_string())
            .arg(&out)
            .arg(mode)
            .output()
            .context("cannot run edlib")?;
        ensure!(output.status.success(), "edlib failed on {}: {}", pairs.display(), output.status);
        let text = std::fs::read_to_string(&out).context("cannot read edlib's distances")?;
        let distances = text.lines().map(str::parse).collect::<Result<_, _>>()?;
        let nanoseconds = String::from_utf8(output.stdout)?.trim().parse()?;
        Ok(Found { distances, nanoseconds })
    }

    /// Computes the distances of pairs in memory.
    ///
    /// # Errors
    /// If the pairs cannot be written to a file.
    pub(crate) fn run_text(&self, pairs: &[u8], k: i32) -> Result<Found> {
        let file: PathBuf = self.folder.path().join("pairs");
        std::fs::write(&file, pairs).context("cannot write pairs")?;
        self.run(&file, k)
    }
}
