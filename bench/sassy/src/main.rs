//! Computes semi-global edit distances with Sassy (Beeloo and Groot Koerkamp, 2025): sassy PAIRS K OUT
//!
//! PAIRS has lines of READ, tab, SEGMENT. The distance of each pair is written to a line of OUT, or -1 if it is
//! larger than K. Prints the nanoseconds per pair, first with pairs searched one by one, then with each read
//! searched in 64 segments, its own and the next ones: these are other pairs, but the same amount of work.

use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::time::Instant;

use sassy::Searcher;
use sassy::profiles::Dna;

/// Number of segments in which each read is searched.
const TEXTS: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, pairs, k, out] = &arguments[..] else { return Err("usage: sassy PAIRS K OUT".into()) };
    let (text, k) = (std::fs::read_to_string(pairs)?, k.parse()?);
    let (reads, segments): (Vec<&[u8]>, Vec<&[u8]>) = text
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(read, segment)| (read.as_bytes(), segment.as_bytes()))
        .unzip();
    let mut searcher = Searcher::<Dna>::new_fwd().only_best_match().without_trace();

    let begun = Instant::now();
    let mut distances = Vec::with_capacity(reads.len());
    for (read, segment) in reads.iter().zip(&segments) {
        let found = searcher.search(read, segment, k);
        distances.push(found.iter().map(|found| found.cost).min().unwrap_or(-1));
    }
    let alone = begun.elapsed().as_secs_f64() * 1e9 / reads.len() as f64;

    let begun = Instant::now();
    let mut searched = 0;
    for (read, texts) in reads.iter().step_by(TEXTS).zip(segments.chunks_exact(TEXTS)) {
        black_box(searcher.search_texts(read, texts, k));
        searched += texts.len();
    }
    let together = begun.elapsed().as_secs_f64() * 1e9 / searched as f64;

    let mut out = BufWriter::new(std::fs::File::create(out)?);
    distances.iter().try_for_each(|distance| writeln!(out, "{distance}"))?;
    out.flush()?;
    println!("{alone:.3} {together:.3}");
    Ok(())
}
