//! Classifies reads by a Kraken 2 database, with the same bytes as Kraken 2: a line for each read, and a report.
//!
//! `cargo run --release --example kraken2_classify -- k2_viral reads.fq.gz reads.kraken reads.kreport`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::Context;
use merganser::classify::kraken2::{self, Kraken2Config, Kraken2Database, OutputPaths};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [folder, reads, lines, report] = &args[..] else {
        return Err("usage: kraken2_classify DATABASE READS LINES REPORT".into());
    };

    let database = Kraken2Database::open(folder)?;
    let config = Kraken2Config { confidence: 0.1, ..Kraken2Config::default() };
    let outputs = OutputPaths::new().lines(lines).report(report);
    let outcome = kraken2::run(&config, &database, [reads], &outputs, &Context::new())?;
    println!("{} of {} reads classified", outcome.classified, outcome.records);
    Ok(())
}
