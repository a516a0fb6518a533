//! `merganser map`.

mod report;
mod summary;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use merganser_io::{Input, Output, OutputSet, Segment};
use merganser_map::{Config, Error, Format, Index, IndexKind, Outcome, Outputs, ReadGroup, Strand};
use merganser_run::{Cancel, Resources};

use crate::args::map::MapArgs;
use crate::common::{hint_at_mates, pairs, refuse_stdin_twice};
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::progress::Bar;
use crate::{index, interrupt};

/// A finished run, as the reports need it.
struct Finished<'r> {
    args: &'r MapArgs,
    resources: &'r Resources,
    inputs: &'r [Segment],
    index: &'r Index,
    outcome: &'r Outcome,
    /// Opening or building the index.
    indexing: Duration,
    started: Instant,
}

/// Maps and reports.
pub(crate) fn run(args: &MapArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    check(args)?;
    let (config, mut resources) = (config(args)?, args.limits.resources(&args.device));
    if let Some(directory) = &args.tmp_dir {
        resources.temp_dir.clone_from(directory);
    }
    config.validate()?;
    let inputs = inputs(args)?;
    refuse_swapped(args, &inputs)?;
    let singles = inputs.iter().filter_map(|segment| match segment {
        Segment::Single(reads) => Some(reads),
        _ => None,
    });
    hint_at_mates(singles, "mapped", |one, two| format!("-1 {one} -2 {two}"), console);
    let set = files(args, &inputs).check()?;
    let cancel = interrupt::cancel_on_interrupt();
    let open = |path: &Option<PathBuf>| path.as_deref().map(|path| set.output(path)).transpose();
    let mut opened = Outputs {
        records: set.output(&args.output).map_err(Error::from)?,
        index: None,
        unmapped: open(&args.unmapped).map_err(Error::from)?,
    };
    let json = open(&args.json).map_err(Error::from)?;
    let index = open_index(args, &resources, console, &cancel)?;
    let indexing = started.elapsed();
    opened.index = index_output(args, &index, &set)?;
    let bar = Bar::new(console);
    let outcome = merganser_map::run(&config, &resources, &index, &inputs, opened, &bar, &cancel);
    drop(bar);
    let finished = Finished {
        args,
        resources: &resources,
        inputs: &inputs,
        index: &index,
        outcome: &outcome?,
        indexing,
        started,
    };
    if let Some(output) = json {
        summary::write(&finished, output)?;
    }
    set.commit().map_err(Error::from)?;
    report::print(&finished, console);
    Ok(ExitCode::SUCCESS)
}

/// What is read and written.
fn files(args: &MapArgs, inputs: &[Segment]) -> RunFiles {
    let files = RunFiles::new().inputs(inputs.iter().flat_map(Segment::inputs));
    let files = files.lists(&args.reads).lists(&args.mates1).lists(&args.mates);
    let files = files.read([&args.reference]);
    let files = files.write([&args.output]).write(&args.unmapped).write(&args.json);
    files.write(IndexKind::ALL.into_iter().filter_map(|kind| index_path(args, kind)))
}

/// Where the index of that kind is written, if one is: beside a file of sorted records.
fn index_path(args: &MapArgs, kind: IndexKind) -> Option<PathBuf> {
    if !args.sort || !is_file(&args.output) {
        return None;
    }
    let mut path = args.output.clone().into_os_string();
    path.push(format!(".{}", kind.suffix()));
    Some(path.into())
}

/// Whether an output is or will be a file, not stdout, a pipe or a device.
fn is_file(path: &Path) -> bool {
    path.as_os_str() != "-" && fs::metadata(path).map_or(true, |at| at.is_file())
}

/// The output of the index of sorted records, if one is written.
fn index_output(
    args: &MapArgs,
    index: &Index,
    set: &OutputSet,
) -> Result<Option<(Output, IndexKind)>> {
    let fitting = IndexKind::for_contigs(index.contigs());
    let kind = args.index_format.map_or(fitting, IndexKind::from);
    let Some(path) = index_path(args, kind) else { return Ok(None) };
    Ok(Some((set.output(&path).map_err(Error::from)?, kind)))
}

