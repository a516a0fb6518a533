//! `merganser db add`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_classify::{Additions, BuildConfig, Database};
use merganser_library::References;
use merganser_run::format_size;

use crate::args::db::DbAddArgs;
use crate::common::taxonomy_of;
use crate::console::Console;
use crate::files::is_same;
use crate::holds::Holds;
use crate::{build, failure, interrupt};

pub(super) fn run(args: &DbAddArgs, console: &Console, started: Instant) -> Result<ExitCode> {
    let to = args.output.as_ref().unwrap_or(&args.database);
    if to == Path::new("-") {
        return failure::usage("a database cannot be written to stdout: give -o FILE");
    }
    let base = Database::open(&args.database)?;
    let config = BuildConfig {
        parts: args.parts.clone(),
        taxids: args.taxids.config.clone(),
        allow_unmapped: args.allow_unmapped,
        ..BuildConfig::new(*base.params())
    };
    let context = build::context(&args.resources);
    config.validate_for(&context)?;
    merganser_run::raise_open_file_limit();
    let found = References::expand(&args.inputs)?;
    let config = build::with_maps(config, &found);
    let taxonomy = taxonomy_of(&args.taxonomy);
    let taxonomy = taxonomy.as_ref();
    let files = build::references(&args.inputs, &found, taxonomy, &args.taxids);
    // The database itself may be replaced, but only by its new version.
    let base_stays = (!is_same(to, &args.database)?).then_some(&args.database);
    let outputs = files
        .read(base_stays)
        .write(Holds::DATABASE, [to])
        .write(Holds::JSON, &args.json)
        .check()?;
    let output = outputs.file(to)?;
    let unmapped = args.taxids.unmapped.as_deref().map(|path| outputs.output(path)).transpose()?;
    let json = args.json.as_deref().map(|path| outputs.output(path)).transpose()?;
    interrupt::cancel_on_interrupt();
    build::tell_others(&found.others, console);
    let additions = Additions { inputs: &found.inputs, taxonomy };
    let (database, outcome) =
        merganser_classify::add_with(&config, &base, additions, output, &context)?;
    build::report_unmapped(&outcome.unmapped, unmapped)?;
    build::tell_of_list(&outcome.unmapped, &args.taxids, console);
    if let Some(output) = json {
        build::summary("db add", (&config, &context), &database, &outcome, started, output)?;
    }
    outputs.commit_last()?;
    let added = &database.targets()[base.targets().len()..];
    console.info(format_args!(
        "added {} sequences with {} bases to {}: {} in {:.1} s",
        added.len(),
        added.iter().map(|target| target.bases).sum::<u64>(),
        to.display(),
        format_size(database.bytes()),
        started.elapsed().as_secs_f64()
    ));
    Ok(ExitCode::SUCCESS)
}
