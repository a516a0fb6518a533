//! Fits a genome model to a histogram of k-mers, and prints genome size, heterozygosity and coverage.
//!
//! `cargo run --release --example spectrum_model -- reads.hist 21 2`
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::{env, fs};

use merganser::kmers::Histogram;
use merganser::spectrum::Model;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [histogram, k, ploidy] = &args[..] else {
        return Err("usage: spectrum_model HISTOGRAM K PLOIDY".into());
    };

    // The output of count_histogram, or of `jellyfish histo`, `kmc_tools`, KAT and others.
    let file = Histogram::parse(&fs::read_to_string(histogram)?)?;
    let rows: Vec<(u32, u64)> = file.histogram.iter().collect();
    let model = Model::fit(&rows, k.parse()?, ploidy.parse()?)?;
    println!("genome size      {:.0} bases", model.genome_size);
    println!("heterozygosity   {:.3} %", 100.0 * model.heterozygosity);
    println!("k-mer coverage   {:.1}", model.coverage);
    for doubt in &model.doubts {
        println!("doubt: {doubt}");
    }
    Ok(())
}