/// What clap cannot say of options that do not go together.
fn check(args: &MapArgs) -> Result<()> {
    let stdout = |path: &Path| path.as_os_str() == "-";
    let outputs = [Some(&args.output), args.unmapped.as_ref(), args.json.as_ref()];
    if outputs.into_iter().flatten().filter(|path| stdout(path)).count() > 1 {
        return usage("only one of -o (default -), --unmapped and --json can be stdout");
    }
    if has_end(&args.output, "cram") {
        let bam = args.output.with_extension("bam");
        return usage(format!(
            "{cram}: map writes BAM and SAM, no CRAM: give -o {bam}, then `samtools view -C -T \
             REFERENCE.fa -o {cram} {bam}`",
            cram = args.output.display(),
            bam = bam.display()
        ));
    }
    if args.interleaved && args.mates1.is_empty() && !args.mates.is_empty() {
        return usage("--interleaved and -2 without -1 exclude each other: READS hold both mates");
    }
    let paired = args.interleaved || !args.mates.is_empty();
    if paired && Strand::from(args.strand) != Strand::Both {
        return usage("--strand and pairs exclude each other: mates lie on both strands");
    }
    Ok(())
}

/// Whether a file's name ends in `.end`, in either case.
fn has_end(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(end))
}

/// An index among the reads means that the reference was given last.
fn refuse_swapped(args: &MapArgs, inputs: &[Segment]) -> Result<()> {
    let files = inputs.iter().flat_map(Segment::inputs).filter_map(Input::path);
    let Some(index) = files.into_iter().find(|path| is_index(path)) else { return Ok(()) };
    usage(format!(
        "{index}: is an index, not reads: the reference comes first, then the reads: merganser map \
         {index} {reads}",
        index = index.display(),
        reads = args.reference.display()
    ))
}

/// Pairs, then READS.
fn inputs(args: &MapArgs) -> Result<Vec<Segment>> {
    let [first, second, reads] = [&args.mates1, &args.mates, &args.reads]
        .map(|paths| args.inputs.expand(paths).map_err(Error::from));
    let (mut first, second, mut reads) = (first?, second?, reads?);
    if first.is_empty() && !second.is_empty() {
        if reads.len() != second.len() {
            return usage(format!(
                "there are {} files of reads and {} of mates (-2): give as many",
                reads.len(),
                second.len()
            ));
        }
        std::mem::swap(&mut first, &mut reads);
    }
    let mut segments = pairs(first, second)?;
    let kind = if args.interleaved { Segment::Interleaved } else { Segment::Single };
    segments.extend(reads.into_iter().map(kind));
    refuse_stdin_twice(segments.iter().flat_map(Segment::inputs))?;
    Ok(segments)
}

fn config(args: &MapArgs) -> Result<Config> {
    // Who reads sorted records from a pipe wants BAM.
    let bam = has_end(&args.output, "bam") || args.sort && !is_file(&args.output);
    Ok(Config::new(args.threshold.0)
        .metric(args.metric())
        .strand(args.strand.into())
        .n_mode(args.n_mode.into())
        .filter(args.filter.into())
        .select(args.select())
        .max_hits(args.max_hits)
        .xa(args.xa)
        .min_insert(args.min_insert)
        .max_insert(args.max_insert)
        .crop(args.crop)
        .format(if bam { Format::Bam(args.level) } else { Format::Sam })
        .sort(args.sort)
        .read_group(args.read_group.as_deref().map(ReadGroup::parse).transpose()?)
        .extended_cigars(args.eqx)
        .keep_unmapped(!args.no_unmapped))
}

/// Opens the index, or builds that of a reference.
fn open_index(
    args: &MapArgs,
    resources: &Resources,
    console: &Console,
    cancel: &Cancel,
) -> Result<Index> {
    if is_index(&args.reference) {
        let index = Index::open(&args.reference)?;
        // The mapping would do so, too; its time is that of opening the index.
        index.check(resources.threads, cancel)?;
        return Ok(index);
    }
    let input = Input::File(args.reference.clone());
    index::build(resources, &input, None, console, cancel)
}

/// Whether a file is an index by its first byte, which is none of a text, nor of a compressed one.
fn is_index(path: &Path) -> bool {
    let mut first = [0];
    let regular = std::fs::metadata(path).is_ok_and(|at| at.is_file());
    regular
        && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first[0] == 0x89
}
