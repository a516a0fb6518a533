//! `classify --resume`: a journal of the samples of a sheet that are done, so that a run that was killed
//! goes on where it was.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::{collections::HashMap, fs};

use anyhow::{Result, bail};
use merganser_io::{reason, uninterrupted};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::common::text_of;

/// Bytes of an output that are read together.
const BLOCK: usize = 1 << 18;

/// A line: a sample that is done.
#[derive(Debug, Deserialize, Serialize)]
struct Done {
    sample: String,
    /// What its outputs depend on, as one number.
    job: String,
    files: Vec<Whole>,
    /// For the summary of the run.
    results: Value,
}

/// An output as it was written.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Whole {
    path: String,
    bytes: u64,
    crc32: u32,
}

/// The journal. It is only ever added to, a line at a time, and nobody else does so meanwhile.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// The last line of each job.
    done: HashMap<String, Done>,
}

impl Journal {
    /// Opens or begins it. Lines that are none say nothing: a run may have been killed while it wrote one.
    ///
    /// # Errors
    /// If it cannot be opened or is in use, or is another file.
    pub(super) fn open(path: &Path) -> Result<Journal> {
        let failed = |error: io::Error| anyhow::anyhow!("{}: {}", path.display(), reason(&error));
        let options = OpenOptions::new().read(true).append(true).create(true).clone();
        let mut file = options.open(path).map_err(failed)?;
        if file.try_lock().is_err() {
            bail!("{}: is in use by another run: give each its own", path.display());
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        if !text.is_empty() && !text.starts_with(b"{\"sample\":") {
            bail!("{}: is no journal of classify --resume, and is not added to", path.display());
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            file.write_all(b"\n").map_err(failed)?;
        }
        let lines = text.split(|&byte| byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Done>(line).ok());
        let done = lines.map(|done| (done.job.clone(), done)).collect();
        Ok(Journal { path: path.to_owned(), file, done })
    }

    /// The results of a job that is done, if its outputs are as they were written.
    pub(super) fn results(&self, job: &str, outputs: &[PathBuf]) -> Option<&Value> {
        let done = self.done.get(job)?;
        let found = found(outputs).ok()?;
        (found == done.files).then_some(&done.results)
    }

    /// Notes that a job is done, whose outputs are there.
    ///
    /// # Errors
    /// As reading the outputs and writing.
    pub(super) fn note(
        &mut self,
        sample: String,
        job: String,
        outputs: &[PathBuf],
        results: Value,
    ) -> Result<()> {
        let done = Done { sample, job, files: found(outputs)?, results };
        let mut line = serde_json::to_vec(&done)?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| anyhow::anyhow!("{}: {}", self.path.display(), reason(&error)))
    }
}

/// The outputs that are files, as they are.
fn found(outputs: &[PathBuf]) -> Result<Vec<Whole>> {
    let is_other = |path: &Path| fs::metadata(path).is_ok_and(|at| !at.is_file());
    let outputs = outputs.iter().filter(|path| !is_other(path));
    outputs
        .map(|path| {
            whole(path).map_err(|error| anyhow::anyhow!("{}: {}", path.display(), reason(&error)))
        })
        .collect()
}

fn whole(path: &Path) -> io::Result<Whole> {
    let (mut file, mut bytes, mut checksum) = (File::open(path)?, 0, crc32fast::Hasher::new());
    let mut block = vec![0; BLOCK];
    loop {
        let read = uninterrupted(|| file.read(&mut block))?;
        if read == 0 {
            break;
        }
        bytes += read as u64;
        checksum.update(&block[..read]);
    }
    Ok(Whole { path: text_of(path.as_os_str()), bytes, crc32: checksum.finalize() })
}
