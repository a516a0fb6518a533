//! `merganser kmers hetmers`, and the ploidy that it infers.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use merganser_io::{Output, OutputFormat};
use merganser_kmers::Error;
use merganser_kmers::algebra::{self, Cut};
use merganser_kmers::hetmers::{Anywhere, HetPair, MAX_SUM, Pairs, hetmers, hetmers_anywhere};
use merganser_kmers::tables::AnyTable;
use merganser_report::smudges as picture;
use merganser_spectrum::error_threshold;
use merganser_spectrum::smudges::{Ploidy, Smudge, ploidy};
use serde_json::json;

use super::{histogram, tables};
use crate::args::kmers::{HetmersArgs, Positions, TableArgs};
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
    if args.sequences.is_some() && args.positions == Positions::Middle {
        return usage("--sequences: requires --positions any");
    }
    interrupt::cancel_on_interrupt();
    let opened = tables::open_for_passes(&path, &args.tables)?;
    let files = RunFiles::new().read(tables::files(&opened)).write(Holds::PAIRS, [&args.output]);
    let files = files.write(Holds::LINES, &args.sequences);
    let set = files.write(Holds::PICTURE, &args.plot).write(Holds::JSON, &args.json).check()?;
    let output = |path: &PathBuf| set.output(path).map_err(Error::from);
    let mut sequences = args.sequences.as_ref().map(output).transpose()?;
    if let Some(sequences) = &mut sequences {
        sequences.write_all(b"minor\tmajor\tminor_kmer\tmajor_kmer\n").map_err(Error::from)?;
    }
    let is_bounded = algebra::has_lower_bound(&args.operand);
    let search = Search { cut, is_bounded, positions: args.positions, tables: &args.tables };
    let (found, told) = search.find(&opened, sequences.as_mut(), console)?;
    if let Some(sequences) = sequences {
        sequences.finish().map_err(Error::from)?;
    }
    let is_smu = OutputFormat::of_name(&args.output) == Some(OutputFormat::Smudges);
    let text = if is_smu { smu(&found) } else { lines(&found.pairs) };
    let mut all = vec![(&args.output, text.into_bytes())];
    if let Some(plot) = &args.plot {
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        let rows: Vec<_> = found.pairs.into_iter().collect();
        let bytes = drawn(&picture::picture(&title, &rows, &told), plot, DPI)?;
        all.push((plot, bytes));
    }
    if let Some(json) = &args.json {
        all.push((json, format!("{:#}\n", summary(&told)).into_bytes()));
    }
    for (path, bytes) in all {
        let mut output = output(path)?;
        output.write_all(&bytes).map_err(Error::from)?;
        output.finish().map_err(Error::from)?;
    }
    set.commit_last().map_err(Error::from)?;
    console.info(format_args!("{}", words(&told, args.positions)));
    Ok(ExitCode::SUCCESS)
}

/// Returns the pairs as lines: smaller count, larger count, number.
fn lines(pairs: &Pairs) -> String {
    let line =
        |((minor, major), number): (&(u32, u32), &u64)| format!("{minor}\t{major}\t{number}\n");
    std::iter::once("minor\tmajor\tpairs\n".to_owned()).chain(pairs.iter().map(line)).collect()
}

/// The smaller counts from which on Smudgeplot writes no pairs.
const SMU_MINOR: u32 = 500;

/// Returns the pairs as Smudgeplot's `hetmers` writes them: smaller count, larger count and number, by the sum of
/// both counts. Pairs are counted on both strands; k-mers that differ from their own reverse complement in one base
/// are counted once.
fn smu(found: &Anywhere) -> String {
    let mut rows = BTreeMap::new();
    for (pairs, times) in [(&found.pairs, 2), (&found.with_itself, 1)] {
        for (&(minor, major), &number) in pairs {
            if minor < SMU_MINOR && minor.saturating_add(major) <= MAX_SUM {
                *rows.entry((minor + major, minor)).or_insert(0u64) += times * number;
            }
        }
    }
    let line = |((sum, minor), number)| format!("{minor}\t{}\t{number}\n", sum - minor);
    rows.into_iter().map(line).collect()
}

/// A search for pairs.
struct Search<'s> {
    cut: Cut,
    /// Whether the user gave the lower bound.
    is_bounded: bool,
    positions: Positions,
    tables: &'s TableArgs,
}

