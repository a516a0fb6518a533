//! Writes the reads of a taxon and of all taxa below it, by the lines and the report of a classification.
//!
//! `cargo run --release --example extract_reads -- 562 reads.kraken reads.kreport reads.fq.gz coli.fq.gz`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::Context;
use merganser::classify::extract::{self, ExtractConfig, relatives_in_report};
use merganser::classify::report::KrakenReport;
use merganser::run::Warnings;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [taxid, lines, report, reads, output] = &args[..] else {
        return Err("usage: extract_reads TAXID LINES REPORT READS OUTPUT".into());
    };

    let report = KrakenReport::read(report, &Warnings::default())?;
    let (below, above) = (true, false);
    let taxa = relatives_in_report(&report, &[taxid.parse()?], below, above);
    let config = ExtractConfig::new(taxa.taxids);
    let outcome = extract::run(&config, lines, [reads], output, &Context::new())?;
    println!("{} of {} reads extracted", outcome.extracted, outcome.records);
    Ok(())
}
