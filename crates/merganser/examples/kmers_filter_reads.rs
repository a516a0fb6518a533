//! Writes the reads of which at least half of the k-mers are in a table, for instance that of a reference.
//!
//! `cargo run --release --example kmers_filter_reads -- reference.mgk reads.fq.gz kept.fq.gz`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;
use std::path::Path;

use merganser::Context;
use merganser::io::Output;
use merganser::kmers::{
    AnyTable, Cut, FilterConfig, Job, Limit, LookupOptions, Use, filter_reads, open_lookup,
    record_bytes, reserved_bytes,
};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [table, reads, output] = &args[..] else {
        return Err("usage: kmers_filter_reads TABLE READS OUTPUT".into());
    };

    let context = Context::new();
    let (memory, threads) = (context.budget(), context.threads);
    let table = AnyTable::open(table)?;
    let homopolymer_compressed = table.description().homopolymer_compressed;
    let options = LookupOptions {
        context: &context,
        cut: Cut::NONE,
        purpose: Use::Reads,
        reserved: reserved_bytes(memory, threads),
        input: None,
    };
    let lookup = &*open_lookup(table, &options)?;
    let record_bytes = record_bytes(memory, threads, lookup);
    let job = Job { lookup, homopolymer_compressed, context: &context, record_bytes };

    let config = FilterConfig { min_hits: Limit::Part(0.5), ..FilterConfig::default() };
    let mut kept = [Output::create(Path::new(output))?];
    let filtered = filter_reads(&config, job, &[reads.into()], &mut kept)?;
    // The file appears only if everything went well.
    let [kept] = kept;
    kept.finish()?;
    println!("{} of {} reads kept", filtered.kept, filtered.reads);
    Ok(())
}
