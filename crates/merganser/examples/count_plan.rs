//! Prints with how much memory, and on which GPUs, the k-mers of reads would be counted, without counting them.
//!
//! `cargo run --release --example count_plan -- 31 reads.fq.gz 4G`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::run::{format_size, parse_size};
use merganser::{Context, count};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [k, reads, memory] = &args[..] else {
        return Err("usage: count_plan K READS MEMORY".into());
    };

    let context = Context::new().threads(2).memory(parse_size(memory)?);
    let plan = count::plan_run(&count::Config::new(k.parse()?), [reads], &context)?;
    if let Some(bytes) = plan.memory {
        println!("at least {} of memory", format_size(bytes));
    }
    println!("{} GPUs", plan.devices.len());
    for note in &plan.notes {
        println!("{note}");
    }
    Ok(())
}
