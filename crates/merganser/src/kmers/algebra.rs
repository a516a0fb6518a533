//! The subcommands that compute a table from tables.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use merganser_io::Output;
use merganser_kmers::Error;
use merganser_kmers::algebra::{
    self, Calculated, Calculation, CountLimits, Cut, Expression, Operation,
};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::tables::{AnyTable, Database};
use merganser_run::{Context, Shard, Summary, thousands};

use super::tables;
use crate::args::kmers::{
    ComputingArgs, ConcatArgs, EvalArgs, OperationArgs, ReduceArgs, ResultArgs, SetCountsArgs,
    SubtractArgs, TableArgs, UnionArgs, WrittenArgs,
};
use crate::common::{self, tell_spilled, write_summary};
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds};
use crate::interrupt;

/// A subcommand with its operands, as an expression.
struct Asked<'a> {
    verb: &'static str,
    expression: Expression,
    paths: Vec<PathBuf>,
    how: How,
    written: &'a WrittenArgs,
    limits: CountLimits,
    context: Context,
}

/// The kind of tables that are accepted, and how they are combined.
enum How {
    /// Whole tables, which are combined by the expression.
    Whole,
    /// Whole tables or shards, which are joined; all k-mers or a range.
    Join(Option<Shard>),
    /// Ranges, which are concatenated.
    Concat,
}

impl<'a> Asked<'a> {
    fn new(
        verb: &'static str,
        (expression, paths): (Expression, Vec<PathBuf>),
        computing: &'a ComputingArgs,
    ) -> Asked<'a> {
        let ResultArgs { written, limits } = &computing.result;
        Asked {
            verb,
            expression,
            paths,
            how: How::Whole,
            written,
            limits: *limits,
            context: tables::context(&computing.tables, None),
        }
    }
}

pub(super) fn operation(
    verb: &'static str,
    operation: Operation,
    args: &OperationArgs,
    console: &Console,
) -> Result<ExitCode> {
    let asked = Asked::new(verb, operands_of(operation, args)?, &args.computing);
    run(asked, &args.computing.tables, console)
}

pub(super) fn union(args: &UnionArgs, console: &Console) -> Result<ExitCode> {
    let UnionArgs { range, of } = args;
    warn_of_repeats(&of.operands, console)?;
    let asked = Asked::new("union", operands_of(Operation::Union, of)?, &of.computing);
    run(Asked { how: How::Join(*range), ..asked }, &of.computing.tables, console)
}

/// Warns of a table that is added to itself under another name. Under the same name, it is intended.
fn warn_of_repeats(operands: &[OsString], console: &Console) -> Result<()> {
    let (paths, cuts) = tables::operands(operands)?;
    if let Some([one, other]) = tables::repeated(&paths, &cuts)
        && paths[one] != paths[other]
    {
        let [one, other] = [one, other].map(|place| operands[place].display());
        console.warn(format_args!(
            "{one} and {other} are the same table, and its counts are taken twice: give it once"
        ));
    }
    Ok(())
}

fn operands_of(operation: Operation, args: &OperationArgs) -> Result<(Expression, Vec<PathBuf>)> {
    let mode = args.counts.unwrap_or(operation.default_mode());
    let (operands, paths) = operands(&args.operands)?;
    Ok((Expression::Of { operation, mode, operands }, paths))
}

pub(super) fn concat(args: &ConcatArgs, console: &Console) -> Result<ExitCode> {
    interrupt::cancel_on_interrupt();
    let asked = Asked {
        verb: "concat",
        // The result of concatenated ranges is their table.
        expression: Expression::Table(0),
        paths: args.tables.clone(),
        how: How::Concat,
        written: &args.written,
        limits: CountLimits::default(),
        context: common::context(args.threads.number(), args.memory, None, None),
    };
    let format = check(asked.written, asked.limits)?;
    merganser_run::raise_open_file_limit();
    let opened = algebra::open_pieces(&asked.paths, true, &asked.context)?;
    run_on(&asked, format, &opened, console)
}

