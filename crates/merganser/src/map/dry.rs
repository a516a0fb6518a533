//! `merganser map --dry-run`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use merganser_io::Input;
use merganser_map::Index;
use merganser_run::Context;

use super::job::Job;
use super::{check_topology, config, find_index, index_path, page};
use crate::args::map::MapArgs;
use crate::dry_run::DryRun;
use crate::files::RunFiles;
use crate::pages::shared::SharedPaths;

/// Checks what a run needs for its samples, and prints what it would do.
pub(super) fn run(
    args: &MapArgs,
    jobs: &[Job],
    (files, shared): (&RunFiles, &SharedPaths),
    context: &Context,
) -> Result<ExitCode> {
    let mut dry = DryRun::new("map", files, context)?;
    dry.journal(args.resume.as_deref())?;
    let index = find_index(args)?;
    let mut planned = None;
    match &index {
        Some(index) => {
            // The plan of devices depends on the tables, which are used only after a check.
            index.check(context.threads, &context.cancel)?;
            check_topology(args, index)?;
            dry.file("index", &args.reference)?;
            dry.row("k", index.k().to_string());
        }
        None => {
            let input = Input::File(args.reference.clone());
            planned = dry.reference(&input, args.circular.as_ref(), true)?;
        }
    }
    let mut outputs: Vec<PathBuf> = Vec::new();
    for job in jobs {
        let (config, reads) = (config(args, job)?, &job.inputs);
        let contigs = index.as_ref().map(Index::contigs);
        let contigs = contigs.or(planned.as_ref().map(|planned| &planned.contigs[..]));
        let of_records = contigs.and_then(|contigs| index_path(args, job, contigs));
        let kind = of_records.as_ref().map(|(_, kind)| *kind);
        if let Some(index) = &index {
            dry.job(merganser_map::plan_run(&config, index, reads, kind, context)?)?;
        }
        if let Some(planned) = &planned {
            dry.job(planned.plan_run(&config, reads, kind, context)?)?;
        }
        dry.reads(job.name.as_deref(), reads, args.pairs.any_names)?;
        outputs.push(job.output.clone());
        outputs.extend(of_records.map(|(path, _)| path));
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
