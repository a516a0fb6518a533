//! `--resume`: a journal of the finished samples of a sheet, so that an interrupted run can continue.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow, bail};
use merganser_io::{Content, look_up, reason};
use merganser_run::{Cancel, Cancelled, format_size};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fingerprints::{Fingerprint, Fingerprints};
use crate::common::text_of;
use crate::console::Console;

/// The first bytes of a journal, and of each line of a sample.
const START: &[u8] = b"{\"sample\":";
/// The bytes around the results for a page in their line.
const OF_PAGE: [&[u8]; 2] = [b"{\"page\":", b"}\n"];
/// The maximum number of bytes of a line of a sample; one of 100,000 files needs less.
const MAX: u64 = 64 << 20;
/// A line may use at most 1 / `SHARE` of the memory, because it is held both as text and parsed.
const SHARE: u64 = 6;

/// A line of the journal: a finished sample. The next line may have the sample's results for a page of all samples, which
/// are read only when they are needed: they may be large.
#[derive(Debug, Deserialize, Serialize)]
struct Done {
    sample: String,
    /// A checksum of the options.
    job: String,
    /// The shared files, then the sample's own files; `None` in lines of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Vec<Fingerprint>>,
    files: Vec<Whole>,
    /// The sample's results in the summary of the run.
    results: Value,
    /// The results for a page in the next line, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<OfPage>,
    /// The first byte of the next line, if it is as `page` describes it.
    #[serde(skip)]
    page_at: Option<u64>,
}

/// The results of a sample for a page.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct OfPage {
    /// The length of their line.
    bytes: u64,
    /// The checksum of their line.
    crc32: u32,
}

/// An output in the state in which it was written.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Whole {
    path: String,
    bytes: u64,
    crc32: u32,
}

/// A sample, and everything that its outputs depend on except the files that all samples share.
pub(crate) struct Job {
    pub(crate) sample: String,
    /// A checksum of the options.
    pub(crate) options: String,
    /// The files that are read.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) outputs: Vec<PathBuf>,
}

/// The fingerprints of the files that are read, or the reason why one has none.
pub(crate) type Inputs = Result<Vec<Fingerprint>, String>;

/// The journal. Each finished sample appends a line. Only one run at a time can use it.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// The last line of each pair of sample and options.
    done: HashMap<(String, String), Done>,
    known: Fingerprints,
    /// The files that all samples share, such as a database, and their fingerprints when they were opened, or the reason
    /// why a file has none.
    shared: (Vec<PathBuf>, Inputs),
    /// The maximum number of bytes of a line.
    most: u64,
}

impl Journal {
    /// Opens or creates the journal; a line may use only a part of `memory`. Incomplete lines are skipped, because a
    /// run may have been killed while it wrote one. Prints how many samples are only in lines of earlier versions.
    ///
    /// # Errors
    /// If the file cannot be opened, is in use, or is not a journal.
    pub(crate) fn open(path: &Path, memory: u64, console: &Console) -> Result<Journal> {
        let failed = |error: io::Error| failed(path, &error);
        refuse_other(path)?;
        let options = OpenOptions::new().read(true).append(true).create(true).clone();
        let file = options.open(path).map_err(failed)?;
        if file.try_lock().is_err() {
            bail!("{}: is in use by another run: give each run its own journal", path.display());
        }
        let (done, known) = Default::default();
        let shared = (Vec::new(), Ok(Vec::new()));
        let most = MAX.min(memory / SHARE);
        let mut journal = Journal { path: path.to_owned(), file, done, known, shared, most };
        let earlier = journal.read_lines()?;
        if !earlier.is_empty() {
            console.info(format_args!(
                "{}: samples that are done again, because an earlier version noted them without \
                 fingerprints of their inputs: {}",
                path.display(),
                earlier.len()
            ));
        }
        Ok(journal)
    }