pub(super) fn subtract(args: &SubtractArgs, console: &Console) -> Result<ExitCode> {
    let (operands, paths) = operands(&args.operands)?;
    let operation = Operation::Subtract;
    let expression = Expression::Of { operation, mode: operation.default_mode(), operands };
    let computing = &args.computing;
    run(Asked::new("subtract", (expression, paths), computing), &computing.tables, console)
}

pub(super) fn eval(args: &EvalArgs, console: &Console) -> Result<ExitCode> {
    let parsed = match algebra::parse(&args.expression) {
        Ok(parsed) => parsed,
        Err(what) => return usage(what),
    };
    let computing = &args.computing;
    run(Asked::new("eval", parsed, computing), &computing.tables, console)
}

pub(super) fn reduce(args: &ReduceArgs, console: &Console) -> Result<ExitCode> {
    let (mut operands, paths) = operands(std::slice::from_ref(&args.operand))?;
    let expression = operands.remove(0);
    let computing = &args.computing;
    run(Asked::new("reduce", (expression, paths), computing), &computing.tables, console)
}

pub(super) fn set_counts(args: &SetCountsArgs, console: &Console) -> Result<ExitCode> {
    let (mut operands, paths) = operands(std::slice::from_ref(&args.operand))?;
    let expression = Expression::SetCounts(Box::new(operands.remove(0)), args.count);
    let computing = &args.computing;
    run(Asked::new("set-counts", (expression, paths), computing), &computing.tables, console)
}

/// Parses `TABLE[:MIN..MAX]` operands. Returns their expressions and the tables, each table once.
fn operands(texts: &[OsString]) -> Result<(Vec<Expression>, Vec<PathBuf>)> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut operands = Vec::new();
    for text in texts {
        let (path, cut) = match algebra::parse_operand(text) {
            Ok(operand) => operand,
            Err(what) => return usage(format!("{}: {what}", text.display())),
        };
        let place = paths.iter().position(|known| *known == path).unwrap_or(paths.len());
        if place == paths.len() {
            paths.push(path);
        }
        let table = Expression::Table(place);
        operands.push(match cut == Cut::NONE {
            true => table,
            false => Expression::Within(Box::new(table), cut),
        });
    }
    Ok((operands, paths))
}

/// Checks combinations of options that clap cannot check.
fn check(args: &WrittenArgs, limits: CountLimits) -> Result<TableFormat> {
    let Cut { least, most } = limits.cut();
    if least > most {
        return usage(format!("--min-count {least} is larger than --max-count {most}"));
    }
    let to_stdout = |path: &Option<PathBuf>| path.as_ref().is_some_and(|at| at.as_os_str() == "-");
    let format = args.format();
    let binary = matches!(
        format,
        TableFormat::Mgk
            | TableFormat::Kmc
            | TableFormat::Kff
            | TableFormat::Jf
            | TableFormat::Parquet
    );
    match (&args.output, format) {
        (None, TableFormat::None) => {}
        (None, _) => {
            return usage("an output is missing: -o FILE, or --format none for no table");
        }
        (Some(_), TableFormat::None) => {
            return usage("-o cannot be used with --format none: there is no table to write");
        }
        (Some(path), _) if binary && path.as_os_str() == "-" => {
            return usage("this format needs a file, -o FILE: only text can be written to stdout");
        }
        (Some(_), _) => {}
    }
    let claims = [&args.output, &args.histogram, &args.json];
    if claims.into_iter().filter(|path| to_stdout(path)).count() > 1 {
        return usage("two outputs go to stdout: name a file for one");
    }
    Ok(format)
}

fn run(asked: Asked<'_>, args: &TableArgs, console: &Console) -> Result<ExitCode> {
    let format = check(asked.written, asked.limits)?;
    interrupt::cancel_on_interrupt();
    let opened = match asked.how {
        How::Whole => tables::open(&asked.paths, args)?,
        _ => tables::open_pieces(&asked.paths, args)?,
    };
    run_on(&asked, format, &opened, console)
}

