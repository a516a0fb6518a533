//! `merganser db merge-results`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use merganser_classify::{Database, MergedCounts, Merger, Thresholds};
use merganser_run::Cancel;
use merganser_taxonomy::{Rank, Taxonomy};

use crate::args::classify::ReportArgs;
use crate::args::db::DbMergeArgs;
use crate::classify::Reports;
use crate::console::Console;
use crate::failure;
use crate::files::RunFiles;
use crate::holds::Holds;

/// Whether reports are written that have taxa below those of lines.
fn writes_reports(args: &ReportArgs) -> bool {
    args.report.is_some() || args.report_bases.is_some()
}

/// Whether a run of all databases at once may count reads below the taxa in its lines.
fn has_strains(databases: &[Database], thresholds: &Thresholds) -> bool {
    let lowest = thresholds.lowest;
    let is_strain = |tree: &Taxonomy, node| tree.told_apart_at(node, lowest) != node;
    lowest != Rank::Sequence
        && thresholds.max_cand > 1
        && databases.iter().any(|database| {
            let mut targets = database.targets().iter();
            targets.any(|target| is_strain(database.taxonomy(), target.node))
        })
}

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
    if writes_reports(&args.reports) && has_strains(&databases, &thresholds) {
        console.warn(
            "reads are counted at the taxa in the lines, not at strains, as a run of all databases at once counts \
             them: for the same reports, and for Bracken, give all databases to one `classify`",
        );
    }
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
