//! Removes the pairs of a host from a sample, by the host's set of minimizers.
//!
//! `cargo run --release --example deplete_reads -- human.mgd 1.fq.gz 2.fq.gz kept_1.fq.gz kept_2.fq.gz`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::deplete::{Config, MinimizerLookup, OutputPaths};
use merganser::{Context, deplete};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [host, first, second, kept_1, kept_2] = &args[..] else {
        return Err("usage: deplete_reads SET READS_1 READS_2 KEPT_1 KEPT_2".into());
    };

    let context = Context::new();
    let host = MinimizerLookup::read(host, &context)?;
    let outputs = OutputPaths::new(kept_1).mates(kept_2);
    let outcome = deplete::run(&Config::default(), &host, [(first, second)], &outputs, &context)?;
    // Both mates count.
    println!("{} of {} reads kept", outcome.kept_records, outcome.records);
    println!("{} of {} bases kept", outcome.kept_bases, outcome.bases);
    Ok(())
}
