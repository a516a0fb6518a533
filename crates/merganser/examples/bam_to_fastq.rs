//! Writes the reads of a BAM, SAM or CRAM file as FASTQ, as they were sequenced: each read once, and reads that were
//! aligned to the reverse strand turned back. A name in .gz is compressed.
//!
//! `cargo run --release --example bam_to_fastq -- reads.bam reads.fq.gz`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;
use std::io::Write;

use merganser::io::{Output, RecordOptions, Records};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [bam, fastq] = &args[..] else { return Err("usage: bam_to_fastq BAM FASTQ".into()) };

    let mut output = Output::create(fastq)?;
    let mut reads = 0;
    for record in Records::open([bam], RecordOptions::whole())? {
        let record = record?;
        let quality = record.quality.ok_or("a record has no qualities")?;
        for (start, line) in [("@", &record.header), ("", &record.letters), ("+\n", &quality)] {
            output.write_all(start.as_bytes())?;
            output.write_all(line)?;
            output.write_all(b"\n")?;
        }
        reads += 1;
    }
    output.finish()?;
    println!("{reads} reads");
    Ok(())
}
