//! `--stats-only`: statistics of signature rules, as in Table III and Figure 4 of the RapidGKC paper.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use merganser_count::{Config, RuleStats, Stats};
use merganser_io::Input;
use merganser_run::Context;

use crate::args::CountArgs;
use crate::common;
use crate::console::Console;

/// Partitions the inputs with each selected rule and prints the statistics on stdout.
///
/// # Errors
/// Returns the errors of counting.
pub(super) fn run(
    args: &CountArgs,
    (config, context): (&Config, &Context),
    inputs: &[Input],
    console: &Console,
) -> Result<ExitCode> {
    let rules = args.signature.rules();
    let stats = merganser_count::stats(config, inputs, rules, context)?;
    if stats.kmers == 0 {
        console.warn(format_args!("no k-mers in {} records", stats.records));
    }
    common::print(text(&stats))?;
    Ok(ExitCode::SUCCESS)
}

/// A column of the table: its heading, and the function that makes its cells.
type Column = (&'static str, fn(&RuleStats) -> String);

const COLUMNS: [Column; 8] = [
    ("rule", |rule| rule.rule.name().to_owned()),
    ("super_kmers", |rule| rule.super_kmers.to_string()),
    ("bytes", |rule| rule.bytes.to_string()),
    ("paper_bytes", |rule| rule.gkc_bytes.to_string()),
    ("bins", |rule| rule.bins.to_string()),
    ("largest_bin_kmers", |rule| rule.largest_bin_kmers.to_string()),
    ("cpu_seconds", |rule| format!("{:.3}", rule.time.as_secs_f64())),
    ("mean_distance", |rule| format!("{:.3}", rule.mean_distance)),
];

fn text(stats: &Stats) -> String {
    let Stats { k, signature_len, records, kmers, rules } = stats;
    let mut text = format!("# k {k}, p {signature_len}, {records} records, {kmers} k-mers\n");
    table(rules, &mut text);
    for rule in rules {
        let name = rule.rule.name();
        for (which, scores) in [("best", &rule.best), ("worst", &rule.worst)] {
            let _ = writeln!(text, "\n# {name}: {which} minimizers by S-score");
            for score in scores {
                let _ = writeln!(text, "{}\t{:.6}", score.minimizer, score.score);
            }
        }
    }
    text
}

/// Appends a line for each rule, with columns as wide as their cells.
fn table(rules: &[RuleStats], text: &mut String) {
    let mut lines = vec![String::new(); rules.len() + 1];
    for (heading, value) in COLUMNS {
        let cells: Vec<String> =
            std::iter::once(heading.to_owned()).chain(rules.iter().map(value)).collect();
        let width = cells.iter().map(String::len).max().unwrap_or(0);
        for (line, cell) in lines.iter_mut().zip(cells) {
            let _ = match line.is_empty() {
                true => write!(line, "{cell:<width$}"),
                false => write!(line, "  {cell:>width$}"),
            };
        }
    }
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
}
