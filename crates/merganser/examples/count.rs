//! Counts the 21-mers of real reads in memory and prints the most frequent ones. Run it in the root of the repository:
//! `cargo run --release --example count`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::cmp::Reverse;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use merganser::count::{Config, run_in_memory};
use merganser::io::Input;
use merganser::run::Context;

pub(crate) fn report(data: &Path) -> Result<String, Box<dyn Error>> {
    let inputs = [Input::File(data.join("ERR1438863_1.fastq.gz"))];
    // Counts canonical k-mers that occur at least twice.
    let (config, context) = (Config::new(21), Context::new());
    let (outcome, table) = run_in_memory(&config, &inputs, &context)?;
    let mut text = format!("{} reads, {} k-mers\n", outcome.records, outcome.total_kmers);
    writeln!(text, "{} occur more than once", table.len())?;
    let mut kmers: Vec<(String, u32)> = table.iter().collect();
    // A stable sort: k-mers with equal counts stay in order.
    kmers.sort_by_key(|&(_, count)| Reverse(count));
    for (kmer, count) in &kmers[..3.min(kmers.len())] {
        writeln!(text, "{kmer}\t{count}")?;
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report(Path::new("tests/data"))?);
    Ok(())
}
