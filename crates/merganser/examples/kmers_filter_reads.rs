//! Writes the reads of which at least half of the k-mers are in a table, for instance that of a reference.
//!
//! `cargo run --release --example kmers_filter_reads -- reference.mgk reads.fq.gz kept.fq.gz`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::Context;
use merganser::kmers::{AnyTable, FilterConfig, Limit, filter_reads};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [table, reads, output] = &args[..] else {
        return Err("usage: kmers_filter_reads TABLE READS OUTPUT".into());
    };

    let config = FilterConfig { min_hits: Limit::Part(0.5), ..FilterConfig::default() };
    let table = AnyTable::open(table)?;
    let filtered = filter_reads(&config, table, [reads], [output], &Context::new())?;
    println!("{} of {} reads kept", filtered.kept, filtered.reads);
    Ok(())
}
