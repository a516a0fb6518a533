//! `merganser eval`.

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::{Result, bail};
use merganser_classify::Database;
use merganser_taxonomy::Dump;
use merganser_taxreport::eval::{Evaluation, Names, Truth};
use serde_json::{Value, json};

use crate::args::EvalArgs;
use crate::common::{self, taxonomy_of};
use crate::console::{self, Console};
use crate::database::AnyDatabase;

/// Scores the results and prints a line for each rank.
pub(crate) fn run(args: &EvalArgs, console: &Console) -> Result<ExitCode> {
    let dump = taxonomy_of(&args.taxonomy).map(|source| Dump::read(&source)).transpose()?;
    if let Some(dump) = &dump {
        dump.warn_of_names(&console::warnings());
    }
    let database = args.database.as_deref().map(AnyDatabase::open).transpose()?;
    let of_database = database.as_ref().map(AnyDatabase::taxonomy);
    let Some(taxonomy) = dump.as_ref().map(|dump| &dump.taxonomy).or(of_database) else {
        bail!("lineages are unknown: give --taxonomy or --database");
    };
    let sequences = match &database {
        Some(AnyDatabase::Own(database)) => sequences(database),
        _ => HashMap::new(),
    };
    let names = Names { taxonomy, sequences: &sequences };
    let truth = Truth::read(&args.truth, taxonomy)?;
    if truth.is_empty() {
        bail!("{}: there are no reads in this file", args.truth.display());
    }
    let found = truth.evaluate(&args.results, &names)?;
    if let (count, Some(name)) = &found.unknown {
        console.warn(format_args!(
            "{}: {count} reads are not in the truth and are ignored, first {name}",
            args.results.display()
        ));
    }
    if found.missing > 0 {
        console.warn(format_args!(
            "{}: {} reads of the truth are missing and count as unclassified",
            args.results.display(),
            found.missing
        ));
    }
    let text = if args.json { format!("{:#}\n", describe(&found)) } else { table(&found) };
    common::print(text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the taxids of a database's sequences.
fn sequences(database: &Database) -> HashMap<String, u32> {
    let taxid = |node| database.taxonomy().taxid(node);
    let all = database.targets().iter();
    all.map(|target| (target.name.clone(), taxid(target.node))).collect()
}

fn table(found: &Evaluation) -> String {
    let mut text = "rank\treads\twith_rank\tassigned\tright\tprecision\tsensitivity\t\
        deviation\tfalse_taxa\n"
        .to_owned();
    for at in &found.ranks {
        let precision = at.precision().map_or("-".to_owned(), percent);
        text += &format!(
            "{}\t{}\t{}\t{}\t{}\t{precision}\t{}\t{}\t{}\n",
            at.rank.name(),
            found.reads,
            at.with_rank,
            at.assigned,
            at.right,
            percent(at.sensitivity(found.reads)),
            percent(at.deviation),
            percent(at.false_share)
        );
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

fn describe(found: &Evaluation) -> Value {
    let mut ranks = serde_json::Map::new();
    for at in &found.ranks {
        let of_rank = json!({
            "with_rank": at.with_rank,
            "assigned": at.assigned,
            "right": at.right,
            "precision": at.precision(),
            "sensitivity": at.sensitivity(found.reads),
            "deviation": at.deviation,
            "false_taxa": at.false_share,
        });
        ranks.insert(at.rank.name().to_owned(), of_rank);
    }
    json!({
        "reads": found.reads,
        "classified": found.classified,
        "missing": found.missing,
        "without_truth": found.unknown.0,
        "ranks": ranks,
    })
}