fn run_on(
    asked: &Asked<'_>,
    format: TableFormat,
    opened: &[AnyTable],
    console: &Console,
) -> Result<ExitCode> {
    let started = Instant::now();
    let args = asked.written;
    let table = TableFormat::holds(args.given_format, Holds::TABLE);
    let files = RunFiles::new().read(tables::files(opened)).write(table, table_files(args));
    let files = files.write(Holds::LINES, &args.histogram).write(Holds::JSON, &args.json);
    let outputs = files.check()?;
    let histogram = args.histogram.as_deref().map(|path| outputs.output(path)).transpose();
    let json = args.json.as_deref().map(|path| outputs.output(path)).transpose();
    let (histogram, json) = (histogram.map_err(Error::from)?, json.map_err(Error::from)?);
    let calculation = Calculation {
        expression: asked.expression.clone(),
        limits: asked.limits,
        output: args.table(),
        format,
    };
    let context = &asked.context;
    let done = match asked.how {
        How::Whole => algebra::calculate_with(&calculation, opened, &outputs, context),
        How::Join(range) => algebra::join(&calculation, range, opened, &outputs, context),
        How::Concat => algebra::concat(&calculation, opened, &outputs, context),
    }?;
    if let Some(mut output) = histogram {
        let (format, k) = (args.histogram_format, opened[0].description().k);
        done.histogram.write(format, k, None, &mut output).map_err(Error::from)?;
        output.finish().map_err(Error::from)?;
    }
    warn(asked, &done, console);
    if let Some(output) = json {
        summary(asked, &done, started, output)?;
    }
    outputs.commit_last().map_err(Error::from)?;
    if let Some(output) = &args.output {
        TableFormat::note(args.given_format, output, console);
    }
    report(&done, console);
    Ok(ExitCode::SUCCESS)
}

/// Returns the paths of the result's files.
fn table_files(args: &WrittenArgs) -> Vec<PathBuf> {
    match (args.table(), args.format()) {
        (None, _) => Vec::new(),
        (Some(output), TableFormat::Kmc) => Database::files(&output).to_vec(),
        (Some(output), _) => vec![output],
    }
}

fn warn(asked: &Asked<'_>, done: &Calculated, console: &Console) {
    if done.kmers == 0 {
        console.warn("the result has no k-mers");
    }
    if done.saturated {
        let most = thousands(u64::from(u32::MAX));
        console.warn(format_args!("counts above {most} are stored as {most}"));
    }
    if done.lowered > 0 {
        let ceiling = asked.limits.counter_max.unwrap_or(u32::MAX);
        let lowered = thousands(done.lowered);
        console.warn(format_args!("{lowered} counts were lowered to {ceiling} (--counter-max)"));
    }
}

fn report(done: &Calculated, console: &Console) {
    if let Some(memory) = done.enough_memory {
        tell_spilled(done.spilled_bytes, memory, console);
    }
    let (kmers, occurrences) = (thousands(done.kmers), thousands(done.occurrences));
    let cut = match done.before - done.kmers {
        0 => String::new(),
        gone => format!("; {} more were cut off", thousands(gone)),
    };
    console.info(format_args!("{kmers} k-mers, the sum of their counts {occurrences}{cut}"));
}

/// Writes the summary of `--json`.
fn summary(asked: &Asked<'_>, done: &Calculated, started: Instant, output: Output) -> Result<()> {
    let context = &asked.context;
    let mut summary = Summary::new(&format!("kmers {}", asked.verb));
    summary.version(env!("CARGO_PKG_VERSION"));
    let paths: Vec<String> = asked.paths.iter().map(|path| path.display().to_string()).collect();
    summary.set("inputs", "tables", paths);
    summary.set("parameters", "format", asked.written.format());
    summary.set_all("parameters", asked.limits);
    summary.set("parameters", "threads", context.threads);
    summary.set("parameters", "memory", context.budget());
    for (key, value) in [
        ("kmers", done.kmers),
        ("occurrences", done.occurrences),
        ("cut_off", done.before - done.kmers),
        ("lowered", done.lowered),
        ("largest_count", done.histogram.max().into()),
        ("spilled_bytes", done.spilled_bytes),
    ] {
        summary.set("results", key, value);
    }
    summary.set("results", "saturated", done.saturated);
    summary.set("seconds", "wall", started.elapsed().as_secs_f64());
    for (name, time) in done.stages.iter() {
        summary.stage(name, time);
    }
    Ok(write_summary(&mut summary, output).map_err(Error::from)?)
}
