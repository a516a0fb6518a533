//! `merganser count --dry-run`.

use std::ffi::OsStr;
use std::process::ExitCode;

use anyhow::Result;
use merganser_count::Config;
use merganser_io::{Input, ReadInput};
use merganser_run::Context;

use super::spills;
use crate::args::CountArgs;
use crate::dry_run::DryRun;
use crate::files::RunFiles;
use crate::temporary;

/// Checks what a run needs for its samples, of which those of a sheet have names, and prints what it would do.
pub(super) fn run(
    args: &CountArgs,
    (config, context): (&Config, &Context),
    files: &RunFiles,
    samples: &[(Option<&OsStr>, &[Input])],
) -> Result<ExitCode> {
    let mut dry = DryRun::new("count", files, context)?;
    if spills(config) {
        temporary::check(context, args.tmp_dir.is_some())?;
    }
    dry.journal(args.resume.as_deref())?;
    dry.row("k", config.k.to_string());
    for (name, inputs) in samples {
        let segments: Vec<ReadInput> = inputs.iter().map(ReadInput::from).collect();
        dry.reads(*name, &segments, false)?;
        dry.job(merganser_count::plan_run(config, *inputs, context)?)?;
    }
    if let Some(panel) = &config.panel {
        dry.file("panel", panel)?;
    }
    if spills(config) {
        dry.row("temporary", context.temp_dir.display().to_string());
    }
    dry.print()
}
