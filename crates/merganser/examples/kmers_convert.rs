//! Converts a table of k-mers of any format to another format: mgk, kmc, kff, jf, tsv, fasta or jellyfish.
//!
//! `cargo run --release --example kmers_convert -- reads.kmc_pre mgk reads.mgk`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::Context;
use merganser::kmers::{AnyTable, Calculation, Expression, TableFormat, calculate};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [input, format, output] = &args[..] else {
        return Err("usage: kmers_convert TABLE FORMAT OUTPUT".into());
    };

    let table = AnyTable::open(input)?;
    let (kind, k) = (table.description().kind, table.description().k);
    let format: TableFormat = format.parse()?;
    let calculation = Calculation::new(Expression::Table(0)).output(output).format(format);
    let calculated = calculate(&calculation, &[table], &Context::new())?;
    println!("{} {k}-mers, {} to {format}", calculated.kmers, kind.name());
    Ok(())
}
