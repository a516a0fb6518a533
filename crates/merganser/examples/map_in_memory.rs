//! Indexes a reference in memory and prints every place where reads align with at most 2 edits.
//!
//! `cargo run --release --example map_in_memory -- reference.fa GATTACAGATCCCGTAA TTACGGGATCTGTAATC`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::map::{Config, Threshold};
use merganser::{Context, map};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [reference, reads @ ..] = &args[..] else {
        return Err("usage: map_in_memory REFERENCE READ...".into());
    };

    let context = Context::new();
    let (index, _) = map::build_in_memory(reference, &context)?;
    let config = Config::new(Threshold::Edits(2));
    let hits = map::run_in_memory(&config, &index, reads, &context)?;
    for (read, hits) in reads.iter().zip(hits) {
        for hit in hits {
            let contig = &index.contigs()[hit.contig].name;
            let strand = if hit.reverse { '-' } else { '+' };
            let operation = |(kind, len): &(map::Operation, u32)| format!("{len}{}", kind.letter());
            let cigar: String = hit.cigar.iter().map(operation).collect();
            println!("{read}\t{contig}\t{}\t{strand}\t{}\t{cigar}", hit.position, hit.edits);
        }
    }
    Ok(())
}
