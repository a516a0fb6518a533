//! Maps reads to every place of a reference with at most 4 % edits, and writes sorted BAM with an index.
//!
//! `cargo run --release --example map_reads -- reference.mgi reads.fq.gz reads.bam`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;
use std::path::Path;

use merganser::io::{OutputSet, ReadInput};
use merganser::map::{Config, Format, Index, IndexKind, Outputs, Threshold};
use merganser::{Context, map};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [index, reads, bam] = &args[..] else {
        return Err("usage: map_reads INDEX READS BAM".into());
    };

    let index = Index::open(Path::new(index))?;
    let threshold = Threshold::Percent(4);
    let config = Config { sort: true, format: Format::Bam(6), ..Config::new(threshold) };
    // `map::run` writes a single file; `run_with` also writes the index of sorted records.
    let set = OutputSet::new();
    let bai = set.output(Path::new(&format!("{bam}.bai")))?;
    let outputs = Outputs {
        records: set.output(Path::new(bam))?,
        index: Some((bai, IndexKind::Bai)),
        unmapped: None,
    };
    let reads = [ReadInput::from(reads)];
    let outcome = map::run_with(&config, &index, &reads, outputs, &Context::new())?;
    set.commit()?;
    println!("{} of {} reads mapped", outcome.reported.mapped, outcome.reported.reads);
    Ok(())
}
