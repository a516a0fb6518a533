//! `merganser map`.

mod dry;
mod job;
mod join;
mod long_reads;
mod page;
mod report;
mod sheet;
mod summary;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use merganser_io::{FileKind, Input, Output, OutputSet, ReadInput, is_regular};
use merganser_map::{
    Config, Contig, Error, Format, Index, IndexKind, Outcome, Outputs, Strand, Topology, share,
};
use merganser_run::Context;

use crate::args::map::{MapArgs, MapCommand, MapCommandArgs, RecordFormat};
use crate::common::{self, hint_at_mates};
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{Holds, note_interleaved, refuse_other_reads};
use crate::interrupt;
use crate::pages::{Pages, shared::SharedPaths};
use crate::samples::run::check_resume;
use crate::temporary;
use job::Job;

/// A finished run, with what its reports need.
struct Finished<'r> {
    args: &'r MapArgs,
    context: &'r Context,
    inputs: &'r [ReadInput],
    index: &'r Index,
    outcome: &'r Outcome,
    /// The time to open or build the index.
    indexing: Duration,
    started: Instant,
}

/// The state that the mapping of all samples shares.
struct Session<'r> {
    args: &'r MapArgs,
    context: &'r Context,
    index: &'r Index,
    /// The time to open or build the index.
    indexing: Duration,
    console: &'r Console,
}

pub(crate) fn run(args: &MapCommandArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    match (&args.command, &args.run) {
        (Some(MapCommand::Join(args)), _) => join::run(args, console),
        (None, Some(args)) => map(args, console, started),
        (None, None) => usage("give a reference and reads: see merganser map --help"),
    }
}

/// Maps a single sample or all samples of a sheet, and prints summaries.
fn map(args: &MapArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    check(args)?;
    let mut args = args.clone();
    let shared = SharedPaths::take(&mut args.pages, args.sample_sheet.as_deref());
    shared.refuse_shard(args.shard)?;
    let args = &args;
    let mut context = args.limits.context(&args.device);
    if let Some(directory) = &args.tmp_dir {
        context.temp_dir.clone_from(directory);
    }
    let jobs = job::all(args, console)?;
    for job in &jobs {
        let config = config(args, job)?;
        config.validate()?;
        let reads = job.inputs.iter().flat_map(ReadInput::inputs);
        common::refuse_swapped("map", &[FileKind::Index], &args.reference, reads)?;
        let paired = job.inputs.iter().any(ReadInput::is_paired);
        if let Some(option) = args.config.of_pairs
            && args.sample_sheet.is_none()
            && !config.may_have_pairs(&job.inputs)
        {
            return usage(format!(
                "{option} requires pairs: give two files of mates, -1 and -2, or --interleaved"
            ));
        }
        if paired && args.config.strand != Strand::Both {
            return usage("--strand cannot be used with pairs: mates are on opposite strands");
        }
    }
    if let Some(options) = &args.config.usual {
        console.info(format_args!("note: --preset variants applies: {options}"));
    }
    if args.sample_sheet.is_none() && !args.single {
        let singles = jobs.iter().flat_map(|job| &job.inputs).filter_map(|segment| match segment {
            ReadInput::Single(reads) => Some(reads),
            _ => None,
        });
        hint_at_mates(singles, "mapped", console);
    }
    let inputs = jobs.iter().flat_map(|job| &job.inputs).flat_map(ReadInput::inputs);
    long_reads::warn(inputs, args.config.crop, console);
    let files = files(args, &jobs).write_each(shared.paths());
    let set = files.check()?;
    for job in &jobs {
        let inputs: Vec<Input> = job.inputs.iter().flat_map(ReadInput::inputs).cloned().collect();
        let unmapped: Vec<PathBuf> = job.unmapped.iter().cloned().collect();
        refuse_other_reads(&unmapped, &inputs)?;
    }
    if args.config.sort && args.tmp_dir.is_some() {
        temporary::check(&context, true)?;
    }
    if args.dry.dry_run {
        return dry::run(args, &jobs, (&files, &shared), &context);
    }
    let cancel = interrupt::cancel_on_interrupt();
    if args.sample_sheet.is_some() {
        return sheet::run(args, &jobs, &context, (&set, shared), (console, &cancel, started));
    }
    let job = &jobs[0];
    let mut opened = job.outputs(&set)?;
    let json = args.json.as_deref().map(|path| set.output(path)).transpose();
    let json = json.map_err(Error::from)?;
    let pages = page::create(args, job, &set)?;
    let index = open_index(args, &context)?;
    let indexing = started.elapsed();
    let session = Session { args, context: &context, index: &index, indexing, console };
    opened.index = session.index_output(job, &set)?;
    let outcome = session.map(job, opened)?;
    let finished = session.finished(job, &outcome, started);
    page::write(&finished, job, pages)?;
    if let Some(output) = json {
        summary::write(&finished, output)?;
    }
    set.commit_last().map_err(Error::from)?;
    note_mates(job, console);
    report::print(&finished, console);
    Ok(ExitCode::SUCCESS)
}

