//! `merganser map --dry-run`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use merganser_io::{Input, text_bytes};
use merganser_run::{Context, JobPlan, Work};

use super::job::Job;
use super::{Session, check_topology, config, find_index, page};
use crate::args::map::MapArgs;
use crate::console::Console;
use crate::dry_run::DryRun;
use crate::files::RunFiles;
use crate::pages::shared::SharedPaths;

/// Checks what a run needs for its samples, and prints what it would do.
pub(super) fn run(
    args: &MapArgs,
    jobs: &[Job],
    (files, shared): (&RunFiles, &SharedPaths),
    (context, console): (&Context, &Console),
) -> Result<ExitCode> {
    let mut dry = DryRun::new("map", files, context)?;
    dry.journal(args.resume.as_deref())?;
    let index = find_index(args)?;
    match &index {
        Some(index) => {
            // The plan of devices depends on the tables, which are used only after a check.
            index.check(context.threads, &context.cancel)?;
            check_topology(args, index)?;
            dry.file("index", &args.reference);
            dry.row("k", index.k().to_string());
        }
        None => {
            let input = Input::File(args.reference.clone());
            dry.reference(&input)?;
            let size = text_bytes([&input]);
            let devices = context.choose_gpus(Work::Index, size, merganser_gpu::usable)?;
            dry.job(JobPlan::on(devices))?;
        }
    }
    let indexing = Duration::ZERO;
    let session = index.as_ref().map(|index| Session { args, context, index, indexing, console });
    let mut outputs: Vec<PathBuf> = Vec::new();
    for job in jobs {
        dry.reads(job.name.as_deref(), &job.inputs, args.pairs.any_names)?;
        let index = session.as_ref().and_then(|session| session.index_path(job));
        if let Some(session) = &session {
            let (config, kind) = (config(args, job)?, index.as_ref().map(|(_, kind)| *kind));
            let plan = merganser_map::plan_run(&config, session.index, &job.inputs, kind, context)?;
            dry.job(plan)?;
        }
        outputs.push(job.output.clone());
        outputs.extend(index.map(|(path, _)| path));
        outputs.extend(job.unmapped.clone());
        outputs.extend(page::paths(args, job).into_iter().map(|(_, path)| path));
    }
    outputs.extend(shared.paths().map(|(_, path)| path));
    outputs.extend(args.json.iter().chain(&args.resume).cloned());
    dry.show_outputs(outputs);
    if args.config.sort {
        dry.row("temporary", context.temp_dir.display().to_string());
    }
    dry.print()
}
