//! `--dry-run`: checks what a run needs, and prints what it would do. Every command states its inputs and its plan here after
//! its own checks, before it creates anything.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use merganser_alignments::{ReaderOptions, RecordOptions};
use merganser_gpu::{Device, usable};
use merganser_io::{Chunk, Input, ReadInput, Reader, Records, Sink, look_up, reason};
use merganser_map::{BuildPlan, Topology, plan_build};
use merganser_run::{Context, JobPlan, Work, counted, format_needed, format_size};

use crate::common::print;
use crate::console;
use crate::files::RunFiles;
use crate::samples::journal::Journal;

/// Bytes of text that are read of the beginning of an input.
const BEGINNING: usize = 64 << 10;

/// A run that is only checked and described.
pub(crate) struct DryRun<'r> {
    context: &'r Context,
    /// The lines of the description: a name and a text.
    rows: Vec<(&'static str, String)>,
    outputs: Vec<PathBuf>,
    /// The journal, to which the run appends.
    journal: Option<PathBuf>,
    /// The plan; that with the most memory, if there are several.
    job: Option<JobPlan>,
    /// The devices of all plans, and whether one of these is for the CPU.
    devices: BTreeSet<u32>,
    on_cpu: bool,
}

impl<'r> DryRun<'r> {
    /// Begins to describe a run of `command`, and checks that its outputs can be created.
    ///
    /// # Errors
    /// Names the first output that cannot be created.
    pub(crate) fn new(command: &str, files: &RunFiles, context: &'r Context) -> Result<DryRun<'r>> {
        DryRun::with_folder(command, files, None, context)
    }

    /// Begins like [`new`](Self::new) for a run that creates the folder `made` for outputs.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does.
    pub(crate) fn with_folder(
        command: &str,
        files: &RunFiles,
        made: Option<&Path>,
        context: &'r Context,
    ) -> Result<DryRun<'r>> {
        files.check_creation(made)?;
        let rows = vec![("dry run", format!("merganser {command}; nothing was written"))];
        let outputs = files.outputs().map(Path::to_owned).collect();
        let (journal, job, devices, on_cpu) = (None, None, BTreeSet::new(), false);
        Ok(DryRun { context, rows, outputs, journal, job, devices, on_cpu })
    }

    /// Replaces the outputs that are shown, for commands that declare more than they write.
    pub(crate) fn show_outputs(&mut self, outputs: Vec<PathBuf>) {
        self.outputs = outputs;
    }

    /// Checks the journal of `--resume`, if there is one.
    ///
    /// # Errors
    /// If the file is not a journal.
    pub(crate) fn journal(&mut self, path: Option<&Path>) -> Result<()> {
        self.journal = path.map(Path::to_owned);
        path.map_or(Ok(()), Journal::check)
    }

    /// Checks the reads of a sample, which has a name in a sample sheet, and adds them. The first record of each input is
    /// read, if it is a file.
    ///
    /// # Errors
    /// If an input cannot be opened, or its first record is malformed.
    pub(crate) fn reads(
        &mut self,
        name: Option<&OsStr>,
        segments: &[ReadInput],
        any_names: bool,
    ) -> Result<()> {
        let options = RecordOptions { warnings: console::warnings(), ..RecordOptions::default() };
        Records::open(segments, options)?;
        for segment in segments {
            check_beginning(segment, any_names)?;
            let name = name.map_or_else(String::new, |name| format!("{}: ", name.display()));
            self.rows.push(("reads", format!("{name}{}", described(segment)?)));
        }
        Ok(())
    }

    /// Adds a file of pairs, or two files whose records are paired; the plan of the job has checked them.
    ///
    /// # Errors
    /// If the size of a file cannot be read.
    pub(crate) fn pairs(&mut self, inputs: &[Input]) -> Result<()> {
        let rows = match inputs {
            [reads, segments] => vec![ReadInput::Pair(reads.clone(), segments.clone())],
            files => files.iter().map(ReadInput::from).collect(),
        };
        for segment in &rows {
            self.rows.push(("pairs", described(segment)?));
        }
        Ok(())
    }

    /// Checks genomes and adds them, like [`reads`](Self::reads).
    ///
    /// # Errors
    /// Fails as [`reads`](Self::reads) does.
    pub(crate) fn genomes(&mut self, inputs: &[Input]) -> Result<()> {
        let segments: Vec<ReadInput> = inputs.iter().map(ReadInput::from).collect();
        Records::open(&segments, RecordOptions::default())?;
        for segment in &segments {
            check_beginning(segment, false)?;
            self.rows.push(("genomes", described(segment)?));
        }
        Ok(())
    }

    /// Checks a reference that is indexed, and adds it with the plan of its index, which is returned; `None` for a pipe, which
    /// is not read. `in_memory` says whether the index is not written.
    ///
    /// # Errors
    /// Returns the errors of building the index that come before sorting.
    pub(crate) fn reference(
        &mut self,
        input: &Input,
        circular: Option<&Topology>,
        in_memory: bool,
    ) -> Result<Option<BuildPlan>> {
        let segment = ReadInput::from(input);
        Records::open([&segment], RecordOptions::default())?;
        let topology = circular.cloned().unwrap_or_default();
        let plan = match !input.is_stream() {
            true => Some(plan_build(input, &topology, in_memory, self.context)?),
            false => None,
        };
        let job = match &plan {
            Some(plan) => plan.job.clone(),
            None => JobPlan::on(self.context.choose_gpus(Work::Index, None, usable)?),
        };
        self.job(job)?;
        self.rows.push(("reference", described(&segment)?));
        Ok(plan)
    }

    /// Adds a line about what the run reads or does.
    pub(crate) fn row(&mut self, name: &'static str, text: impl Into<String>) {
        self.rows.push((name, text.into()));
    }

