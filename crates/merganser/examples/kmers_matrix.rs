//! Writes a matrix with a row for each k-mer and a column for each table, as text.
//!
//! `cargo run --release --example kmers_matrix -- matrix.tsv a.mgk b.mgk c.mgk`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;
use std::path::Path;

use merganser::Context;
use merganser::kmers::{AnyTable, MatrixConfig, matrix};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [output, paths @ ..] = &args[..] else {
        return Err("usage: kmers_matrix OUTPUT TABLE...".into());
    };

    let tables = paths.iter().map(AnyTable::open).collect::<Result<Vec<_>, _>>()?;
    // The columns have the names of the files without suffix.
    let names = paths.iter().map(|path| Path::new(path).file_stem().unwrap_or_default());
    let names = names.map(|name| name.to_string_lossy());
    // Only k-mers that at least two samples have.
    let config = MatrixConfig { min_samples: 2, ..MatrixConfig::new(names) };
    let outcome = matrix(&config, &tables, output, &Context::new())?;
    println!("{} of {} k-mers", outcome.rows, outcome.kmers);
    Ok(())
}
