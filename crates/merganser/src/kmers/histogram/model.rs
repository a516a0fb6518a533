//! `merganser kmers histogram --model`.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use merganser_io::{BYTE_ORDER_MARK, decompress, is_file, is_read_once};
use merganser_kmers::tables::AnyTable;
use merganser_kmers::{Error, Histogram, HistogramFile, HistogramLines};
use merganser_report::text;
use merganser_spectrum::{Model, Settings};

use super::genomescope;
use super::page::{self, Shown};
use super::{WHOLE, collect, cut};
use crate::args::kmers::{HistogramArgs, PloidyChoice};
use crate::console::Console;
use crate::failure::{self, with_flags};
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::interrupt;
use crate::kmers::{hetmers, tables};
use crate::pages::spectrum;

/// Columns of the plot on a terminal.
const COLUMNS: usize = 96;
const ROWS: usize = 20;
/// The maximum size of a FastK histogram in bytes.
const LARGEST_HIST: u64 = 64 << 20;

pub(super) fn run(args: &HistogramArgs, console: &Console) -> Result<ExitCode> {
    interrupt::cancel_on_interrupt();
    if args.ploidy == PloidyChoice::Auto && args.k.is_some() {
        return failure::usage(
            "--ploidy auto requires a table, not a histogram (-k): it is inferred from k-mers",
        );
    }
    let Found { histogram, k, total, files: read, tables } = find(args, console)?;
    let files = RunFiles::new().read(read).write(Holds::LINES, [&args.output]);
    let brief = args.genomescope_summary.iter().map(|path| (Holds::LINES, path.clone()));
    let outputs = files.write_each(page::paths(args).into_iter().chain(brief)).check()?;
    let rows: Vec<_> = histogram.iter().collect();
    let (ploidy, coverage) = match args.ploidy {
        PloidyChoice::Given(ploidy) => (ploidy, args.settings.coverage),
        PloidyChoice::Auto => {
            let told = hetmers::suggest(&tables, &args.tables, console)?;
            (told.ploidy, args.settings.coverage.or(told.coverage))
        }
    };
    let settings = Settings { ploidy, coverage, total, ..args.settings };
    let model = match Model::fit_with(&rows, k, &settings) {
        Ok(model) => model,
        Err(why) if why.is_of_coverage() && !args.strict => {
            return without(args, (&histogram, k), &outputs, why, console);
        }
        Err(why) => bail!("{}: {why}", args.table.display()),
    };
    let shown = Shown::create(args, &outputs)?;
    let mut output = outputs.output(&args.output).map_err(Error::from)?;
    let text = summary(&model) + &plot(&histogram, &model);
    output.write_all(text.as_bytes()).map_err(Error::from)?;
    output.finish().map_err(Error::from)?;
    if let Some(path) = &args.genomescope_summary {
        let mut output = outputs.output(path).map_err(Error::from)?;
        let text = genomescope::summary(args, path, &histogram, &model);
        output.write_all(text.as_bytes()).map_err(Error::from)?;
        output.finish().map_err(Error::from)?;
    }
    let doubts = model.doubts.iter().map(|doubt| with_flags(&doubt.to_string()));
    let doubts: Vec<String> = doubts.collect();
    doubts.iter().for_each(|doubt| console.warn(format_args!("{}: {doubt}", args.table.display())));
    shown.write(args, (&histogram, k), Some(&model), doubts, console)?;
    outputs.commit_last().map_err(Error::from)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the plot as comment lines.
fn plot(histogram: &Histogram, model: &Model) -> String {
    let plot = text::spectrum(&spectrum::of(histogram, model.k, Some(model)), COLUMNS, ROWS);
    plot.lines().map(|line| format!("# {line}\n")).collect()
}

/// Writes the histogram alone, if it has no model.
fn without(
    args: &HistogramArgs,
    (histogram, k): (&Histogram, usize),
    outputs: &merganser_io::OutputSet,
    why: merganser_spectrum::Error,
    console: &Console,
) -> Result<ExitCode> {
    let mut output = outputs.output(&args.output).map_err(Error::from)?;
    histogram.write(args.histogram_format, k, None, &mut output).map_err(Error::from)?;
    output.finish().map_err(Error::from)?;
    let shown = Shown::create(args, outputs)?;
    shown.write(args, (histogram, k), None, [why.to_string()], console)?;
    outputs.commit_last().map_err(Error::from)?;
    console.warn(format_args!(
        "{}: {why}; the histogram is written without a model (--strict makes this an error)",
        args.table.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// A histogram, and its properties.
struct Found {
    histogram: Histogram,
    k: usize,
    /// The number of occurrences of all k-mers, if the histogram does not include all of them.
    total: Option<u64>,
    /// The files that were read.
    files: Vec<PathBuf>,
    /// The table; none if the file is a histogram.
    tables: Vec<AnyTable>,
}

/// Reads the histogram of a table, or a file that is a histogram.
fn find(args: &HistogramArgs, console: &Console) -> Result<Found> {
    let path = &args.table;
    let given = args.k;
    // With -k, a pipe must be a histogram.
    let file = if (is_read_once(path) && given.is_some()) || is_histogram(path)? {
        Some(read_histogram(path)?)
    } else {
        of_fastk(path)?
    };
    if let Some(HistogramFile { histogram, k, total }) = file {
        let Some(k) = k.or(given) else {
            return failure::usage(
                "-k is missing: a histogram does not contain the length of its k-mers",
            );
        };
        check_k(args, k)?;
        let (files, tables) = (vec![path.clone()], Vec::new());
        return Ok(Found { histogram, k, total, files, tables });
    }
    let tables = tables::open_for_passes(path, &args.tables)?;
    let description = tables[0].description();
    let k = description.k;
    check_k(args, k)?;
    if let Some(why) = description.why_no_model() {
        return Err(merganser_kmers::Error::Table { path: path.clone(), reason: why.into() }.into());
    }
    if let Some(missing) = cut(description, WHOLE) {
        console.warn(format_args!("{}: {missing}", path.display()));
    }
    let histogram = collect(&tables, &args.tables)?;
    let files = tables::files(&tables);
    Ok(Found { histogram, k, total: None, files, tables })
}

/// Checks that `-k`, if given, equals the k of the file.
fn check_k(args: &HistogramArgs, k: usize) -> Result<()> {
    if args.k.is_some_and(|given| given != k) {
        bail!("{}: its k is {k}, not that of -k", args.table.display());
    }
    Ok(())
}

/// Reads a histogram in FastK's format; `None` if the file is something else.
fn of_fastk(path: &Path) -> Result<Option<HistogramFile>> {
    let at = |source| Error::File { path: path.to_owned(), source };
    if path.extension().is_none_or(|end| end != "hist") || !is_file(path).map_err(at)? {
        return Ok(None);
    }
    let size = std::fs::metadata(path).map_err(at)?.len();
    let bytes = if size > LARGEST_HIST { Vec::new() } else { std::fs::read(path).map_err(at)? };
    match Histogram::of_fastk(&bytes) {
        Some(found) => Ok(Some(found)),
        None => {
            bail!("{}: neither COUNT NUMBER lines nor a complete FastK histogram", path.display())
        }
    }
}

/// Whether a file begins like a histogram in text: with a number, a comment, or ntCard's F1 or F0.
fn is_histogram(path: &Path) -> Result<bool> {
    let at = |source| Error::File { path: path.to_owned(), source };
    if !is_file(path).map_err(at)? {
        return Ok(false);
    }
    let mut start = Vec::with_capacity(64);
    let text = File::open(path).and_then(decompress).map_err(at)?;
    text.take(64).read_to_end(&mut start).map_err(at)?;
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start).trim_ascii_start();
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_text = !line.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace());
    let number = line.strip_prefix(b"-").unwrap_or(line).first().is_some_and(u8::is_ascii_digit);
    let named =
        [&b"#"[..], b"F0\t", b"F1\t", b"F0 ", b"F1 "].iter().any(|name| line.starts_with(name));
    Ok(is_text && (number || named))
}

/// Reads a histogram line by line, so that a file of another kind need not fit into memory.
fn read_histogram(path: &Path) -> Result<HistogramFile> {
    let mut lines = HistogramLines::default();
    let at = |bad| anyhow::anyhow!("{}: {bad}", path.display());
    let mut bad = None;
    let failed = |source| Error::File { path: path.to_owned(), source };
    let text: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(merganser_io::stdin()?),
        false => merganser_io::open_text(path).map_err(failed)?,
    };
    let read = merganser_io::each_line(&mut BufReader::new(text), |_, line| {
        lines.add(line).map_err(|problem| {
            bad = Some(problem);
            std::io::Error::from(std::io::ErrorKind::InvalidData)
        })
    });
    if let Some(bad) = bad {
        return Err(at(bad));
    }
    read.map_err(failed)?;
    lines.finish().map_err(at)
}

/// Formats a value, or NA.
fn known(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "NA".to_owned(), |value| format!("{value:.digits$}"))
}

