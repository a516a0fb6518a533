//! Builds the index of a reference for mapping.
//!
//! `cargo run --release --example map_index -- reference.fa.gz reference.mgi`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::{Context, map};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [reference, output] = &args[..] else {
        return Err("usage: map_index REFERENCE OUTPUT".into());
    };

    let (index, _) = map::build(reference, output, &Context::new())?;
    for contig in index.contigs() {
        println!("{}\t{}", contig.name, contig.len);
    }
    Ok(())
}
