//! Counts the 21-mers of reads, and prints the warnings of the run and, if it fails, the kind of the error.
//!
//! `cargo run --release --example handle_errors -- reads.fq.gz 1`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::run::{Fault, FaultKind, Warnings, with_names};
use merganser::{Context, count};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [reads, least] = &args[..] else {
        return Err("usage: handle_errors READS MIN_COUNT".into());
    };

    let warnings = Warnings::default();
    let context = Context::new().warnings(&warnings);
    let config = count::Config { min_count: Some(least.parse()?), ..count::Config::new(21) };
    match count::run_in_memory(&config, [reads], &context) {
        Ok((outcome, table)) => println!("{} reads, {} k-mers", outcome.records, table.len()),
        Err(error) => match error.kind() {
            // The message has names of fields, which a program can replace by its own names.
            FaultKind::Config => {
                let name = |field: &str| (field == "min_count").then(|| "MIN_COUNT".to_owned());
                println!("wrong argument: {}", with_names(&error.to_string(), name));
            }
            FaultKind::Cancelled => println!("cancelled"),
            FaultKind::ClosedPipe => println!("the reader of the output has ended"),
            FaultKind::Failed => println!("failed: {error}"),
            _ => println!("{error}"),
        },
    }
    for warning in warnings.all() {
        println!("warning: {warning}");
    }
    Ok(())
}
