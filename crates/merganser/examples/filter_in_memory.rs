//! Prints which pairs of a read and a segment of a reference have at most a number of edits.
//!
//! `cargo run --release --example filter_in_memory -- 2 GATTACA GATACA GATTACA CCCCCCC`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::filter::{Config, Filter, Threshold};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let usage = "usage: filter_in_memory EDITS (READ SEGMENT)...";
    let [edits, sequences @ ..] = &args[..] else { return Err(usage.into()) };
    let (pairs, []) = sequences.as_chunks::<2>() else { return Err(usage.into()) };

    let filter = Filter::new(Config::new(Threshold::Edits(edits.parse()?)))?;
    let letters = pairs.iter().map(|[read, segment]| (read.as_bytes(), segment.as_bytes()));
    for ([read, segment], decision) in pairs.iter().zip(filter.run_pairs(letters)?) {
        match decision.edits() {
            Some(edits) => println!("{read}\t{segment}\t{edits}"),
            None => println!("{read}\t{segment}\trejected"),
        }
    }
    Ok(())
}