/// Prints a note if unmapped mates are written to a single file.
fn note_mates(job: &Job, console: &Console) {
    let unmapped: Vec<PathBuf> = job.unmapped.iter().cloned().collect();
    let are_pairs = job.inputs.iter().any(ReadInput::is_paired);
    note_interleaved(&unmapped, are_pairs, "read it with --interleaved", console);
}

impl Session<'_> {
    /// Maps the reads of a job.
    fn map(&self, job: &Job, opened: Outputs) -> Result<Outcome> {
        let Session { context, index, .. } = self;
        let config = config(self.args, job)?;
        let share = match self.args.shard.filter(|_| job.name.is_none()) {
            Some(shard) => Some(share(&config, &job.inputs, shard, context)?),
            None => None,
        };
        let config = Config { share, ..config };
        Ok(merganser_map::run_with(&config, index, &job.inputs, opened, context)?)
    }

    fn finished<'r>(
        &'r self,
        job: &'r Job,
        outcome: &'r Outcome,
        started: Instant,
    ) -> Finished<'r> {
        let Session { args, context, index, indexing, .. } = *self;
        Finished { args, context, inputs: &job.inputs, index, outcome, indexing, started }
    }

    /// Creates the output for the index of a job's sorted records, if one is written.
    fn index_output(&self, job: &Job, set: &OutputSet) -> Result<Option<(Output, IndexKind)>> {
        let contigs = self.index.contigs();
        let Some((path, kind)) = index_path(self.args, job, contigs) else { return Ok(None) };
        Ok(Some((set.output(&path).map_err(Error::from)?, kind)))
    }
}

/// Returns the path and the kind of the BAI, CSI or CRAI index of a job's sorted records; `None` if no index is written.
fn index_path(args: &MapArgs, job: &Job, contigs: &[Contig]) -> Option<(PathBuf, IndexKind)> {
    let kind = match args.format_of(&job.output) {
        RecordFormat::Cram => IndexKind::Crai,
        _ => args.index_format.unwrap_or(IndexKind::for_contigs(contigs)),
    };
    Some((job.index_path(args, kind)?, kind))
}

/// Returns all files that the run reads and writes.
fn files(args: &MapArgs, jobs: &[Job]) -> RunFiles {
    let inputs = jobs.iter().flat_map(|job| &job.inputs).flat_map(ReadInput::inputs);
    let mut files = RunFiles::new().inputs(inputs).read(&args.sample_sheet);
    files = files.write(Holds::ANYTHING, &args.resume);
    files = files.lists(&args.reads).lists(&args.mates1).lists(&args.mates);
    files = files.read([&args.reference]).write(Holds::JSON, &args.json);
    for job in jobs {
        files = files.write(Holds::ALIGNMENTS, [&job.output]).write(Holds::READS, &job.unmapped);
        let indexes = IndexKind::ALL.iter().filter_map(|&kind| job.index_path(args, kind));
        files = files.write(Holds::ANYTHING, indexes).write_each(page::paths(args, job));
    }
    files
}

