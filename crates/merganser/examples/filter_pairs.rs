//! Decides which pairs of a file, one `READ<TAB>SEGMENT` per line, have at most a number of edits, or a percentage of
//! the read's length, and writes a table of the decisions.
//!
//! `cargo run --release --example filter_pairs -- 5% pairs.tsv decisions.tsv`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::{Context, filter};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [edits, pairs, output] = &args[..] else {
        return Err("usage: filter_pairs EDITS PAIRS OUTPUT".into());
    };

    let config = filter::Config::new(edits.parse()?);
    let outcome = filter::run(&config, [pairs], output, &Context::new())?;
    println!("{} of {} pairs accepted", outcome.accepted, outcome.records);
    for (edits, pairs) in outcome.edits.iter().enumerate() {
        println!("{edits} edits\t{pairs}");
    }
    Ok(())
}
