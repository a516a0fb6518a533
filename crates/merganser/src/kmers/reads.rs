//! `merganser kmers filter-reads` and `profile`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use merganser_io::{Input, OutputSet, ReadInput, text_bytes};
use merganser_kmers::Error;
use merganser_kmers::algebra;
use merganser_kmers::lookup::{Lookup, LookupOptions, Use, open_lookup};
use merganser_kmers::reads::{self, FilterConfig, Job, filter_reads_with};
use merganser_run::{Context, thousands};

use super::tables;
use crate::args::device::DeviceArgs;
use crate::args::kmers::{FilterReadsArgs, ProfileArgs, TableArgs};
use crate::common::{hint_at_mates, tell_skipped};
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{Holds, note_interleaved, refuse_other_reads};
use crate::interrupt;

pub(super) fn filter(args: &FilterReadsArgs, console: &Console) -> Result<ExitCode> {
    let context = tables::context(&args.tables, None);
    let config = FilterConfig { any_names: args.reads.pairs.any_names, ..args.config };
    let paired = args.reads.are_pairs();
    if args.output2.is_some() && !paired {
        return usage("--output2 is for pairs: give -1 and -2, or --interleaved");
    }
    let segments = args.reads.segments()?;
    let inputs: Vec<Input> = segments.iter().flat_map(ReadInput::inputs).cloned().collect();
    if !paired {
        let remedy = |one: &str, two: &str| format!("-1 {one} -2 {two}");
        hint_at_mates(inputs.iter(), "filtered", remedy, console);
    }
    let paths: Vec<PathBuf> = [&args.output].into_iter().chain(&args.output2).cloned().collect();
    let files =
        RunFiles::new().lists(args.reads.lists()).inputs(&inputs).write(Holds::READS, &paths);
    let cancel = interrupt::cancel_on_interrupt();
    let (loaded, set) = load(&args.table, (&args.tables, &args.device), &inputs, (files, &paths))?;
    let outputs = paths.iter().map(|path| set.output(path));
    let mut outputs = outputs.collect::<Result<Vec<_>, _>>().map_err(Error::from)?;
    let job = of_reads(&loaded, &context);
    let done = filter_reads_with(&config, job, &segments, &mut outputs);
    let done = cancel.over_error(done)?;
    for output in outputs {
        output.finish().map_err(Error::from)?;
    }
    set.commit_last().map_err(Error::from)?;
    note_interleaved(&paths, paired, "--output2 makes two files", console);
    let bases = thousands(done.changed_bases);
    let changed = match config.mask {
        _ if config.trim => format!("; {bases} bases were cut off"),
        Some(_) => format!("; {bases} bases were masked"),
        None => String::new(),
    };
    tell_skipped(done.skipped_alignments, console);
    let (kept, all) = (thousands(done.kept), thousands(done.reads));
    console.info(format_args!("{kept} of {all} reads were kept{changed}"));
    tell_peak(console);
    Ok(ExitCode::SUCCESS)
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
    let [reads, kmers, found] = [done.reads, done.kmers, done.found].map(thousands);
    console.info(format_args!("{reads} reads; the table has {found} of their {kmers} k-mers"));
    tell_peak(console);
    Ok(ExitCode::SUCCESS)
}