/// Checks combinations of options that clap cannot check.
fn check(args: &MapArgs) -> Result<()> {
    check_resume(args.resume.as_deref(), args.sample_sheet.as_deref())?;
    let stdout = |path: &Path| path.as_os_str() == "-";
    let outputs = [Some(&args.output), args.unmapped.as_ref(), args.json.as_ref()];
    if outputs.into_iter().flatten().filter(|path| stdout(path)).count() > 1 {
        return usage("only one of -o (default -), --unmapped and --json can be stdout");
    }
    if args.interleaved && args.mates1.is_empty() && !args.mates.is_empty() {
        return usage("-2 without -1 cannot be used with --interleaved: READS hold both mates");
    }
    if args.single && args.mates1.is_empty() && !args.mates.is_empty() {
        return usage("-2 without -1 cannot be used with -U: READS are the first mates");
    }
    if args.shard.is_some() && args.sample_sheet.is_none() {
        check_shard(args)?;
    }
    if args.index_format.is_some()
        && (args.format_of(&args.output) == RecordFormat::Cram || !is_regular(&args.output))
    {
        return usage(
            "--index-format requires BAM in a file: CRAM has only one kind of index, and a stream \
             has none",
        );
    }
    Ok(())
}

/// Checks that all outputs of a shard can be joined.
fn check_shard(args: &MapArgs) -> Result<()> {
    if args.format_of(&args.output) != RecordFormat::Bam {
        return usage(
            "--shard requires BAM, because truncated BAM files are detected: give -o FILE.bam",
        );
    }
    if Pages::is_wanted(&args.pages) {
        return usage(
            "--report-html, --report-data and --multiqc need all reads: map without --shard",
        );
    }
    Ok(())
}

fn config(args: &MapArgs, job: &Job) -> Result<Config> {
    let format = match args.format_of(&job.output) {
        RecordFormat::Cram => Format::Cram,
        RecordFormat::Bam => Format::Bam(args.level),
        RecordFormat::Sam => Format::Sam,
    };
    let fasta = match is_index(&args.reference)? {
        true => args.inputs.reference.clone(),
        false => Some(args.reference.clone()),
    };
    Ok(Config {
        format,
        fasta,
        cram_uri: args.cram_uri.clone(),
        read_groups: job.read_groups(args)?,
        placements: Pages::is_wanted(&args.pages),
        any_names: args.pairs.any_names,
        single: args.single,
        ..Config::clone(&args.config)
    })
}

/// Opens the index, or builds one from a reference in FASTA.
fn open_index(args: &MapArgs, context: &Context) -> Result<Index> {
    let cancel = &context.cancel;
    if let Some(index) = find_index(args)? {
        // Mapping would check it as well, but here the time counts as the time of opening the index.
        index.check(context.threads, cancel)?;
        check_topology(args, &index)?;
        return Ok(index);
    }
    let input = Input::File(args.reference.clone());
    let topology = args.circular.clone().unwrap_or_default();
    Ok(merganser_map::build_with(&input, &topology, None, context)?.0)
}

/// Opens the reference if it is an index, without checking its content.
fn find_index(args: &MapArgs) -> Result<Option<Index>> {
    match is_index(&args.reference)? {
        true => Ok(Some(Index::open(&args.reference)?)),
        false => Ok(None),
    }
}

/// Checks that an index has the circular contigs of `--circular`, if these are given.
fn check_topology(args: &MapArgs, index: &Index) -> Result<()> {
    let differs = |topology: &Topology| !topology.is_that_of(index.contigs());
    if args.circular.as_ref().is_some_and(differs) {
        let file = args.reference.display();
        return usage(format!(
            "{file} is an index with other circular contigs: give --circular to merganser index"
        ));
    }
    Ok(())
}

/// Whether a file is an index. Its first byte decides: no text and no compressed file begins with this byte.
///
/// # Errors
/// If the file cannot be read.
fn is_index(path: &Path) -> Result<bool> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let mut first = Vec::new();
    if merganser_io::is_file(path).map_err(failed)? {
        File::open(path).and_then(|file| file.take(1).read_to_end(&mut first)).map_err(failed)?;
    }
    Ok(first == [0x89])
}
