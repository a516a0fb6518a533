//! `merganser kmers dump`.

use std::process::ExitCode;

use anyhow::Result;
use merganser_kmers::Error;
use merganser_kmers::algebra::{self, Calculation, CountLimits, Expression};
use merganser_kmers::formats::TableFormat;
use merganser_run::Silent;

use super::tables;
use crate::args::kmers::DumpArgs;
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds};
use crate::interrupt;

pub(super) fn run(args: &DumpArgs, console: &Console) -> Result<ExitCode> {
    let most = args.max_count.unwrap_or(u32::MAX);
    if args.min_count > most {
        let least = args.min_count;
        return usage(format!("--min-count {least} is larger than --max-count {most}"));
    }
    interrupt::cancel_on_interrupt();
    let opened = tables::open(&[&args.table], &args.tables)?;
    let calculation = Calculation {
        expression: Expression::Table(0),
        limits: CountLimits {
            min_count: args.min_count,
            max_count: args.max_count,
            ..CountLimits::default()
        },
        output: Some(args.output.clone()),
        format: TableFormat::choose(args.given_format, Some(&args.output), TableFormat::Tsv),
    };
    let context = tables::context(&args.tables, None).progress(Silent);
    let holds = TableFormat::holds(args.given_format, Holds::KMER_LINES);
    let outputs =
        RunFiles::new().read(tables::files(&opened)).write(holds, [&args.output]).check()?;
    algebra::calculate_with(&calculation, &opened, &outputs, &context)?;
    outputs.commit_last().map_err(Error::from)?;
    TableFormat::note(args.given_format, &args.output, console);
    Ok(ExitCode::SUCCESS)
}
