//! The outputs of a search.

use std::path::PathBuf;

use anyhow::Result;
use merganser_io::{Input, Output, OutputSet};
use merganser_search::{Error, Format};

use crate::args::SearchArgs;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds};

/// Outputs that are open, so that one that cannot be written ends the run at its start.
pub(super) struct Outputs {
    pub(super) hits: Output,
    pub(super) counts: Option<Output>,
    pub(super) json: Option<Output>,
}

impl Outputs {
    /// Opens the outputs that were requested.
    ///
    /// # Errors
    /// If one cannot be created.
    pub(super) fn create(args: &SearchArgs, set: &OutputSet) -> Result<Outputs> {
        let open = |path: &PathBuf| set.output(path).map_err(Error::from);
        Ok(Outputs {
            hits: open(&args.output)?,
            counts: args.counts.as_ref().map(open).transpose()?,
            json: args.json.as_ref().map(open).transpose()?,
        })
    }
}

/// Returns the format of the hits.
pub(super) fn format(args: &SearchArgs) -> Format {
    Format::choose(args.given_format, Some(&args.output), Format::Tsv)
}

/// Checks that at most one output goes to stdout.
///
/// # Errors
/// A usage error, in one line.
pub(super) fn check(args: &SearchArgs) -> Result<()> {
    let outputs = [("-o", Some(&args.output)), ("--counts", args.counts.as_ref())];
    let outputs = outputs.into_iter().chain([("--json", args.json.as_ref())]);
    let is_stdout = |path: Option<&PathBuf>| path.is_some_and(|path| path.as_os_str() == "-");
    let mut taken = outputs.filter(|(_, path)| is_stdout(*path)).map(|(name, _)| name);
    match (taken.next(), taken.next()) {
        (Some(one), Some(other)) => {
            usage(format!("{one} and {other} both write to stdout: name a file for one"))
        }
        _ => Ok(()),
    }
}

/// Returns all files that the run reads and writes.
pub(super) fn declared(args: &SearchArgs, inputs: &[Input], patterns: &[Input]) -> RunFiles {
    let own = RunFiles::new().lists(&args.texts).inputs(inputs).inputs(patterns);
    let hits = if args.primers.is_some() { Holds::AMPLICONS } else { Holds::HITS };
    own.write(Format::holds(args.given_format, hits), [&args.output])
        .write(Holds::LINES, &args.counts)
        .write(Holds::JSON, &args.json)
}
