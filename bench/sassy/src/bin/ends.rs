//! Prints all ends of alignments that Sassy finds: ends PATTERNS K TEXT
//!
//! PATTERNS and TEXT are FASTA files with one line per sequence. Prints lines of sequence, end (exclusive), pattern and
//! edits, for the forward strand, as `merganser search --all-ends --strand forward` finds them.

use std::io::Write;

use sassy::Searcher;
use sassy::profiles::Iupac;

fn records(path: &str) -> std::io::Result<Vec<(String, String)>> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines();
    let mut records = Vec::new();
    while let (Some(header), Some(letters)) = (lines.next(), lines.next()) {
        let name = header.trim_start_matches('>').split_whitespace().next().unwrap_or_default();
        records.push((name.to_owned(), letters.to_owned()));
    }
    Ok(records)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, patterns, k, text] = &arguments[..] else { return Err("usage: ends PATTERNS K TEXT".into()) };
    let (patterns, texts, k) = (records(patterns)?, records(text)?, k.parse()?);
    let mut searcher = Searcher::<Iupac>::new_fwd();
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    for (sequence, letters) in &texts {
        for (name, pattern) in &patterns {
            for found in searcher.search_all(pattern.as_bytes(), letters.as_bytes(), k) {
                writeln!(output, "{sequence}\t{}\t{name}\t{}", found.text_end, found.cost)?;
            }
        }
    }
    Ok(output.flush()?)
}
