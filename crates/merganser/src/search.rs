//! `merganser search`.

mod barcodes;
mod command;
mod outputs;
mod page;
mod report;
mod summary;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_io::{Input, Output};
use merganser_report::multiqc::Kind;
use merganser_run::Context;
use merganser_search::{
    Error, Outcome, Pattern, Patterns, PrimerPair, Writer, run_primers, run_with, write_counts,
};

use crate::args::SearchArgs;
use crate::common;
use crate::console::Console;
use crate::interrupt;
use crate::pages::Pages;
use outputs::Outputs;

/// A finished run, with what its reports need.
struct Finished<'r> {
    args: &'r SearchArgs,
    context: &'r Context,
    inputs: &'r [Input],
    patterns: &'r [Pattern],
    outcome: &'r Outcome,
    started: Instant,
}

/// Searches the patterns, and prints a summary.
pub(crate) fn run(args: &SearchArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    if args.barcodes.writes_reads() {
        return barcodes::run(args, console, started);
    }
    outputs::check(args)?;
    args.config.validate()?;
    let context = &args.limits.context(&args.device);
    let inputs = args.reads.expand(&args.texts).map_err(Error::from)?;
    let files = args.patterns.iter().chain(&args.primers);
    let files: Vec<Input> = files.map(|path| input_of(path)).collect();
    common::refuse_stdin_twice(inputs.iter().chain(&files))?;
    interrupt::cancel_on_interrupt();
    let set = outputs::declared(args, &inputs, &files).check()?;
    let Outputs { hits, counts, off_targets, json, pages } = Outputs::create(args, &set)?;
    let (patterns, outcome) = &search(args, &inputs, hits, context)?;
    if let Some(mut output) = counts {
        write_counts(outcome, patterns, &mut output).map_err(Error::from)?;
        output.finish().map_err(Error::from)?;
    }
    if let Some((table, mut output)) = outcome.off_targets.as_ref().zip(off_targets) {
        table.write(patterns, &mut output).map_err(Error::from)?;
        output.finish().map_err(Error::from)?;
    }
    let finished = Finished { args, context, inputs: &inputs, patterns, outcome, started };
    if Pages::is_wanted(&args.pages) {
        pages.write(Kind::Search, page::of(&finished))?;
    }
    if let Some(output) = json {
        summary::write(&finished, output)?;
    }
    set.commit_last().map_err(Error::from)?;
    report::print(&finished, console);
    Ok(ExitCode::SUCCESS)
}

/// Writes the hits of the patterns, or the amplicons of the primers; returns what was searched and found.
fn search(
    args: &SearchArgs,
    inputs: &[Input],
    output: Output,
    context: &Context,
) -> Result<(Vec<Pattern>, Outcome), Error> {
    let format = outputs::format(args);
    let Some(primers) = &args.primers else {
        let patterns = patterns(args)?.all().to_vec();
        let writer = Writer::new(format, output).command(command::command(args, inputs));
        let writer = writer.score(args.score);
        let writer = match args.off_targets {
            Some(_) => writer.count_off_targets(),
            None => writer,
        };
        let outcome = run_with(&args.config, &patterns, inputs, writer, context)?;
        return Ok((patterns, outcome));
    };
    let pairs = PrimerPair::read(primers)?;
    let output = (format, output);
    let outcome = run_primers(&args.config, args.lengths, &pairs, inputs, output, context)?;
    let patterns = pairs.into_iter().flat_map(|pair| [pair.forward, pair.reverse]).collect();
    Ok((patterns, outcome))
}

/// Returns the patterns of the command line, then those of files.
fn patterns(args: &SearchArgs) -> Result<Patterns, Error> {
    let mut patterns = Patterns::new();
    args.pattern.iter().try_for_each(|letters| patterns.add(letters))?;
    args.patterns.iter().try_for_each(|path| patterns.read(path))?;
    Ok(patterns)
}

fn input_of(path: &Path) -> Input {
    if path.as_os_str() == "-" { Input::Stdin } else { path.into() }
}