impl Search<'_> {
    /// Returns the pairs of a table, and the inferred ploidy; writes the k-mers of pairs to `sequences`.
    ///
    /// # Errors
    /// If the table cannot be read, or its histogram has no peak above the errors.
    fn find(
        &self,
        opened: &[AnyTable],
        sequences: Option<&mut Output>,
        console: &Console,
    ) -> Result<(Anywhere, Ploidy)> {
        let [table] = opened else { bail!("one table is needed") };
        let path = table.path().display();
        let remedy = ", and so is the peak of errors; count with --min-count 1";
        if let Some(missing) = histogram::cut(table.description(), remedy) {
            console.warn(format_args!("{path}: {missing}"));
        }
        if table.description().is_only_given() {
            console.warn(format_args!(
                "{path}: it has only given k-mers (of a panel or an intersection): pairs with other \
                 k-mers are missing, and the inferred ploidy may be wrong"
            ));
        }
        let rows: Vec<_> = histogram::collect(opened, self.tables)?.iter().collect();
        warn_of_cut(table, self.cut, &rows, console);
        warn_of_coverage(table, &rows, console);
        let no_peak = || {
            anyhow!(
                "{path}: its histogram has no peak above the errors: the coverage is too low, or low counts were cut off"
            )
        };
        let context = tables::context(self.tables, None);
        let (found, bases) = match self.positions {
            Positions::Middle => {
                let pairs = hetmers(table, self.cut, &context)?;
                (Anywhere { pairs, ..Anywhere::default() }, 1)
            }
            Positions::Any => {
                let solid = error_threshold(&rows).ok_or_else(no_peak)?;
                let cut = self.above_errors(table, solid, console);
                let found = hetmers_anywhere(table, cut, &context, write_to(sequences))?;
                (found, table.description().k)
            }
        };
        let counted: Vec<_> =
            found.pairs.iter().map(|(&counts, &number)| (counts, number)).collect();
        let told = ploidy(&counted, bases, &rows).ok_or_else(no_peak)?;
        Ok((found, told))
    }

    /// Returns the bounds of counts: without a lower bound, that of k-mers that are not errors. Almost every k-mer
    /// has one that differs by an error, so that it would have no other partner.
    fn above_errors(&self, table: &AnyTable, solid: u32, console: &Console) -> Cut {
        if self.is_bounded {
            return self.cut;
        }
        let least = solid.saturating_add(1);
        let path = table.path().display();
        console.info(format_args!("{path}: counts below {least} are skipped as errors"));
        Cut { least, ..self.cut }
    }
}

/// The share of all occurrences that k-mers of the genome have at least if the coverage is enough for an inference: with
/// one error in 30 bases, a third of all 31-mers.
const MIN_SHARE: f64 = 0.1;

/// Warns of a table whose k-mers are nearly all rare, as those of errors.
fn warn_of_coverage(table: &AnyTable, rows: &[(u32, u64)], console: &Console) {
    let Some(solid) = error_threshold(rows) else { return };
    let occurrences = |above: u32| -> f64 {
        let rows = rows.iter().filter(|row| row.0 > above);
        rows.map(|&(count, number)| f64::from(count) * number as f64).sum()
    };
    let share = occurrences(solid) / occurrences(0);
    if share < MIN_SHARE {
        console.warn(format_args!(
            "{}: k-mers that occur {} times or more, which are taken for those of the genome, are only {:.1} % of all: \
             the coverage is probably too low, or the reads have too many errors, to infer a ploidy",
            table.path().display(),
            u64::from(solid) + 1,
            100.0 * share,
        ));
    }
}

/// Returns a function that writes the k-mers of pairs as lines, if there is an output for them.
fn write_to(mut sequences: Option<&mut Output>) -> impl FnMut(HetPair<'_>) -> Result<(), Error> {
    move |pair| {
        let Some(output) = &mut sequences else { return Ok(()) };
        let ([one, other], [minor, major]) = (pair.kmers, pair.counts);
        let mut line = format!("{minor}\t{major}\t").into_bytes();
        line.extend_from_slice(one);
        line.push(b'\t');
        line.extend_from_slice(other);
        line.push(b'\n');
        Ok(output.write_all(&line)?)
    }
}

/// The fraction of the genome's k-mers that bounds may leave out without hiding the ploidy.
const MAX_HIDDEN: f64 = 0.05;

/// Warns of bounds that leave out k-mers of the genome, which hides pairs and may change the inferred ploidy.
fn warn_of_cut(table: &AnyTable, cut: Cut, rows: &[(u32, u64)], console: &Console) {
    let solid = error_threshold(rows).unwrap_or(0);
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
    let (cut, positions) = (Cut::NONE, Positions::Middle);
    let search = Search { cut, is_bounded: false, positions, tables: args };
    let (_, told) = search.find(opened, None, console)?;
    console.info(format_args!("{}", words(&told, search.positions)));
    Ok(told)
}

/// Returns the inferred ploidy as a message.
fn words(told: &Ploidy, positions: Positions) -> String {
    let base = match positions {
        Positions::Middle => "their middle base",
        Positions::Any => "one base",
    };
    let pairs = |number: f64| thousands(number.round() as u64);
    let Some(coverage) = told.coverage else {
        let all = pairs(told.other);
        return format!(
            "ploidy 1: {all} pairs of k-mers differ in {base}, too few for two haplotypes"
        );
    };
    let mut smudges = told.smudges.clone();
    smudges.sort_by(|one, other| other.pairs.total_cmp(&one.pairs));
    let ways = smudges
        .iter()
        .take(4)
        .map(|smudge| format!("{} {}", smudge.letters(), pairs(smudge.pairs)));
    format!(
        "ploidy {}: pairs of k-mers that differ in {base}: {}, others {}; coverage of a haplotype {coverage:.1}",
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
