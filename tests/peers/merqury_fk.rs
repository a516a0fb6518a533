//! MERQURY.FK's synthetic trio (`SMALL_SYNTHETIC_TRIO`): QV and completeness of the haplotypes by a plain count.

use std::collections::HashSet;
use std::path::Path;

use merganser_test_support::Dir;
use merganser_test_support::oracle::complement;

use super::data::{Cases, peer};

const K: usize = 21;

/// Returns the canonical k-mers of a file of FASTA, in their order.
fn kmers(path: &Path) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut found = Vec::new();
    for record in text.split('>').skip(1) {
        let letters: String =
            record.lines().skip(1).map(str::trim).collect::<String>().to_uppercase();
        let canonical = |kmer: &[u8]| kmer.to_vec().min(complement(kmer));
        found.extend(
            letters.as_bytes().windows(K).filter(|kmer| !kmer.contains(&b'N')).map(canonical),
        );
    }
    found
}

/// Returns the lines of a table by their first cell.
fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    lines.rfind(|cells| cells[0] == name).unwrap_or_default()
}

#[test]
fn qv_of_haplotypes_is_that_of_a_plain_count() {
    let Some(folder) = peer("MERQURY.FK/SMALL_SYNTHETIC_TRIO") else { return };
    let (dir, mut cases) = (Dir::new(), Cases::of("MERQURY.FK"));
    let path = |name: &str| folder.join(format!("{name}.fasta"));
    let run = ["Child.Reads", "Hap1", "Hap2"].map(|name| path(name).display().to_string());
    dir.run(&format!("kmers qv -q -k {K} --no-plots {} -o o", run.join(" "))).ok();
    let reads: HashSet<Vec<u8>> = kmers(&path("Child.Reads")).into_iter().collect();
    let table = String::from_utf8(dir.read("o.qv")).unwrap();
    for name in ["Hap1", "Hap2"] {
        let all = kmers(&path(name));
        let errors = all.iter().filter(|kmer| !reads.contains(*kmer)).count();
        let ours = row(&table, name);
        eprintln!("{ours:?} {errors} {}", all.len());
        cases.add(name, ours[1] == errors.to_string() && ours[2] == all.len().to_string());
    }
    cases.end(&[]);
}
