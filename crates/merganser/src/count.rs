//! `merganser count`.

mod dry;
mod outputs;
mod page;
mod report;
mod settings;
mod sheet;
mod stats;
mod summary;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_count::{Config, Format, Outcome, Storage, run_with};
use merganser_io::{Input, OutputSet};
use merganser_report::multiqc::Kind;
use merganser_run::{Context, Summary};

use crate::args::CountArgs;
use crate::console::Console;
use crate::holds::FormatChoice;
use crate::interrupt;
use crate::pages::{Pages, spectrum};
use crate::temporary;
use outputs::Outputs;

/// A finished run, with what its reports need.
struct Finished<'r> {
    args: &'r CountArgs,
    config: &'r Config,
    context: &'r Context,
    inputs: &'r [Input],
    outcome: &'r Outcome,
    outputs: &'r OutputSet,
    /// The number of distinct k-mers that `--hist-max` left out of the histogram.
    beyond_histogram: u64,
    started: Instant,
}

/// Counts k-mers, or with `--stats-only` only partitions them, and prints a summary.
pub(crate) fn run(args: &CountArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    settings::check(args)?;
    let (config, context) = (settings::config(args), settings::context(args));
    // Many inputs, or many workers on one input, would exceed a soft limit of 1,024.
    merganser_run::raise_open_file_limit();
    if let Some(sheet) = &args.sample_sheet {
        return sheet::run(args, sheet, config, &context, (console, started));
    }
    config.validate()?;
    let inputs = args.reads.expand(&args.inputs).map_err(merganser_count::Error::from)?;
    interrupt::cancel_on_interrupt();
    if args.stats_only {
        return stats::run(args, (&config, &context), &inputs, console);
    }
    let files = outputs::files(args, &inputs);
    let set = files.check()?;
    if args.dry.dry_run {
        return dry::run(args, (&config, &context), &files, &[(None, &inputs[..])]);
    }
    count(args, (&config, &context), &inputs, &set, (console, started), OutputSet::commit_last)?;
    Ok(ExitCode::SUCCESS)
}

/// Counts the k-mers of these inputs, writes all outputs to `set`, and prints a summary, which is returned. `commit` makes
/// the outputs appear.
fn count(
    args: &CountArgs,
    (config, context): (&Config, &Context),
    inputs: &[Input],
    set: &OutputSet,
    (console, started): (&Console, Instant),
    commit: impl Fn(&OutputSet) -> Result<(), merganser_io::Error>,
) -> Result<Summary> {
    let mut outputs = Outputs::create(args, set)?;
    outputs.pages.profile(inputs.iter(), config.quality_offset);
    // Removed when the run ends.
    let temporary = match spills(config) {
        true => {
            temporary::check(context, args.tmp_dir.is_some())?;
            Some(temporary::ensure(context)?)
        }
        false => None,
    };
    let output = args.table();
    let counted = run_with(config, inputs, output.as_deref(), set, context);
    drop(temporary);
    let outcome = counted?;
    let beyond_histogram = outputs.write_histogram(&outcome.histogram, args)?;
    let finished = Finished {
        args,
        config,
        context,
        inputs,
        outcome: &outcome,
        outputs: set,
        beyond_histogram,
        started,
    };
    if Pages::is_wanted(&args.pages) {
        let data = page::of(&finished);
        outputs.pages.write(Kind::Spectrum, data)?;
    }
    report::warn(&finished);
    if let Some(output) = outputs.json {
        summary::write(&finished, output)?;
    }
    let summary = summary::of(&finished);
    commit(set).map_err(merganser_count::Error::from)?;
    if let Some(output) = &args.output {
        Format::note(args.given_format, output, console);
    }
    report::print(&finished, console);
    if args.model {
        print_model(&finished, console);
    }
    Ok(summary)
}

/// Whether a run may write temporary files.
fn spills(config: &Config) -> bool {
    config.storage != Storage::Ram
}

/// Fits a model to the histogram and prints it.
fn print_model(finished: &Finished<'_>, console: &Console) {
    let k = finished.config.k;
    let (spectrum, notes, warnings) = spectrum::modelled(&finished.outcome.histogram, k);
    spectrum::print(&spectrum, console);
    // A reason why there is no model is a warning here: the model was asked for.
    let reasons = notes.iter().filter(|_| spectrum.model.is_none());
    reasons.chain(&warnings).for_each(|warning| console.warn(warning));
}
