//! Conversion of arguments to a configuration.

use std::path::Path;

use anyhow::Result;
use merganser_count::{Config, Format};
use merganser_run::Context;

use crate::args::CountArgs;
use crate::args::count::Signature;
use crate::common;
use crate::failure::usage;
use crate::samples::run::check_resume;

/// Checks combinations of options that clap cannot check.
///
/// # Errors
/// A usage error, in one line.
pub(super) fn check(args: &CountArgs) -> Result<()> {
    check_resume(args.resume.as_deref(), args.sample_sheet.as_deref())?;
    if args.signature == Signature::All && !args.stats_only {
        return usage("--signature all compares the rules: it requires --stats-only");
    }
    check_output(args)?;
    check_shard(args)?;
    let stdout = |path: &Path| path.as_os_str() == "-";
    let claims = [
        ("-o", args.output.as_deref().is_some_and(stdout)),
        ("--histogram", args.histogram.as_deref().is_some_and(stdout)),
        ("--json", args.json.as_deref().is_some_and(stdout)),
    ];
    let mut claims = claims.into_iter().filter(|&(_, claimed)| claimed).map(|(name, _)| name);
    if let (Some(first), Some(second)) = (claims.next(), claims.next()) {
        return usage(format!("{first} and {second} both write to stdout: name a file for one"));
    }
    Ok(())
}

/// Checks that a shard of the reads has no output for which all shards are needed. Samples of a sheet are whole.
fn check_shard(args: &CountArgs) -> Result<()> {
    if args.config.shard.is_none() || args.sample_sheet.is_some() {
        return Ok(());
    }
    let histogram = [("--histogram", args.histogram.as_ref())];
    let mut given = histogram.into_iter().chain(args.pages.places());
    match given.find(|(_, path)| path.is_some()) {
        Some((option, _)) => usage(format!(
            "--shard cannot be used with {option}: write it of the joined table, with kmers histogram"
        )),
        None => Ok(()),
    }
}

fn check_output(args: &CountArgs) -> Result<()> {
    match (&args.output, args.format()) {
        (None, Format::None) => Ok(()),
        (None, _) if args.stats_only => Ok(()),
        (None, _) => usage("an output is missing: -o FILE, or --format none for no table"),
        (Some(_), Format::None) => {
            usage("-o cannot be used with --format none: there is no table to write")
        }
        (Some(path), Format::Mgk | Format::Kmc | Format::Kff | Format::Jf | Format::Parquet)
            if path.as_os_str() == "-" =>
        {
            usage("this format needs a file, -o FILE: only --format tsv can be written to stdout")
        }
        (Some(_), _) => Ok(()),
    }
}

/// Returns the configuration of a run.
pub(super) fn config(args: &CountArgs) -> Config {
    Config { rule: args.signature.rules()[0], format: args.format(), ..args.config.clone() }
}

/// Returns the context of a run.
pub(super) fn context(args: &CountArgs) -> Context {
    let temp_dir = args.tmp_dir.as_deref();
    common::context(args.threads.number(), args.memory, temp_dir, Some(&args.device))
}
