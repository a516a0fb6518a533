//! Computes Bracken's distribution for reads of a length, from a database and the genomes it was built from.
//!
//! `cargo run --release --example bracken_distribution -- viruses.mgdb 100 viruses.kmer_distrib genomes`
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use merganser::Context;
use merganser::classify::{Database, bracken, expand_references};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [database, length, output, genomes @ ..] = &args[..] else {
        return Err("usage: bracken_distribution DATABASE LENGTH OUTPUT GENOMES...".into());
    };

    let database = Database::open(database)?;
    let genomes: Vec<PathBuf> = genomes.iter().map(PathBuf::from).collect();
    let inputs = expand_references(&genomes)?;
    let distribution = bracken::distribution(&database, &inputs, length.parse()?, &Context::new())?;
    fs::write(output, distribution.text())?;
    println!("{} taxa", distribution.rows.len());
    Ok(())
}