    /// Checks that the file at `path` is a journal or is missing, without writing to it.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), except those of single lines.
    pub(crate) fn check(path: &Path) -> Result<()> {
        refuse_other(path)?;
        if look_up(path).map_err(|error| failed(path, &error))?.is_none() {
            return Ok(());
        }
        let mut start = Vec::new();
        let file = File::open(path).map_err(|error| failed(path, &error))?;
        file.take(START.len() as u64)
            .read_to_end(&mut start)
            .map_err(|error| failed(path, &error))?;
        match START.starts_with(&start) {
            true => Ok(()),
            false => Err(is_not_one(path)),
        }
    }

    /// Reads all lines, and terminates the last line if it is incomplete. Returns the samples that are only in lines of
    /// earlier versions.
    fn read_lines(&mut self) -> Result<BTreeSet<String>> {
        let (path, most) = (self.path.clone(), self.most);
        let failed = |error: io::Error| failed(&path, &error);
        let mut text = BufReader::new(self.file.try_clone().map_err(failed)?);
        let (mut line, mut number, mut earlier) = (Vec::new(), 0, BTreeSet::new());
        let (mut at, mut last) = (0, None);
        loop {
            line.clear();
            let mut read =
                (&mut text).take(most + 1).read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 {
                return Ok(earlier);
            }
            if number == 0 && START.starts_with(&line) {
                // A run was killed while it wrote the first bytes.
                self.file.set_len(0).map_err(failed)?;
                return Ok(earlier);
            }
            if number == 0 && !line.starts_with(START) {
                return Err(is_not_one(&path));
            }
            number += 1;
            let is_page = line.starts_with(OF_PAGE[0]);
            if is_page {
                if !line.ends_with(b"\n") {
                    // The rest is skipped without being kept.
                    read += text.skip_until(b'\n').map_err(failed)?;
                }
            } else if read as u64 > most {
                bail!(
                    "{}: line {number} is longer than {}: it is damaged{}",
                    path.display(),
                    format_size(most),
                    if most < MAX { ", or needs more --memory" } else { "" }
                );
            }
            let start = at;
            at += read as u64;
            if self.ends_within_line(at).map_err(failed)? {
                self.file.write_all(b"\n").map_err(failed)?;
            }
            let sample = last.take().and_then(|key| self.done.get_mut(&key));
            if is_page {
                let is_whole =
                    |done: &&mut Done| done.page.is_some_and(|page| page.bytes == at - start);
                sample.into_iter().filter(is_whole).for_each(|done| done.page_at = Some(start));
                continue;
            }
            let Ok(done) = serde_json::from_slice::<Done>(&line) else { continue };
            let Some(inputs) = &done.inputs else {
                earlier.insert(done.sample);
                continue;
            };
            earlier.remove(&done.sample);
            inputs.iter().for_each(|input| self.known.add(input));
            let key = (done.sample.clone(), done.job.clone());
            last = Some(key.clone());
            self.done.insert(key, done);
        }
    }

    /// Whether the line that ends before the byte `at` has no line end.
    fn ends_within_line(&self, at: u64) -> io::Result<bool> {
        let mut end = [0];
        self.file.read_exact_at(&mut end, at - 1)?;
        Ok(end != *b"\n")
    }

    /// Takes the fingerprints of the files that all samples share, such as a database, before they are opened.
    pub(crate) fn set_shared(&mut self, files: Vec<PathBuf>, cancel: &Cancel) {
        let taken = self.known.take(&files, cancel);
        self.shared = (files, taken);
    }

    /// Returns the results of a finished job, if its inputs have not changed and its outputs are as they were written.
    /// Files of another time or inode are read, and noted again if they have the same content.
    ///
    /// # Errors
    /// If the journal cannot be written, or the run is cancelled.
    pub(crate) fn results(&mut self, job: &Job, cancel: &Cancel) -> Result<Option<Value>> {
        let Some(done) = self.done.get(&(job.sample.clone(), job.options.clone())) else {
            return Ok(None);
        };
        let Some(before) = &done.inputs else { return Ok(None) };
        let files: Vec<&PathBuf> = self.shared.0.iter().chain(&job.files).collect();
        let Some(inputs) = self.known.take_same(before, &files, cancel) else {
            return if cancel.is_cancelled() { Err(Cancelled.into()) } else { Ok(None) };
        };
        let Ok(outputs) = found(&job.outputs, cancel) else { return Ok(None) };
        if outputs != done.files {
            return Ok(None);
        }
        let (results, is_unchanged) = (done.results.clone(), inputs == *before);
        if !is_unchanged {
            let page = self.page(job)?;
            self.append(job, inputs, outputs, (results.clone(), page.as_deref()))?;
        }
        Ok(Some(results))
    }