/// Returns the model's values as `KEY<TAB>VALUE` lines.
fn summary(model: &Model) -> String {
    let mut lines = vec![
        ("k", model.k.to_string()),
        ("ploidy", model.ploidy.to_string()),
        ("genome_size", format!("{:.0}", model.genome_size)),
        ("unique_size", format!("{:.0}", model.unique_size)),
        ("repeats", format!("{:.4}", 1.0 - model.unique_size / model.genome_size.max(1.0))),
        ("heterozygosity", format!("{:.6}", model.heterozygosity)),
        ("kmer_coverage", format!("{:.3}", model.coverage)),
    ];
    if model.ploidy == 1 {
        lines.retain(|(key, _)| *key != "heterozygosity");
    }
    let peak = |times: u32| format!("{:.1}", f64::from(times) * model.coverage);
    lines.push(("peaks", (1..=model.ploidy).map(peak).collect::<Vec<_>>().join(",")));
    if model.ploidy > 2 {
        let rate = |(letters, rate): &(&'static str, f64)| (*letters, format!("{rate:.6}"));
        lines.extend(model.patterns.iter().map(rate));
    }
    lines.extend([
        ("bias", format!("{:.4}", model.bias)),
        ("shared_bias", format!("{:.4}", model.shared_bias)),
        ("error_rate", known(model.error_rate, 6)),
        ("total_kmers", model.total_kmers.to_string()),
        ("error_kmers", known(model.error_kmers, 0)),
        ("explained", format!("{:.4}", model.explained)),
    ]);
    if model.ploidy == 1 {
        lines.retain(|(key, _)| *key != "shared_bias");
    }
    let lines = lines.into_iter().map(|(key, value)| format!("{key}\t{value}\n"));
    lines.chain(errors(model)).collect()
}

/// Returns the standard errors as `KEY_se<TAB>VALUE` lines.
fn errors(model: &Model) -> Vec<String> {
    let Some(errors) = &model.standard_errors else { return Vec::new() };
    let mut lines = vec![
        ("genome_size", format!("{:.0}", errors.genome_size)),
        ("unique_size", format!("{:.0}", errors.unique_size)),
        ("repeats", format!("{:.6}", errors.repeats)),
    ];
    if model.ploidy > 1 {
        lines.push(("heterozygosity", format!("{:.8}", errors.heterozygosity)));
    }
    lines.push(("kmer_coverage", format!("{:.5}", errors.coverage)));
    if model.ploidy > 2 {
        let rates = model.patterns.iter().zip(&errors.patterns);
        lines.extend(rates.map(|((letters, _), error)| (*letters, format!("{error:.8}"))));
    }
    lines.push(("bias", format!("{:.6}", errors.bias)));
    lines.push(("error_rate", known(errors.error_rate, 8)));
    lines.into_iter().map(|(key, value)| format!("{key}_se\t{value}\n")).collect()
}
