//! Counts the k-mers of reads within a memory limit. Intermediate data that do not fit are temporary files in a folder.
//!
//! `cargo run --release --example count_within_memory -- 31 reads.fq.gz reads.mgk 4G /scratch`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::run::{format_size, parse_size};
use merganser::{Context, count};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [k, reads, output, memory, folder] = &args[..] else {
        return Err("usage: count_within_memory K READS OUTPUT MEMORY FOLDER".into());
    };

    let context = Context::new().memory(parse_size(memory)?).temp_dir(folder);
    let config = count::Config::new(k.parse()?);
    let outcome = count::run(&config, [reads], output, &context)?;
    println!("{} distinct k-mers in the table", outcome.kept_kmers);
    println!("{} of temporary files", format_size(outcome.spilled_bytes));
    if let Some(enough) = outcome.enough_memory {
        println!("{} of memory would avoid them", format_size(enough));
    }
    Ok(())
}
