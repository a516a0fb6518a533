//! `merganser db merge-results`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use merganser_classify::{Database, Merger};
use merganser_io::{Input, Output, finish_all};
use merganser_run::Cancel;

use crate::args::db::DbMergeArgs;
use crate::classify::Reports;
use crate::common::refuse_to_replace;
use crate::console::Console;
use crate::{classify, failure};

pub(super) fn run(args: &DbMergeArgs, console: &Console) -> Result<ExitCode> {
    if args.database.len() != args.results.len() {
        return failure::usage(format!(
            "{} databases (-d) and {} files of results: give as many, in the same order",
            args.database.len(),
            args.results.len()
        ));
    }
    let mut outputs = Reports::paths(&args.reports, None);
    outputs.push(args.output.clone());
    if outputs.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return failure::usage("only one output can be stdout, which -o is without a name");
    }
    let inputs: Vec<Input> =
        args.database.iter().chain(&args.results).cloned().map(Input::File).collect();
    let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
    refuse_to_replace(&outputs, inputs.iter())?;
    let databases =
        args.database.iter().map(|path| Database::open(path)).collect::<Result<Vec<_>, _>>()?;
    let thresholds = classify::thresholds(&args.verdict, &databases[0])?;
    let merger = Merger::new(&databases, thresholds)?;
    let mut output = Output::create(&args.output)?;
    let mut reports = Reports::create(&args.reports, None)?;
    let tally = merger.merge(&args.results, &mut output)?;
    reports.write(&tally, None, merger.taxonomy(), &[], &Cancel::default())?;
    finish_all([output].into_iter().chain(reports.into_outputs()))?;
    let total = tally.total();
    let classified = total - tally.unclassified();
    let percent = 100.0 * classified as f64 / total.max(1) as f64;
    console.info(format_args!("classified {classified} of {total} reads ({percent:.2} %)"));
    Ok(ExitCode::SUCCESS)
}
