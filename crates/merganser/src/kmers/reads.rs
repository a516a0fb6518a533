//! `merganser kmers filter-reads` and `profile`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use merganser_alignments::{ReadFormat, put_files};
use merganser_io::{Input, OutputSet, ReadInput, text_bytes};
use merganser_kmers::Error;
use merganser_kmers::algebra;
use merganser_kmers::lookup::{Lookup, LookupOptions, Use, open_lookup};
use merganser_kmers::reads::{self, FilterConfig, FilterOutputs, Job, filter_reads_in};
use merganser_run::{Context, counted, thousands};

use super::tables;
use crate::args::device::DeviceArgs;
use crate::args::kmers::{FilterReadsArgs, ProfileArgs, TableArgs};
use crate::common::{hint_at_mates, tell_skipped, unit};
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds, note_interleaved, refuse_other_reads};
use crate::interrupt;

pub(super) fn filter(args: &FilterReadsArgs, console: &Console) -> Result<ExitCode> {
    let context = tables::context(&args.tables, None);
    let config = FilterConfig { any_names: args.reads.pairs.any_names, ..args.config };
    let paired = args.reads.are_pairs();
    if args.output2.is_some() && !paired {
        return usage("--output2 is for pairs: give -1 and -2, or --interleaved");
    }
    config.validate()?;
    let segments = args.reads.segments()?;
    let inputs: Vec<Input> = segments.iter().flat_map(ReadInput::inputs).cloned().collect();
    if !paired {
        hint_at_mates(inputs.iter(), "filtered", console);
    }
    let paths: Vec<PathBuf> = [&args.output].into_iter().chain(&args.output2).cloned().collect();
    let command = command(args, &config, &segments);
    let (format, tags) = (args.output_format, args.tags.clone().unwrap_or_default());
    let outputs = FilterOutputs { paths, format, command, tags };
    let paths = &outputs.paths;
    let holds = ReadFormat::holds(args.output_format, Holds::ANY_READS);
    let files = RunFiles::new().lists(args.reads.lists()).inputs(&inputs).write(holds, paths);
    let cancel = interrupt::cancel_on_interrupt();
    let are_alignments = outputs.are_alignments(&config)?;
    let (loaded, set) = load(&args.table, (&args.tables, &args.device), &inputs, (files, paths))?;
    let job = of_reads(&loaded, &context);
    let done = cancel.over_error(filter_reads_in(&config, job, &segments, (&outputs, &set)))?;
    set.commit_last().map_err(Error::from)?;
    note_interleaved(paths, paired && !are_alignments, "--output2 makes two files", console);
    let bases = thousands(done.changed_bases);
    let changed = match config.mask {
        _ if config.trim => format!("; {bases} bases were cut off"),
        Some(_) => format!("; {bases} bases were masked"),
        None => String::new(),
    };
    tell_skipped(done.skipped_alignments, console);
    // Mates stay together.
    let mates = if paired { 2 } else { 1 };
    let [kept, all] = [done.kept, done.reads].map(|reads| thousands(reads / mates));
    console.info(format_args!("{kept} of {all} {} were kept{changed}", unit(&segments)));
    tell_peak(console);
    Ok(ExitCode::SUCCESS)
}

/// Returns the command that headers of alignments name: what decides the records, the table and the reads.
fn command(args: &FilterReadsArgs, config: &FilterConfig, segments: &[ReadInput]) -> String {
    let mut command = format!("merganser kmers filter-reads --min-hits {}", config.min_hits);
    if let Some(most) = config.max_hits {
        command += &format!(" --max-hits {most}");
    }
    for (given, option) in [(config.invert, " --invert"), (config.any_names, " --any-names")] {
        command.push_str(if given { option } else { "" });
    }
    command += &format!(" --pairs {}", config.pairs);
    put_files(Some(Path::new(&args.table)), segments, &mut command);
    command
}

/// Makes the job that compares reads with the table.
fn of_reads<'r>(
    Loaded { lookup, homopolymer_compressed }: &'r Loaded,
    context: &'r Context,
) -> Job<'r> {
    let (lookup, homopolymer_compressed) = (lookup.as_ref(), *homopolymer_compressed);
    let record_bytes = reads::record_bytes(context.budget(), context.threads, lookup);
    Job { lookup, homopolymer_compressed, context, record_bytes }
}

/// Prints the peak memory as a debug message.
fn tell_peak(console: &Console) {
    if let Some(peak) = merganser_run::peak_rss() {
        console.debug(format_args!("peak memory {}", merganser_run::format_size(peak)));
    }
}

/// A table that is ready for queries.
struct Loaded {
    lookup: Box<dyn Lookup>,
    homopolymer_compressed: bool,
}

/// Loads the table, after checking that no output replaces an input, and that the names of outputs for reads,
/// `written`, fit the reads.
fn load(
    operand: &OsStr,
    (args, device): (&TableArgs, &DeviceArgs),
    reads: &[Input],
    (files, written): (RunFiles, &[PathBuf]),
) -> Result<(Loaded, OutputSet)> {
    let (path, cut) = match algebra::parse_operand(operand) {
        Ok(operand) => operand,
        Err(what) => return usage(format!("{}: {what}", operand.display())),
    };
    let mut opened = tables::open(&[path], args)?;
    let outputs = files.read(tables::files(&opened)).check()?;
    refuse_other_reads(written, reads)?;
    let context = tables::context(args, Some(device));
    let options = LookupOptions {
        context: &context,
        cut,
        purpose: Use::Reads,
        reserved: reads::reserved_bytes(context.budget(), context.threads),
        input: text_bytes(reads),
    };
    let table = opened.remove(0);
    let homopolymer_compressed = table.description().homopolymer_compressed;
    let lookup = open_lookup(table, &options)?;
    Ok((Loaded { lookup, homopolymer_compressed }, outputs))
}

pub(super) fn profile(args: &ProfileArgs, console: &Console) -> Result<ExitCode> {
    // Determined before the table uses memory.
    let context = tables::context(&args.tables, None);
    let inputs = args.inputs.expand(&args.reads).map_err(Error::from)?;
    let files =
        RunFiles::new().lists(&args.reads).inputs(&inputs).write(Holds::LINES, [&args.output]);
    let cancel = interrupt::cancel_on_interrupt();
    let (loaded, set) = load(&args.table, (&args.tables, &args.device), &inputs, (files, &[]))?;
    let mut output = set.output(&args.output).map_err(Error::from)?;
    let job = of_reads(&loaded, &context);
    let done = reads::profile(job, &inputs, &mut output);
    let done = cancel.over_error(done)?;
    output.finish().map_err(Error::from)?;
    set.commit_last().map_err(Error::from)?;
    tell_skipped(done.skipped_alignments, console);
    let (reads, kmers) = (counted(done.reads, "read"), counted(done.kmers, "k-mer"));
    let found = thousands(done.found);
    console.info(format_args!("{reads}; the table has {found} of their {kmers}"));
    tell_peak(console);
    Ok(ExitCode::SUCCESS)
}
