//! Sassy, as a small program around its library, which is built when it is needed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The compiled program, in a temporary folder.
pub(super) struct Sassy {
    folder: tempfile::TempDir,
}

/// Results of Sassy.
pub(super) struct Found {
    /// The distance of each pair; -1 if it is larger than the threshold.
    pub(super) distances: Vec<i32>,
    /// Nanoseconds per pair, with pairs searched one by one.
    pub(super) alone: f64,
    /// Nanoseconds per pair, with each read searched in many segments.
    pub(super) together: f64,
}

impl Sassy {
    /// Builds the program for this machine, as its authors recommend.
    ///
    /// # Errors
    /// If cargo cannot fetch or build it.
    pub(super) fn build() -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("sassy/Cargo.toml");
        let output = Command::new("cargo")
            .args(["build", "--release", "--manifest-path"])
            .arg(manifest)
            .arg("--target-dir")
            .arg(folder.path())
            .env("RUSTFLAGS", "-C target-cpu=native")
            .output()
            .context("cannot run cargo")?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cannot build Sassy: {}", error.trim());
        Ok(Self { folder })
    }

    /// Computes the distances, up to `k`, of a file of pairs.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn run(&self, pairs: &Path, k: u32) -> Result<Found> {
        let out = self.folder.path().join("out");
        let output = Command::new(self.folder.path().join("release/merganser-bench-sassy"))
            .arg(pairs)
            .arg(k.to_string())
            .arg(&out)
            .output()
            .context("cannot run Sassy")?;
        ensure!(output.status.success(), "Sassy failed on {}: {}", pairs.display(), output.status);
        let text = std::fs::read_to_string(&out).context("cannot read Sassy's distances")?;
        let distances = text.lines().map(str::parse).collect::<Result<_, _>>()?;
        let times = String::from_utf8(output.stdout)?;
        let (alone, together) = times.trim().split_once(' ').context("Sassy printed no times")?;
        Ok(Found { distances, alone: alone.parse()?, together: together.parse()? })
    }
}
