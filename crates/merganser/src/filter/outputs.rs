//! The outputs of decisions.

use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_filter::{Error, Format, Writer};
use merganser_io::{Input, Output, OutputSet};
use merganser_report::multiqc::Kind;

use crate::args::FilterArgs;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::pages::Pages;

/// Outputs that are open, so that one that cannot be written ends the run at its start.
pub(super) struct Outputs {
    pub(super) writer: Writer,
    pub(super) json: Option<Output>,
    pub(super) pages: Pages,
}

impl Outputs {
    /// Opens the outputs that were requested.
    ///
    /// # Errors
    /// If one cannot be created.
    pub(super) fn create(args: &FilterArgs, set: &OutputSet) -> Result<Outputs> {
        let open = |path: &PathBuf| set.output(path).map_err(Error::from);
        let outputs = files(args).iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let json = args.json.as_ref().map(open).transpose()?;
        let pages = Pages::create(&args.pages, Kind::Decisions, None, set).map_err(Error::from)?;
        Ok(Outputs { writer: Writer::new(args.format, outputs), json, pages })
    }
}

/// Checks combinations of options that clap cannot check.
///
/// # Errors
/// A usage error, in one line.
pub(super) fn check(args: &FilterArgs) -> Result<()> {
    let stdout = |path: &Path| path.as_os_str() == "-";
    match (args.output.as_deref(), args.format) {
        (Some(_), Format::None) => {
            return usage("-o cannot be used with --format none: there is nothing to write");
        }
        (path, Format::GateKeeper) if path.is_none_or(stdout) => {
            return usage("--format gatekeeper writes two files: name them with -o FILE");
        }
        _ => {}
    }
    let json = args.json.as_deref().is_some_and(stdout);
    if json && files(args).iter().any(|path| stdout(path)) {
        return usage("-o and --json both write to stdout: name a file for one");
    }
    Ok(())
}

/// Returns the paths of the decisions' files.
pub(super) fn files(args: &FilterArgs) -> Vec<PathBuf> {
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    match args.format {
        Format::None => Vec::new(),
        Format::Tsv => vec![output.to_owned()],
        Format::GateKeeper => [".filter", ".edits"]
            .map(|end| {
                let mut name = output.as_os_str().to_owned();
                name.push(end);
                name.into()
            })
            .to_vec(),
    }
}

/// Returns all files that the run reads and writes.
pub(super) fn declared(args: &FilterArgs, inputs: &[Input]) -> RunFiles {
    let pages = Pages::paths(&args.pages, Kind::Decisions, None);
    let own = RunFiles::new().lists(&args.inputs).inputs(inputs);
    let decisions = match args.format {
        Format::GateKeeper => Holds::ANYTHING,
        Format::Tsv | Format::None => Holds::LINES,
    };
    own.write(decisions, files(args)).write(Holds::JSON, &args.json).write_each(pages)
}
