//! Compares tables of k-mers with each other: shared k-mers, Jaccard index and Mash distance of each pair.
//!
//! `cargo run --release --example kmers_compare -- a.mgk b.mgk c.mgk`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::Context;
use merganser::kmers::{AnyTable, compare};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = env::args().skip(1).collect();
    if paths.len() < 2 {
        return Err("usage: kmers_compare TABLE TABLE...".into());
    }

    let tables = paths.iter().map(AnyTable::open).collect::<Result<Vec<_>, _>>()?;
    let comparison = compare(&tables, &Context::new())?;
    println!("table\ttable\tshared\tjaccard\tmash");
    for pair in &comparison.pairs {
        let (one, other) = pair.tables;
        let (jaccard, mash) = (comparison.jaccard(pair), comparison.mash_distance(pair));
        println!("{}\t{}\t{}\t{jaccard:.4}\t{mash:.4}", paths[one], paths[other], pair.shared);
    }
    Ok(())
}
