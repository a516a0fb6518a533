//! Counts the pairs of two files and the bases of their mates. Mates that do not belong together are an error.
//!
//! `cargo run --release --example count_pairs -- reads_1.fq.gz reads_2.fq.gz`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::io::{RecordBatch, RecordOptions, Records};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [first, second] = &args[..] else {
        return Err("usage: count_pairs READS_1 READS_2".into());
    };

    // A batch at a time, which reuses its memory, is faster than a record at a time.
    let records = Records::open([(first, second)], RecordOptions::default())?;
    let (mut batch, mut pairs, mut bases) = (RecordBatch::default(), 0, [0, 0]);
    while records.next(&mut batch)?.is_some() {
        pairs += batch.reads();
        for at in 0..batch.len() {
            // Mates follow each other.
            bases[at % 2] += batch.record(at).letters.len();
        }
    }
    println!("{pairs} pairs, {} and {} bases", bases[0], bases[1]);
    Ok(())
}
