//! Sassy, as a small program around its library, built when it is asked for.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The program, in a folder of its own.
pub(super) struct Sassy {
    folder: tempfile::TempDir,
}

/// What Sassy found.
pub(super) struct Found {
    /// A distance a pair, -1 if it is larger than the threshold.
    pub(super) distances: Vec<i32>,
    /// Nanoseconds a pair, one by one.
    pub(super) alone: f64,
    /// Nanoseconds a pair, each read in many segments.
    pub(super) together: f64,
}

impl Sassy {
    /// Builds it for this machine, as its authors say.
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

    /// Distances of the pairs of a file within `k`.
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
        let (alone, together) = times.trim().split_once(' ').context("no times of Sassy")?;
        Ok(Found { distances, alone: alone.parse()?, together: together.parse()? })
    }
}
