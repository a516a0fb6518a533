//! Builds the set of minimizers of a host's genomes. A name in .idx asks for Deacon's format.
//!
//! `cargo run --release --example deplete_build -- human.mgd human.fa.gz`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::deplete::Params;
use merganser::{Context, deplete};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [output, genomes @ ..] = &args[..] else {
        return Err("usage: deplete_build OUTPUT GENOMES...".into());
    };

    let (params, context) = (Params::default(), Context::new());
    let set = deplete::build(params, genomes, &context)?;
    set.save(output, &context)?;
    println!("{} minimizers of {} bases", set.len(), params.k());
    Ok(())
}
