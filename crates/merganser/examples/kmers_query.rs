//! Looks up k-mers in a table of any format (.mgk, KMC, KFF, FastK, meryl, text) and prints their counts.
//!
//! `cargo run --release --example kmers_query -- reads.mgk CTGTCTCTTATACACATCTCC`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::Context;
use merganser::kmers::{AnyTable, Cut, LookupOptions, Use, open_lookup};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [table, kmers @ ..] = &args[..] else {
        return Err("usage: kmers_query TABLE KMER...".into());
    };

    let context = Context::new();
    let options = LookupOptions {
        context: &context,
        cut: Cut::NONE,
        purpose: Use::Kmers(Some(kmers.len() as u64)),
        reserved: 0,
        input: None,
    };
    let lookup = open_lookup(AnyTable::open(table)?, &options)?;
    let k = lookup.k();
    if let Some(kmer) = kmers.iter().find(|kmer| kmer.len() != k) {
        return Err(
            format!("{kmer} has {} bases, and k-mers of the table have {k}", kmer.len()).into()
        );
    }

    // All k-mers at once: each begins k + 1 letters after the previous one.
    let mut counts = Vec::new();
    lookup.counts(kmers.join("\n").as_bytes(), k + 1, &mut counts)?;
    for (kmer, count) in kmers.iter().zip(counts) {
        println!("{kmer}\t{count}");
    }
    Ok(())
}
