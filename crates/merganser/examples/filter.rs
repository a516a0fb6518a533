//! Compares fragments of a genome with copies in which 0 to 9 bases are changed, and prints which pairs have at most
//! 5 edits. Run it in the root of the repository: `cargo run --release --example filter`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::path::Path;

use merganser::filter::{Config, Decision, Filter, Threshold};
use merganser::io::{Input, ReadInput, RecordBatch, RecordOptions, Records};

pub(crate) fn report(data: &Path) -> Result<String, Box<dyn Error>> {
    let path = data.join("genomes/Escherichia_phage_lambda.fna.gz");
    let records = Records::open(&[ReadInput::Single(Input::File(path))], RecordOptions::default())?;
    let mut batch = RecordBatch::default();
    records.next(&mut batch)?;
    let reads: Vec<&[u8]> = batch.record(0).letters.chunks_exact(100).take(10).collect();
    let segments: Vec<Vec<u8>> = (0..).zip(&reads).map(|(n, read)| changed(read, n)).collect();

    let filter = Filter::new(Config::new(Threshold::Edits(5)))?;
    let pairs = reads.iter().zip(&segments).map(|(&read, segment)| (read, &segment[..]));
    let decisions = filter.run_pairs(pairs)?;
    let lines = (0..).zip(decisions).map(|(changes, decision)| match decision {
        Decision::Accepted { edits } => format!("{changes} bases changed: {edits} edits\n"),
        _ => format!("{changes} bases changed: rejected\n"),
    });
    Ok(lines.collect())
}

/// Returns a copy in which every tenth base is changed, at most `most` bases.
fn changed(read: &[u8], most: usize) -> Vec<u8> {
    let mut copy = read.to_vec();
    for base in copy.iter_mut().skip(5).step_by(10).take(most) {
        *base = if base.eq_ignore_ascii_case(&b'A') { b'C' } else { b'A' };
    }
    copy
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report(Path::new("tests/data"))?);
    Ok(())
}
