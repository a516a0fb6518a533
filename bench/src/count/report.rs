//! The report: Markdown for people, JSON for programs.

use super::case::{Case, Missing, Row};
use super::machine;
use super::peer::{Installed, Peer};
use crate::measure::Cost;
use serde_json::{Value, json};
use std::fmt::Write;

/// Tools with which the others are compared.
const BASES: [Peer; 2] = [Peer::Merganser, Peer::MerganserDisk];

/// Returns the header with machine, tools and settings.
pub(crate) fn header(threads: usize, runs: usize, installed: &Installed) -> String {
    let mut text = String::from("# merganser-bench count\n\n");
    text += &machine::describe();
    let versions = installed.versions();
    let versions = versions.iter().map(|(name, version)| format!("{name}: {version}"));
    text += &format!("- tools: {}\n", versions.collect::<Vec<_>>().join("; "));
    text += &format!("- {threads} threads each; median (min to max) of {runs} runs in turn; ");
    text += "files in the page cache; whole process, table written\n";
    text
}

/// Returns the table of one case.
pub(crate) fn section(case: &Case) -> String {
    let bases: Vec<&Row> = BASES.iter().filter_map(|&base| measured(case, base)).collect();
    let mut text = format!(
        "\n## k = {}, min count {}: {}, {:.2} GB\n\n| tool | wall s | CPU s | peak GB |",
        case.k,
        case.min_count,
        case.name,
        case.bytes as f64 / 1e9
    );
    for base in &bases {
        let name = base.peer.name();
        text += &format!(" wall ÷ {name} | memory ÷ {name} |");
    }
    text += " k-mers |\n|---|---|---|---|";
    text += &"---|".repeat(2 * bases.len() + 1);
    text.push('\n');
    for row in &case.rows {
        text += &line(row, &bases, case.distinct());
    }
    text
}

/// Returns the row of `peer` if its runs succeeded.
fn measured(case: &Case, peer: Peer) -> Option<&Row> {
    case.rows.iter().find(|row| row.peer == peer && row.missing.is_none())
}

fn line(row: &Row, bases: &[&Row], expected: Option<u64>) -> String {
    let mut text = format!("| {} |", row.peer.name());
    let blank = " |".repeat(2 + 2 * bases.len());
    match &row.missing {
        Some(Missing::NotInstalled) => return format!("{text} not installed |{blank} |\n"),
        Some(Missing::Failed(_)) => return format!("{text} **failed** |{blank} |\n"),
        None => {}
    }
    text += &format!(" {} |", Spread::of(&row.costs, |cost| cost.wall));
    text += &format!(" {} |", Spread::of(&row.costs, |cost| cost.cpu));
    text += &format!(" {} |", Spread::of(&row.costs, gigabytes));
    for base in bases {
        text += &format!(" {:.2} |", ratio(row, base, |cost| cost.wall));
        text += &format!(" {:.2} |", ratio(row, base, gigabytes));
    }
    let kmers = row.distinct.map_or("unknown".into(), |number| number.to_string());
    let verdict = if row.distinct == expected { "" } else { " **differs**" };
    text + &format!(" {kmers}{verdict} |\n")
}

fn gigabytes(cost: &Cost) -> f64 {
    cost.peak as f64 / 1e9
}

/// Returns tables of the cost by data set: seconds per GB of input. Empty if there is only one data set.
pub(crate) fn growth(cases: &[Case]) -> String {
    let mut text = String::new();
    let mut seen = Vec::new();
    for case in cases {
        let key = (case.k, case.min_count);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let alike: Vec<&Case> = cases.iter().filter(|c| (c.k, c.min_count) == key).collect();
        if alike.len() > 1 {
            text += &growth_table(&alike);
        }
    }
    text
}

fn growth_table(cases: &[&Case]) -> String {
    let (k, min_count) = (cases[0].k, cases[0].min_count);
    let mut text =
        format!("\n## Growth, k = {k}, min count {min_count}: wall s (s a GB)\n\n| tool |");
    for case in cases {
        let coverage = case.coverage.map_or(case.name.clone(), |coverage| format!("{coverage}×"));
        text += &format!(" {coverage} ({:.2} GB) |", case.bytes as f64 / 1e9);
    }
    text += "\n|---|";
    text += &"---|".repeat(cases.len());
    text.push('\n');
    for row in &cases[0].rows {
        text += &format!("| {} |", row.peer.name());
        for case in cases {
            match measured(case, row.peer) {
                None => text += " |",
                Some(row) => {
                    let wall = Spread::of(&row.costs, |cost| cost.wall).median;
                    let _ = write!(text, " {wall:.2} ({:.2}) |", wall / (case.bytes as f64 / 1e9));
                }
            }
        }
        text.push('\n');
    }
    text
}

/// Returns all figures of all runs.
pub(crate) fn json(installed: &Installed, cases: &[Case]) -> Value {
    let run = |cost: &Cost| json!({ "wall_seconds": cost.wall, "cpu_seconds": cost.cpu, "peak_bytes": cost.peak });
    let row = |row: &Row| {
        let missing = row.missing.as_ref().map(|missing| match missing {
            Missing::NotInstalled => "not installed",
            Missing::Failed(why) => why,
        });
        let runs: Vec<Value> = row.costs.iter().map(run).collect();
        json!({ "tool": row.peer.name(), "runs": runs, "kmers": row.distinct, "missing": missing })
    };
    let case = |case: &Case| {
        let rows: Vec<Value> = case.rows.iter().map(row).collect();
        json!({
            "input": case.name, "input_bytes": case.bytes, "coverage": case.coverage,
            "k": case.k, "min_count": case.min_count, "tools": rows,
        })
    };
    let versions = installed.versions().into_iter();
    let versions = versions.map(|(name, version)| (name.to_owned(), json!(version)));
    json!({
        "machine": machine::describe().lines().map(|line| &line[2..]).collect::<Vec<_>>(),
        "versions": Value::Object(versions.collect()),
        "cases": cases.iter().map(case).collect::<Vec<_>>(),
    })
}

/// Median, minimum and maximum of a figure over the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn of(costs: &[Cost], figure: impl Fn(&Cost) -> f64) -> Self {
        let mut values: Vec<f64> = costs.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
            return Self { least: f64::NAN, median: f64::NAN, most: f64::NAN };
        };
        let half = values.len() / 2;
        // For an even number of values, the mean of the middle two.
        let median = (values[(values.len() - 1) / 2] + values[half]) / 2.0;
        Self { least, median, most }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} ({:.2} to {:.2})", self.median, self.least, self.most)
    }
}

fn ratio(row: &Row, base: &Row, figure: impl Fn(&Cost) -> f64 + Copy) -> f64 {
    Spread::of(&row.costs, figure).median / Spread::of(&base.costs, figure).median
}

#[cfg(test)]
mod tests;
