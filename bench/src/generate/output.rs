//! Output files that appear whole or not at all.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file that is written under its name with `.part` appended, or stdout.
pub(crate) struct Output {
    writer: Box<dyn Write>,
    target: Option<(PathBuf, PathBuf)>,
}

impl Output {
    /// Creates the file `path`, or uses stdout if it is `-`. Writes are not buffered: callers pass whole blocks.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { writer: Box::new(std::io::stdout().lock()), target: None });
        }
        let part = with_suffix(path, ".part");
        let file =
            File::create(&part).with_context(|| format!("cannot create {}", part.display()))?;
        Ok(Self { writer: Box::new(file), target: Some((part, path.to_owned())) })
    }

    /// Appends a block.
    pub(crate) fn write(&mut self, block: &[u8]) -> Result<()> {
        self.writer.write_all(block).context("cannot write the output")
    }

    /// Renames the file to its final name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.writer.flush().context("cannot write the output")?;
        if let Some((part, path)) = &self.target {
            std::fs::rename(part, path)
                .with_context(|| format!("cannot rename {}", part.display()))?;
        }
        Ok(())
    }
}

/// Returns `path` with `suffix` appended to its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