    /// Adds a file that the run reads beside its reads, with its size. Opening a missing file reports the error.
    ///
    /// # Errors
    /// If the system cannot tell the size.
    pub(crate) fn file(&mut self, name: &'static str, path: &Path) -> Result<()> {
        let failed = |error| anyhow!("{}: {}", path.display(), reason(&error));
        let at = look_up(path).map_err(failed)?.filter(Metadata::is_file);
        let size = at.map_or_else(String::new, |at| format!(" ({})", format_size(at.len())));
        self.rows.push((name, format!("{}{size}", path.display())));
        Ok(())
    }

    /// Adds the plan of the job, or of the job of each sample, and checks its devices.
    ///
    /// # Errors
    /// If a device cannot be used.
    pub(crate) fn job(&mut self, plan: JobPlan) -> Result<()> {
        let all = self.devices.len();
        self.devices.extend(&plan.devices);
        self.on_cpu |= plan.devices.is_empty();
        if self.devices.len() > all {
            Device::open_all(&plan.devices)?;
        }
        match &self.job {
            Some(before) if before.memory >= plan.memory => {}
            _ => self.job = Some(plan),
        }
        Ok(())
    }

    /// Prints the description.
    ///
    /// # Errors
    /// If stdout cannot be written.
    pub(crate) fn print(mut self) -> Result<ExitCode> {
        let job = self.job.take().unwrap_or_default();
        let on_cpu = self.on_cpu || self.devices.is_empty();
        let names = on_cpu.then(|| "CPU".to_owned()).into_iter();
        let names = names.chain(self.devices.iter().map(|number| format!("cuda:{number}")));
        let devices = names.collect::<Vec<_>>().join(",");
        self.row(
            "device",
            format!("{devices}, {}", counted(self.context.threads as u64, "thread")),
        );
        let limit = format_size(self.context.budget());
        self.row(
            "memory",
            match job.memory {
                Some(bytes) => format!("up to {limit}, at least {}", format_needed(bytes)),
                None => format!("up to {limit}"),
            },
        );
        job.notes.into_iter().for_each(|note| self.row("plan", note));
        for output in std::mem::take(&mut self.outputs) {
            let is_journal = self.journal.as_ref() == Some(&output);
            self.row("output", written(&output, is_journal));
        }
        let mut text = String::new();
        for (name, value) in &self.rows {
            let _ = writeln!(text, "{name:<10}  {}", console::harmless(value));
        }
        print(text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads the first record of an input of files. Pipes can be read only once, and are left to the run.
fn check_beginning(segment: &ReadInput, any_names: bool) -> Result<(), merganser_io::Error> {
    if !segment.inputs().all(Input::is_file) {
        return Ok(());
    }
    match segment {
        // A reader cuts sequences, so that a chromosome need not be read.
        ReadInput::Single(input) => check_text(input)?,
        _ => {
            let options = RecordOptions {
                any_names,
                batch_records: 2,
                chunk_bytes: BEGINNING,
                ..RecordOptions::default()
            };
            Records::open([segment], options)?.into_iter().next().transpose()?;
        }
    }
    Ok(())
}

/// Parses the beginning of an input.
fn check_text(input: &Input) -> Result<(), merganser_io::Error> {
    let options = ReaderOptions { chunk_bytes: BEGINNING, ..ReaderOptions::default() };
    let reader = Reader::open(std::slice::from_ref(input), options)?;
    let mut chunk = Chunk::default();
    if reader.next_chunk(&mut chunk)? {
        chunk.parse(&mut Ignored)?;
    }
    Ok(())
}

/// Keeps nothing of the records.
struct Ignored;

impl Sink for Ignored {
    fn begin(&mut self, _header: &[u8]) {}

    fn resume(&mut self) {}

    fn sequence(&mut self, _line: &[u8], _quality: Option<&[u8]>) {}

    fn end(&mut self) {}

    /// Most jobs accept any qualities.
    fn uses_qualities(&self) -> bool {
        false
    }
}

/// Describes an input of reads: its files, whether they have pairs, and their size.
///
/// # Errors
/// If the size of a file cannot be read.
fn described(segment: &ReadInput) -> Result<String> {
    let names: Vec<String> = segment.inputs().map(Input::to_string).collect();
    let paths: Option<Vec<&Path>> = segment.inputs().map(Input::path).collect();
    let mut facts: Vec<String> = Vec::new();
    facts.extend(segment.is_paired().then(|| "pairs".to_owned()));
    let size = paths.map(|paths| size_of(&paths)).transpose()?.flatten();
    facts.push(size.unwrap_or_else(|| "not read".to_owned()));
    Ok(format!("{} ({})", names.join(" and "), facts.join(", ")))
}

/// Returns the size of files; `None` if one is not a regular file.
///
/// # Errors
/// If the system cannot tell.
fn size_of(paths: &[&Path]) -> Result<Option<String>> {
    let mut sum = 0;
    for path in paths {
        let failed = |error| anyhow!("{}: {}", path.display(), reason(&error));
        let at = fs::metadata(path).map_err(failed)?;
        if !at.is_file() {
            return Ok(None);
        }
        sum += at.len();
    }
    Ok(Some(format_size(sum)))
}

/// Describes an output.
fn written(path: &Path, is_journal: bool) -> String {
    if path.as_os_str() == "-" {
        return "stdout".to_owned();
    }
    let exists = fs::metadata(path).is_ok_and(|at| at.is_file());
    let what = match (exists, is_journal) {
        (false, _) => "",
        (true, true) => " (appends to the existing file)",
        (true, false) => " (replaces the existing file)",
    };
    format!("{}{what}", path.display())
}