    /// Returns the results of a finished job for the page of all samples, as they were noted; `None` if they were not.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn page(&self, job: &Job) -> Result<Option<String>> {
        let done = self.done.get(&(job.sample.clone(), job.options.clone()));
        let Some((page, at)) = done.and_then(|done| done.page.zip(done.page_at)) else {
            return Ok(None);
        };
        let mut line = vec![0; page.bytes as usize];
        self.file.read_exact_at(&mut line, at).map_err(|error| failed(&self.path, &error))?;
        // The line may be damaged.
        let whole = Some(line).filter(|line| crc32fast::hash(line) == page.crc32);
        let text = whole.and_then(|line| {
            let inner = line.strip_prefix(OF_PAGE[0])?.strip_suffix(OF_PAGE[1])?;
            Some(std::str::from_utf8(inner).ok()?.to_owned())
        });
        Ok(text)
    }

    /// Takes the fingerprints of all files that a job is about to read.
    pub(crate) fn inputs(&mut self, job: &Job, cancel: &Cancel) -> Inputs {
        let shared = self.shared.1.clone()?;
        let own = self.known.take(&job.files, cancel)?;
        Ok(shared.into_iter().chain(own).collect())
    }

    /// Notes a job whose outputs are committed as finished, with its results and those for a page, unless its inputs have
    /// changed since `inputs` was taken. Returns the reason if it is not noted.
    ///
    /// # Errors
    /// If the outputs cannot be read, the journal cannot be written, or the run is cancelled.
    pub(crate) fn note(
        &mut self,
        job: &Job,
        inputs: Inputs,
        results: (Value, Option<&str>),
        cancel: &Cancel,
    ) -> Result<Option<String>> {
        let inputs = match inputs {
            Ok(inputs) => inputs,
            Err(why) => return Ok(Some(why)),
        };
        let mut files = inputs.iter().zip(self.shared.0.iter().chain(&job.files));
        if let Some((_, changed)) = files.find(|(before, file)| !before.is_unchanged(file)) {
            return Ok(Some(format!("{} was changed meanwhile", changed.display())));
        }
        self.append(job, inputs, found(&job.outputs, cancel)?, results)?;
        Ok(None)
    }

    fn append(
        &mut self,
        job: &Job,
        inputs: Vec<Fingerprint>,
        files: Vec<Whole>,
        (results, page): (Value, Option<&str>),
    ) -> Result<()> {
        let (sample, options) = (job.sample.clone(), job.options.clone());
        let of_page =
            page.map(|page| [OF_PAGE[0], page.trim_end().as_bytes(), OF_PAGE[1]].concat());
        let page = of_page.as_deref().map(|line| {
            let (bytes, crc32) = (line.len() as u64, crc32fast::hash(line));
            OfPage { bytes, crc32 }
        });
        let inputs = Some(inputs);
        let done = Done { sample, job: options, inputs, files, results, page, page_at: None };
        let mut line = serde_json::to_vec(&done)?;
        line.push(b'\n');
        let file = &mut self.file;
        let written = file.write_all(&line);
        let written = written.and_then(|()| file.write_all(&of_page.unwrap_or_default()));
        let written = written.and_then(|()| file.sync_data());
        written.map_err(|error| failed(&self.path, &error))
    }
}

/// Refuses anything but a regular file: a device may be endless, and a pipe stores nothing.
fn refuse_other(path: &Path) -> Result<()> {
    let is_other = |at: &fs::Metadata| !at.is_file();
    let there = look_up(path).map_err(|error| failed(path, &error))?;
    if path.as_os_str() == "-" || there.as_ref().is_some_and(is_other) {
        bail!("{}: is not a regular file, but a journal of --resume must be one", path.display());
    }
    Ok(())
}

