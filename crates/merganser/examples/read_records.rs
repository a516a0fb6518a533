//! Reads FASTA, FASTQ, SAM, BAM or CRAM, plain or compressed, and prints name, length and G+C of each record.
//!
//! `cargo run --release --example read_records -- reads.bam`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::io::{RecordOptions, Records};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [reads] = &args[..] else { return Err("usage: read_records READS".into()) };

    for record in Records::open([reads], RecordOptions::default())? {
        let record = record?;
        let gc = record.letters.iter().filter(|letter| b"GCgc".contains(letter)).count();
        let percent = 100.0 * gc as f64 / record.letters.len().max(1) as f64;
        let name = String::from_utf8_lossy(&record.name);
        println!("{name}\t{}\t{percent:.1}", record.letters.len());
    }
    Ok(())
}
