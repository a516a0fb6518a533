//! Classifies reads, and writes a line for each read and a report of the reads by taxon, both in Kraken 2's formats.
//!
//! `cargo run --release --example classify_reads -- viruses.mgdb reads.fq.gz reads.tsv reads.kreport`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::classify::{Database, OutputPaths, RunConfig};
use merganser::{Context, classify};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [database, reads, lines, report] = &args[..] else {
        return Err("usage: classify_reads DATABASE READS LINES REPORT".into());
    };

    let database = Database::open(database)?;
    let outputs = OutputPaths::new().lines(lines).report(report);
    let config = RunConfig::default();
    let outcome = classify::run(&config, &database, [reads], &outputs, &Context::new())?;
    println!("{} of {} reads classified", outcome.classified, outcome.records);
    // The reads of each taxon are also in memory.
    for (node, reads) in outcome.tally.of_nodes() {
        println!("{reads}\t{}", database.taxonomy().name(node));
    }
    Ok(())
}