/// Returns the error of a file that is not a journal.
fn is_not_one(path: &Path) -> Error {
    anyhow!("{}: is not a journal of --resume, and is left unchanged", path.display())
}

/// Returns sizes and checksums of the outputs that are files.
fn found(outputs: &[PathBuf], cancel: &Cancel) -> Result<Vec<Whole>> {
    let is_other = |path: &Path| fs::metadata(path).is_ok_and(|at| !at.is_file());
    let outputs = outputs.iter().filter(|path| !is_other(path));
    outputs.map(|path| whole(path, cancel)).collect()
}

fn whole(path: &Path, cancel: &Cancel) -> Result<Whole> {
    let failed = |error| failed(path, &error);
    let file = File::open(path).map_err(failed)?;
    let Content { bytes, crc32 } = Content::read(&file, 1, cancel, failed)?.ok_or(Cancelled)?;
    Ok(Whole { path: text_of(path.as_os_str()), bytes, crc32 })
}

fn failed(path: &Path, error: &io::Error) -> Error {
    anyhow!("{}: {}", path.display(), reason(error))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::console::Level;

    /// The least memory that has room for the lines of these samples.
    const MEMORY: u64 = SHARE << 10;

    fn job(sample: &str, folder: &Path) -> Job {
        let output = folder.join(sample);
        fs::write(&output, "result").unwrap();
        let (options, files) = ("0".to_owned(), Vec::new());
        Job { sample: sample.to_owned(), options, files, outputs: vec![output] }
    }

    fn open(path: &Path) -> Journal {
        Journal::open(path, MEMORY, &Console::new(Level::Error)).unwrap()
    }

    /// Notes samples with their results for a page.
    fn note(path: &Path, jobs: &[Job], page: &str) {
        let mut journal = open(path);
        for job in jobs {
            let results = (json!({ "qv": QV }), Some(page));
            let why = journal.note(job, Ok(Vec::new()), results, &Cancel::default()).unwrap();
            assert_eq!(why, None);
        }
    }

    /// A number whose last digit is lost if it is read fast.
    const QV: f64 = 46.063_718_908_910_516;

    /// Returns the results of a job, and those for a page.
    fn found(path: &Path, job: &Job) -> (Option<Value>, Option<String>) {
        let mut journal = open(path);
        (journal.results(job, &Cancel::default()).unwrap(), journal.page(job).unwrap())
    }

    #[test]
    fn large_results_for_a_page_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let jobs = ["one", "two"].map(|sample| job(sample, folder.path()));
        for length in [0, 1, 1_000, 1_002, 1_003, 1_004, 1 << 20] {
            let page = format!("{{\"reads\":\"{}\"}}", "A".repeat(length));
            note(&path, &jobs, &format!("{page}\n"));
            for job in &jobs {
                let (results, found) = found(&path, job);
                assert_eq!(results.unwrap().to_string(), format!("{{\"qv\":{QV}}}"));
                assert!(found.as_deref() == Some(&page), "{length}");
            }
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn cut_or_damaged_results_for_a_page_are_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let [one, two] = ["one", "two"].map(|sample| job(sample, folder.path()));
        let page = format!("{{\"reads\":{}}}", "7".repeat(3_000));
        note(&path, std::slice::from_ref(&one), &page);
        let whole = fs::read(&path).unwrap();
        let line = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for length in [line, line + 1, line + 9, line + 1_500, whole.len() - 2, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            // The line end was not written.
            let is_whole = length == whole.len() - 1;
            note(&path, std::slice::from_ref(&two), &page);
            assert!(found(&path, &one).0.is_some(), "{length}");
            assert_eq!(found(&path, &one).1.is_some(), is_whole, "{length}");
            assert!(
                found(&path, &two) == (Some(json!({ "qv": QV })), Some(page.clone())),
                "{length}"
            );
        }
        let mut changed = whole;
        changed[line + 1_500] = b'8';
        fs::write(&path, changed).unwrap();
        assert_eq!(found(&path, &one).1, None);
    }
}
