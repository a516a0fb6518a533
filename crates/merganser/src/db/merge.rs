//! `merganser db merge-results`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use merganser_classify::{Database, MergedCounts, Merger};
use merganser_run::Cancel;

use crate::args::db::DbMergeArgs;
use crate::classify::Reports;
use crate::console::Console;
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;

pub(super) fn run(args: &DbMergeArgs, console: &Console) -> Result<ExitCode> {
    if args.database.len() != args.results.len() {
        return failure::usage(format!(
            "{} databases (-d) and {} files of results: give equal numbers, in the same order",
            args.database.len(),
            args.results.len()
        ));
    }
    Reports::check(&args.reports, false)?;
    let mut outputs = Reports::paths(&args.reports, None);
    outputs.push((Holds::LINES, args.output.clone()));
    if outputs.iter().filter(|(_, path)| path.as_os_str() == "-").count() > 1 {
        return failure::usage("only one output can be stdout, which is the default of -o");
    }
    let set = RunFiles::new().read(&args.database).read(&args.results);
    let set = set.read(&args.reports.bracken).write_each(outputs).check()?;
    let databases = args.database.iter().map(Database::open).collect::<Result<Vec<_>, _>>()?;
    let (first, paths) = (databases[0].params(), &args.database);
    if let Some(at) = databases.iter().position(|other| other.params() != first) {
        let [one, other] = [&paths[0], &paths[at]].map(|path| path.display());
        bail!(
            "{other}: its parameters differ from those of {one} (see merganser db info): their hits cannot be compared"
        );
    }
    let thresholds = args.verdict.thresholds(databases[0].params())?;
    let merger = Merger::new(&databases, thresholds)?;
    let mut output = set.output(&args.output)?;
    let mut reports = Reports::create(&args.reports, None, &set)?;
    let counts = merger.merge(&args.results, &mut output)?;
    let MergedCounts { tally, bases, .. } = &counts;
    reports.write((tally, bases), None, merger.taxonomy(), &[], &Cancel::default())?;
    for output in [output].into_iter().chain(reports.into_outputs()) {
        output.finish()?;
    }
    set.commit_last()?;
    let total = tally.total();
    let classified = total - tally.unclassified();
    let percent = 100.0 * classified as f64 / total.max(1) as f64;
    console.info(format_args!("classified {classified} of {total} reads ({percent:.2} %)"));
    Ok(ExitCode::SUCCESS)
}
