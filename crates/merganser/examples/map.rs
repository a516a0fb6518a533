//! Maps fragments of a genome that lack one base to that genome, and prints their positions. Run it in the root of
//! the repository: `cargo run --release --example map`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use merganser::filter::Threshold;
use merganser::io::{Input, ReadInput, RecordBatch, RecordOptions, Records};
use merganser::map::{Config, build_in_memory, run_in_memory};
use merganser::run::Context;

pub(crate) fn report(data: &Path) -> Result<String, Box<dyn Error>> {
    let genome = Input::File(data.join("genomes/Escherichia_phage_lambda.fna.gz"));
    let context = Context::new();
    let (index, _) = build_in_memory(&genome, &context)?;

    let records = Records::open(&[ReadInput::Single(genome)], RecordOptions::default())?;
    let mut batch = RecordBatch::default();
    records.next(&mut batch)?;
    let stretches = batch.record(0).letters.chunks_exact(100).step_by(100);
    let reads: Vec<Vec<u8>> =
        stretches.map(|bases| [&bases[..50], &bases[51..]].concat()).collect();
    let reads: Vec<&[u8]> = reads.iter().map(Vec::as_slice).collect();

    let mut text = String::new();
    for hits in run_in_memory(&Config::new(Threshold::Edits(2)), &index, &reads, &context)? {
        for hit in hits {
            let cigar =
                hit.cigar.iter().map(|(operation, len)| format!("{len}{}", operation.letter()));
            let (name, cigar) = (&index.contigs()[hit.contig].name, cigar.collect::<String>());
            let strand = if hit.reverse { '-' } else { '+' };
            writeln!(text, "{name}\t{}\t{strand}\t{}\t{cigar}", hit.position, hit.edits)?;
        }
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report(Path::new("tests/data"))?);
    Ok(())
}
