//! A naive k-mer counter: strings in a map.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::reads::Record;

/// Options of a count.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub k: usize,
    pub canonical: bool,
    pub min_quality: Option<u8>,
}

impl Rule {
    pub fn new(k: usize, canonical: bool) -> Rule {
        Rule { k, canonical, min_quality: None }
    }
}

/// The number of occurrences of each k-mer, sorted by letters.
pub type Counts = BTreeMap<Vec<u8>, u64>;

/// Counts the k-mers of records.
pub fn count(records: &[Record], rule: Rule) -> Counts {
    let mut counts = Counts::new();
    for record in records {
        let letters = usable(record, rule.min_quality);
        for kmer in letters.windows(rule.k).filter(|kmer| !kmer.contains(&b'-')) {
            let mut kmer = kmer.to_vec();
            if rule.canonical {
                kmer = kmer.clone().min(complement(&kmer));
            }
            *counts.entry(kmer).or_insert(0) += 1;
        }
    }
    counts
}

/// Returns the letters of a record in upper case, with U as T and `-` for each letter that breaks k-mers.
fn usable(record: &Record, min_quality: Option<u8>) -> Vec<u8> {
    let good = |at: usize| match (min_quality, &record.quality) {
        (Some(least), Some(quality)) => quality[at] >= least + 33,
        _ => true,
    };
    let letter = |(at, letter): (usize, &u8)| match letter.to_ascii_uppercase() {
        _ if !good(at) => b'-',
        b'U' => b'T',
        base @ (b'A' | b'C' | b'G' | b'T') => base,
        _ => b'-',
    };
    record.sequence.iter().enumerate().map(letter).collect()
}

pub fn complement(letters: &[u8]) -> Vec<u8> {
    let other = |letter: &u8| match letter {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        _ => b'A',
    };
    letters.iter().rev().map(other).collect()
}

/// Returns `KMER<TAB>COUNT` lines of the k-mers that occur at least `least` times.
pub fn tsv(counts: &Counts, least: u64) -> String {
    let mut text = String::new();
    for (kmer, count) in counts.iter().filter(|&(_, &count)| count >= least) {
        writeln!(text, "{}\t{count}", String::from_utf8_lossy(kmer)).unwrap();
    }
    text
}

/// Returns the histogram as `COUNT<TAB>NUMBER` lines.
pub fn histogram(counts: &Counts) -> String {
    let mut numbers = BTreeMap::new();
    for count in counts.values() {
        *numbers.entry(count).or_insert(0u64) += 1;
    }
    numbers.iter().map(|(count, number)| format!("{count}\t{number}\n")).collect()
}
