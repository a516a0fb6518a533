//! Counts the k-mers of reads and writes a table of those that occur at least twice, with their counts.
//!
//! `cargo run --release --example count_kmers -- 21 reads.fq.gz reads.mgk`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::{Context, count};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [k, reads, output] = &args[..] else {
        return Err("usage: count_kmers K READS OUTPUT".into());
    };

    let config = count::Config::new(k.parse()?);
    let outcome = count::run(&config, [reads], output, &Context::new())?;
    println!("{} reads, {} k-mers", outcome.records, outcome.total_kmers);
    println!("{} distinct k-mers in the table", outcome.kept_kmers);
    Ok(())
}
