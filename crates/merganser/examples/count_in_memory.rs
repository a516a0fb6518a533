//! Counts the k-mers of reads in memory and prints the most frequent ones.
//!
//! `cargo run --release --example count_in_memory -- 21 reads.fq.gz 10`
#![allow(clippy::print_stdout, reason = "an example")]

use std::cmp::Reverse;
use std::env;
use std::error::Error;

use merganser::{Context, count};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [k, reads, number] = &args[..] else {
        return Err("usage: count_in_memory K READS NUMBER".into());
    };

    let config = count::Config::new(k.parse()?);
    let (_, table) = count::run_in_memory(&config, [reads], &Context::new())?;
    let mut kmers: Vec<(String, u32)> = table.iter().collect();
    // A stable sort: k-mers with equal counts stay in the order of their bases.
    kmers.sort_by_key(|&(_, count)| Reverse(count));
    for (kmer, count) in kmers.iter().take(number.parse()?) {
        println!("{kmer}\t{count}");
    }
    Ok(())
}
