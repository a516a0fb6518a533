//! `merganser map join`.

use std::process::ExitCode;

use anyhow::Result;
use merganser_map::{Error, IndexKind, JoinedShards, Outputs};
use merganser_run::thousands;

use crate::args::joins::MapJoinArgs;
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::{common, interrupt};
use merganser_io::{OutputFormat, is_regular};

/// Joins the results of the shards of a job.
pub(super) fn run(args: &MapJoinArgs, console: &Console) -> Result<ExitCode> {
    if OutputFormat::of_name(&args.output) != Some(OutputFormat::Bam) {
        return usage(format!(
            "-o {}: shards are joined to BAM: name it .bam",
            args.output.display()
        ));
    }
    let joined = JoinedShards::open(&args.shards)?;
    if args.index_format.is_some() && !joined.is_sorted() {
        return usage(
            "--index-format requires sorted shards, but these are in the order of the reads",
        );
    }
    let index = (joined.is_sorted() && is_regular(&args.output))
        .then(|| args.index_format.unwrap_or(IndexKind::for_contigs(joined.contigs())));
    let index = index.map(|kind| (kind.beside(&args.output), kind));
    let files = RunFiles::new().read(&args.shards).write(Holds::BAM, [&args.output]);
    let set = files.write(Holds::ANYTHING, index.as_ref().map(|(path, _)| path)).check()?;
    let outputs = Outputs {
        records: set.output(&args.output).map_err(Error::from)?,
        index: match index {
            Some((path, kind)) => Some((set.output(&path).map_err(Error::from)?, kind)),
            None => None,
        },
        unmapped: None,
    };
    let mut context = common::context(args.limits.threads.number(), args.limits.memory, None, None);
    if let Some(directory) = &args.tmp_dir {
        context.temp_dir.clone_from(directory);
    }
    interrupt::cancel_on_interrupt();
    joined.write(&context, outputs)?;
    set.commit_last().map_err(Error::from)?;
    console.info(format_args!("joined {} shards", thousands(joined.shards() as u64)));
    Ok(ExitCode::SUCCESS)
}
