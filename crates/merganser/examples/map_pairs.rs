//! Maps pairs, writes the best place of each as SAM, and prints how many are concordant.
//!
//! `cargo run --release --example map_pairs -- reference.mgi reads_1.fq.gz reads_2.fq.gz pairs.sam`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::map::{Config, Index, Select, Threshold};
use merganser::{Context, map};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [index, first, second, sam] = &args[..] else {
        return Err("usage: map_pairs INDEX READS_1 READS_2 SAM".into());
    };

    let index = Index::open(index)?;
    // Mates of a concordant pair face each other, and span at most 800 bases.
    let config = Config {
        select: Select::Best,
        max_insert: Some(800),
        ..Config::new(Threshold::Percent(4))
    };
    let outcome = map::run(&config, &index, [(first, second)], sam, &Context::new())?;
    let reported = outcome.reported;
    println!("{} pairs", reported.pairs);
    println!("{} concordant", reported.concordant);
    println!("{} discordant", reported.discordant);
    println!("{} with one mapped mate", reported.one_mate);
    Ok(())
}
