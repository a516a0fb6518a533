//! Estimates the reads of each species from a report, as Bracken does, and prints Bracken's table. Species with fewer
//! than 10 reads are left out.
//!
//! `cargo run --release --example bracken_estimate -- reads.kreport viruses.kmer_distrib`

use std::env;
use std::error::Error;
use std::io;

use merganser::classify::bracken::{Distribution, Estimate, Level};
use merganser::classify::report::KrakenReport;
use merganser::run::Warnings;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [report, distribution] = &args[..] else {
        return Err("usage: bracken_estimate REPORT DISTRIBUTION".into());
    };

    let report = KrakenReport::read(report, &Warnings::default())?;
    let distribution = Distribution::read(distribution)?;
    let estimate = Estimate::new(&report, &distribution, &Level::species(), 10)?;
    estimate.write_table(&mut io::stdout().lock())?;
    Ok(())
}
