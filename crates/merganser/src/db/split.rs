//! `merganser db split`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use merganser_classify::Database;
use merganser_run::{format_size, resolve_threads};

use crate::args::db::DbSplitArgs;
use crate::console::Console;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::samples::{has_place_for_sample, of_sample};
use crate::{failure, interrupt};

pub(super) fn run(args: &DbSplitArgs, console: &Console) -> Result<ExitCode> {
    if !has_place_for_sample(&args.output) {
        return failure::usage(format!(
            "-o {}: put {{}} where the number of the part belongs",
            args.output.display()
        ));
    }
    let database = Database::open(&args.database)?;
    let path = |part: usize| of_sample(&args.output, Some(OsStr::new(&(part + 1).to_string())));
    let paths: Vec<PathBuf> = (0..database.parts()).map(path).collect();
    let outputs = RunFiles::new().read([&args.database]).write(Holds::DATABASE, &paths).check()?;
    let threads = resolve_threads(args.threads.number());
    let cancel = interrupt::cancel_on_interrupt();
    for (part, path) in paths.iter().enumerate() {
        let written = database.split(part, outputs.file(path)?, threads, &cancel)?;
        console.info(format_args!("{}: {}", path.display(), format_size(written.bytes())));
    }
    outputs.commit_last()?;
    Ok(ExitCode::SUCCESS)
}
