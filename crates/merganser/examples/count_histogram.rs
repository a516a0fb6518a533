//! Counts the k-mers of reads and prints the number of distinct k-mers for each count, without writing a table.
//!
//! `cargo run --release --example count_histogram -- 21 reads.fq.gz > reads.hist`

use std::env;
use std::error::Error;
use std::io;

use merganser::count::Config;
use merganser::kmers::HistogramFormat;
use merganser::{Context, count};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [k, reads] = &args[..] else {
        return Err("usage: count_histogram K READS".into());
    };

    let config = Config::new(k.parse()?);
    let outcome = count::run_histogram(&config, [reads], &Context::new())?;
    // Includes the k-mers that occur once, which a table would not have.
    outcome.histogram.write(HistogramFormat::Tsv, config.k, None, &mut io::stdout().lock())?;
    Ok(())
}
