//! `merganser kmers matrix`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use merganser_kmers::algebra::Cut;
use merganser_kmers::matrix::{MatrixConfig, MatrixFormat, concat_matrix, matrix_with};
use merganser_kmers::{Error, tables::AnyTable};

use super::tables;
use crate::args::kmers::MatrixArgs;
use crate::common::check_cells;
use crate::console::Console;
use crate::failure::usage;
use crate::files::RunFiles;
use crate::holds::{FormatChoice, Holds};
use crate::interrupt;
use merganser_run::thousands;

pub(super) fn run(args: &MatrixArgs, console: &Console) -> Result<ExitCode> {
    if args.concat {
        return concat(args, console);
    }
    let (paths, cuts) = tables::operands(&args.operands)?;
    if let Some([one, other]) = tables::repeated(&paths, &cuts) {
        let [one, other] = [one, other].map(|place| args.operands[place].display());
        return usage(format!("{one} and {other} are the same table: give each sample once"));
    }
    let samples: Vec<(String, Cut)> = names(&paths).into_iter().zip(cuts).collect();
    check_cells(samples.iter().map(|(name, _)| name))?;
    let mut seen = HashSet::new();
    if let Some((name, _)) = samples.iter().find(|sample| !seen.insert(&sample.0)) {
        return usage(format!("two columns would be called {name}: give each table once"));
    }
    let config = MatrixConfig { samples, format: format(args), ..args.config.clone() };
    interrupt::cancel_on_interrupt();
    let opened: Vec<AnyTable> = tables::open(&paths, &args.tables)?;
    let outputs = RunFiles::new()
        .read(tables::files(&opened))
        .write(MatrixFormat::holds(args.given_format, Holds::MATRIX), [&args.output])
        .check()?;
    let context = tables::context(&args.tables, None);
    let outcome = matrix_with(&config, &opened, &args.output, &outputs, &context)?;
    outputs.commit_last().map_err(Error::from)?;
    MatrixFormat::note(args.given_format, &args.output, console);
    let (rows, kmers) = (thousands(outcome.rows), thousands(outcome.kmers));
    console.info(format_args!("{rows} of {kmers} k-mers have a row"));
    Ok(ExitCode::SUCCESS)
}

/// Concatenates the ranges of a matrix.
fn concat(args: &MatrixArgs, console: &Console) -> Result<ExitCode> {
    let paths: Vec<PathBuf> = args.operands.iter().map(PathBuf::from).collect();
    let outputs = RunFiles::new()
        .read(&paths)
        .write(MatrixFormat::holds(args.given_format, Holds::MATRIX), [&args.output])
        .check()?;
    let cancel = interrupt::cancel_on_interrupt();
    let outcome = concat_matrix(&paths, format(args), &args.output, &outputs, &cancel)?;
    outputs.commit_last().map_err(Error::from)?;
    console.info(format_args!("{} rows of {} ranges", thousands(outcome.rows), paths.len()));
    Ok(ExitCode::SUCCESS)
}

fn format(args: &MatrixArgs) -> MatrixFormat {
    MatrixFormat::choose(args.given_format, Some(&args.output), MatrixFormat::Tsv)
}

/// Returns the file names without suffix, or the paths if two of these would be equal.
fn names(paths: &[impl AsRef<Path>]) -> Vec<String> {
    let stem = |path: &Path| {
        let stem = path.file_stem().unwrap_or(OsStr::new("table"));
        stem.to_string_lossy().into_owned()
    };
    let stems: Vec<String> = paths.iter().map(|path| stem(path.as_ref())).collect();
    let all: HashSet<&String> = stems.iter().collect();
    match all.len() == stems.len() {
        true => stems,
        false => paths.iter().map(|path| path.as_ref().display().to_string()).collect(),
    }
}
