//! `merganser kmers hetmers`, and the ploidy that it infers.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use merganser_kmers::Error;
use merganser_kmers::algebra::{self, Cut};
use merganser_kmers::hetmers::{Pairs, hetmers};
use merganser_kmers::tables::AnyTable;
use merganser_report::smudges as picture;
use merganser_spectrum::first_valley;
use merganser_spectrum::smudges::{Ploidy, Smudge, ploidy};
use serde_json::json;

use super::{histogram, tables};
use crate::args::kmers::{HetmersArgs, TableArgs};
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::interrupt;
use crate::pages::drawn;
use merganser_run::thousands;

/// The resolution of plots in dots per inch: 1800 × 1500 pixels.
const DPI: u32 = 288;

pub(super) fn run(args: &HetmersArgs, console: &Console) -> Result<ExitCode> {
    let (path, cut) = match algebra::parse_operand(&args.operand) {
        Ok(operand) => operand,
        Err(what) => return usage(format!("{}: {what}", args.operand.display())),
    };
    interrupt::cancel_on_interrupt();
    let opened = tables::open_for_passes(&path, &args.tables)?;
    let files = RunFiles::new().read(tables::files(&opened)).write(Holds::LINES, [&args.output]);
    let set = files.write(Holds::PICTURE, &args.plot).write(Holds::JSON, &args.json).check()?;
    let (pairs, told) = find(&opened, cut, &args.tables, console)?;
    let mut text = String::from("minor\tmajor\tpairs\n");
    for ((minor, major), number) in &pairs {
        text += &format!("{minor}\t{major}\t{number}\n");
    }
    let rows: Vec<_> = pairs.into_iter().collect();
    let mut all = vec![(&args.output, text.into_bytes())];
    if let Some(plot) = &args.plot {
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = drawn(&picture::picture(&title, &rows, &told), plot, DPI)?;
        all.push((plot, bytes));
    }
    if let Some(json) = &args.json {
        all.push((json, format!("{:#}\n", summary(&told)).into_bytes()));
    }
    for (path, bytes) in all {
        let mut output = set.output(path).map_err(Error::from)?;
        output.write_all(&bytes).map_err(Error::from)?;
        output.finish().map_err(Error::from)?;
    }
    set.commit_last().map_err(Error::from)?;
    console.info(format_args!("{}", words(&told)));
    Ok(ExitCode::SUCCESS)
}

/// Returns the pairs of a table, and the inferred ploidy.
///
/// # Errors
/// If the table cannot be read, or its histogram has no peak above the errors.
fn find(
    opened: &[AnyTable],
    cut: Cut,
    args: &TableArgs,
    console: &Console,
) -> Result<(Pairs, Ploidy)> {
    let [table] = opened else { bail!("one table is needed") };
    let path = table.path().display();
    if let Some(missing) = histogram::cut(table.description()) {
        console.warn(format_args!("{path}: {missing}"));
    }
    let rows: Vec<_> = histogram::collect(opened, args)?.iter().collect();
    warn_of_cut(table, cut, &rows, console);
    let pairs = hetmers(table, cut, &tables::context(args, None))?;
    let counted: Vec<_> = pairs.iter().map(|(&counts, &number)| (counts, number)).collect();
    let Some(told) = ploidy(&counted, &rows) else {
        bail!(
            "{path}: its histogram has no peak above the errors: the coverage is too low, or low counts were cut off"
        );
    };
    Ok((pairs, told))
}

/// The fraction of the genome's k-mers that bounds may leave out without hiding the ploidy.
const MAX_HIDDEN: f64 = 0.05;

/// Warns of bounds that leave out k-mers of the genome, which hides pairs and may change the inferred ploidy.
fn warn_of_cut(table: &AnyTable, cut: Cut, rows: &[(u32, u64)], console: &Console) {
    let solid = first_valley(rows).unwrap_or(0);
    let number = |keep: &dyn Fn(u32) -> bool| -> u64 {
        rows.iter().filter(|row| row.0 > solid && keep(row.0)).map(|row| row.1).sum()
    };
    let (all, hidden) = (number(&|_| true), number(&|count| !cut.keeps(count)));
    if hidden as f64 > MAX_HIDDEN * all as f64 {
        let [hidden, all] = [hidden, all].map(thousands);
        console.warn(format_args!(
            "{}: the bounds of counts leave out {hidden} of the {all} k-mers of the genome: their pairs are \
             hidden, and the inferred ploidy may be wrong; give no bounds, or a lower bound of {} (errors are below)",
            table.path().display(),
            solid.saturating_add(1)
        ));
    }
}

/// Infers the ploidy from a table's pairs, and the coverage of a haplotype.
///
/// # Errors
/// Returns the errors of the command.
pub(super) fn suggest(opened: &[AnyTable], args: &TableArgs, console: &Console) -> Result<Ploidy> {
    let (_, told) = find(opened, Cut::NONE, args, console)?;
    console.info(format_args!("{}", words(&told)));
    Ok(told)
}

/// Returns the inferred ploidy as a message.
fn words(told: &Ploidy) -> String {
    let pairs = |number: f64| thousands(number.round() as u64);
    let Some(coverage) = told.coverage else {
        let all = pairs(told.other);
        return format!(
            "ploidy 1: {all} pairs of k-mers differ in their middle base, too few for two haplotypes"
        );
    };
    let mut smudges = told.smudges.clone();
    smudges.sort_by(|one, other| other.pairs.total_cmp(&one.pairs));
    let ways = smudges
        .iter()
        .take(4)
        .map(|smudge| format!("{} {}", smudge.letters(), pairs(smudge.pairs)));
    format!(
        "ploidy {}: pairs of k-mers that differ in their middle base: {}, others {}; coverage of a haplotype {coverage:.1}",
        told.ploidy,
        ways.collect::<Vec<_>>().join(", "),
        pairs(told.other)
    )
}

/// Returns the inferred ploidy as JSON.
fn summary(told: &Ploidy) -> serde_json::Value {
    let smudge = |smudge: &Smudge| json!({ "pattern": smudge.letters(), "copies": smudge.copies, "pairs": smudge.pairs.round() });
    json!({
        "ploidy": told.ploidy,
        "kmer_coverage": told.coverage,
        "solid": told.solid,
        "smudges": told.smudges.iter().map(smudge).collect::<Vec<_>>(),
        "other_pairs": told.other.round(),
    })
}
