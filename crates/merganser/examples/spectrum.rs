//! Simulates reads of a genome, counts their k-mers and prints the genome model of the histogram. Run it in the root
//! of the repository: `cargo run --release --example spectrum`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::path::Path;

use merganser::count::{Config, Format, run_with};
use merganser::io::{Input, OutputSet, ReadInput, RecordBatch, RecordOptions, Records};
use merganser::run::Context;
use merganser::spectrum::Model;

pub(crate) fn report(data: &Path) -> Result<String, Box<dyn Error>> {
    let path = data.join("genomes/Escherichia_phage_lambda.fna.gz");
    let records = Records::open(&[ReadInput::Single(Input::File(path))], RecordOptions::default())?;
    let mut batch = RecordBatch::default();
    records.next(&mut batch)?;
    let folder = tempfile::tempdir()?;
    let reads = folder.path().join("reads.fa");
    std::fs::write(&reads, simulate(batch.record(0).letters))?;

    // No table is written: the outcome has the totals and the complete histogram.
    let (config, context) = (Config { format: Format::None, ..Config::new(21) }, Context::new());
    let (inputs, outputs) = ([Input::File(reads)], OutputSet::alone());
    let outcome = run_with(&config, &inputs, None, &outputs, &context)?;
    let histogram: Vec<(u32, u64)> = outcome.histogram.iter().collect();
    let model = Model::fit(&histogram, 21, 1)?;
    let (size, coverage) = (model.genome_size.round(), model.coverage);
    Ok(format!("{size} bases, each k-mer of the genome {coverage:.1} times in the reads\n"))
}

/// Returns reads of 100 bases from random positions as FASTA, with a coverage of 40.
fn simulate(genome: &[u8]) -> Vec<u8> {
    let (mut text, mut random) = (Vec::new(), 1u64);
    for _ in 0..genome.len() * 40 / 100 {
        // Knuth's linear congruential generator (MMIX).
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let start = (random >> 33) as usize % (genome.len() - 100);
        text.extend_from_slice(b">\n");
        text.extend_from_slice(&genome[start..start + 100]);
        text.push(b'\n');
    }
    text
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report(Path::new("tests/data"))?);
    Ok(())
}
