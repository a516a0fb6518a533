//! Writes the union, intersection or difference of tables of k-mers as a table.
//!
//! `cargo run --release --example kmers_combine -- intersection both.mgk a.mgk b.mgk`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::Context;
use merganser::kmers::{AnyTable, Calculation, Expression, calculate};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let usage = "usage: kmers_combine union|intersection|difference OUTPUT TABLE...";
    let [operation, output, paths @ ..] = &args[..] else { return Err(usage.into()) };

    let tables = paths.iter().map(AnyTable::open).collect::<Result<Vec<_>, _>>()?;
    let all = 0..tables.len();
    let expression = match &operation[..] {
        // Counts are added.
        "union" => Expression::union(all),
        // Each k-mer has the smallest of its counts.
        "intersection" => Expression::intersection(all),
        // The k-mers of the first table that are in no other one.
        "difference" => Expression::difference(all),
        _ => return Err(usage.into()),
    };
    let calculation = Calculation::new(expression).output(output);
    let calculated = calculate(&calculation, &tables, &Context::new())?;
    println!("{} k-mers", calculated.kmers);
    Ok(())
}
