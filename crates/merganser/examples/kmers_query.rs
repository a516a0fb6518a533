//! Looks up k-mers in a table of any format (.mgk, KMC, KFF, .jf, FastK, meryl, text) and prints their counts.
//!
//! `cargo run --release --example kmers_query -- reads.mgk CTGTCTCTTATACACATCTCC`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::Context;
use merganser::kmers::AnyTable;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [table, kmers @ ..] = &args[..] else {
        return Err("usage: kmers_query TABLE KMER...".into());
    };

    let lookup = AnyTable::open(table)?.lookup(&Context::new())?;
    let k = lookup.k();
    for kmer in kmers {
        if kmer.len() != k {
            return Err(format!("{kmer} has {} bases, and k is {k}", kmer.len()).into());
        }
        println!("{kmer}\t{}", lookup.get(kmer)?);
    }
    Ok(())
}
