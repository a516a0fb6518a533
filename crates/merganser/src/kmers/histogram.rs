//! `merganser kmers histogram`.

mod genomescope;
mod model;
mod page;

use std::process::ExitCode;

use anyhow::Result;
use merganser_io::OutputSet;
use merganser_kmers::algebra::{self, Calculation, CountLimits, Expression};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::tables::{AnyTable, Description};
use merganser_kmers::{Error, Histogram};
use merganser_run::{Silent, thousands};

use super::tables;
use crate::args::kmers::{HistogramArgs, TableArgs};
use crate::console::Console;
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::interrupt;
use page::Shown;

/// The remedy for k-mers that are missing from a histogram, as the end of a warning.
const WHOLE: &str = " from this histogram; count with --histogram for the whole one";

pub(super) fn run(args: &HistogramArgs, console: &Console) -> Result<ExitCode> {
    if args.model {
        return model::run(args, console);
    }
    interrupt::cancel_on_interrupt();
    let opened = tables::open(&[&args.table], &args.tables)?;
    let files = RunFiles::new().read(tables::files(&opened)).write(Holds::LINES, [&args.output]);
    let outputs = files.write_each(page::paths(args)).check()?;
    let shown = Shown::create(args, &outputs)?;
    let mut output = outputs.output(&args.output).map_err(Error::from)?;
    let histogram = collect(&opened, &args.tables)?;
    let k = opened[0].description().k;
    let format = args.histogram_format;
    let beyond = histogram.write(format, k, args.max, &mut output).map_err(Error::from)?;
    output.finish().map_err(Error::from)?;
    let missing = cut(opened[0].description(), WHOLE);
    shown.write(args, (&histogram, k), None, missing.clone(), console)?;
    outputs.commit_last().map_err(Error::from)?;
    if let Some(missing) = missing {
        console.warn(format_args!("{}: {missing}", args.table.display()));
    }
    if beyond > 0 {
        console.warn(format_args!(
            "the histogram leaves out {beyond} distinct k-mers that occur more than {} times \
             (--max)",
            args.max.unwrap_or(u32::MAX)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the histogram of a table, from its header if it has one.
///
/// # Errors
/// If the table cannot be read.
pub(super) fn collect(table: &[AnyTable], args: &TableArgs) -> Result<Histogram, Error> {
    let context = tables::context(args, None);
    if let [table] = table
        && let Some(histogram) = table.stored_histogram(&context)?
    {
        return Ok(histogram);
    }
    read(table, args)
}

/// Returns the histogram of a table of any format by reading all its k-mers in order.
///
/// # Errors
/// If the table cannot be read.
pub(super) fn read(table: &[AnyTable], args: &TableArgs) -> Result<Histogram, Error> {
    let context = tables::context(args, None).progress(Silent);
    let calculation = Calculation {
        expression: Expression::Table(0),
        limits: CountLimits::default(),
        output: None,
        format: TableFormat::None,
    };
    algebra::calculate_with(&calculation, table, &OutputSet::alone(), &context)
        .map(|done| done.histogram)
}

/// Returns a warning about the k-mers that the table does not have, which ends with the remedy.
pub(super) fn cut(table: &Description, remedy: &str) -> Option<String> {
    let (least, most) = (table.min_count, table.max_count);
    let holds = if most == u32::MAX {
        format!("{least} times or more")
    } else {
        format!("{least} to {most} times")
    };
    let missing = match &table.header {
        Some(header) if header.kmers < header.distinct_kmers => {
            format!("{} others", thousands(header.distinct_kmers - header.kmers))
        }
        None if least > 1 => "all others".to_owned(),
        _ => return None,
    };
    Some(format!("the table holds only k-mers that occur {holds}: {missing} are missing{remedy}"))
}
