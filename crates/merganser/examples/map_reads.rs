//! Maps reads to every place of a reference with at most 4 % edits, and writes sorted BAM with an index.
//!
//! `cargo run --release --example map_reads -- reference.mgi reads.fq.gz reads.bam`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::map::{Config, Format, Index, Threshold};
use merganser::{Context, map};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [index, reads, bam] = &args[..] else {
        return Err("usage: map_reads INDEX READS BAM".into());
    };

    let index = Index::open(index)?;
    let threshold = Threshold::Percent(4);
    let config = Config { sort: true, format: Format::Bam(6), ..Config::new(threshold) };
    let outcome = map::run(&config, &index, [reads], bam, &Context::new())?;
    println!("{} of {} reads mapped", outcome.reported.mapped, outcome.reported.reads);
    Ok(())
}
