//! Tables are written, read back, and refused if they were changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use merganser_count::{Config, run_with};
use merganser_io::{Input, OutputSet};
use merganser_kmers::{Error, Table};
use merganser_run::Context;
use merganser_seq::kmer::Kmer;
use merganser_test_random::Random;

const K: usize = 21;

/// Returns reads of a small random genome, at a depth of 5.
fn reads() -> Vec<u8> {
    let mut random = Random(7);
    let genome = random.bases(30_000);
    let mut text = Vec::new();
    for _ in 0..1500 {
        let at = random.below(genome.len() - 100);
        text.extend_from_slice(b">r\n");
        text.extend_from_slice(&genome[at..at + 100]);
        text.push(b'\n');
    }
    text
}

fn naive(text: &[u8]) -> BTreeMap<u64, u32> {
    let mut counts = BTreeMap::new();
    for line in text.split(|&b| b == b'\n').filter(|line| !line.starts_with(b">")) {
        for letters in line.windows(K) {
            let kmer = u64::from_letters(letters).expect("bases");
            *counts.entry(kmer.min(kmer.reverse_complement(K))).or_insert(0) += 1;
        }
    }
    counts
}

fn table(dir: &Path) -> PathBuf {
    let (input, output) = (dir.join("reads.fa"), dir.join("reads.mgk"));
    std::fs::write(&input, reads()).expect("space");
    let (config, context) =
        (Config { min_count: Some(1), ..Config::new(K) }, Context::new().threads(2));
    let (inputs, outputs) = ([Input::File(input)], OutputSet::alone());
    run_with(&config, &inputs, Some(&output), &outputs, &context).expect("good reads");
    output
}

#[test]
fn a_table_holds_every_kmer_and_finds_it() {
    let dir = tempfile::tempdir().expect("space");
    let table = Table::open(table(dir.path())).expect("just written");
    let expected = naive(&reads());
    assert_eq!(table.header().kmers, expected.len() as u64);
    assert!(table.verify().is_ok());
    let (mut found, mut blocks) = (Vec::new(), table.blocks::<u64>());
    while let Some(kmers) = blocks.next().expect("sound") {
        found.extend_from_slice(kmers);
    }
    assert!(found.iter().copied().eq(expected.iter().map(|(&kmer, &count)| (kmer, count))));
    let mut space = Vec::new();
    for (&kmer, &count) in &expected {
        assert_eq!(table.get(kmer, &mut space).expect("sound"), count);
        let other = kmer ^ 1;
        let there = expected.get(&other).copied().unwrap_or(0);
        assert_eq!(table.get(other, &mut space).expect("sound"), there);
    }
}

fn open_and_verify(path: &Path) -> Result<(), Error> {
    Table::open(path)?.verify()
}

#[test]
fn a_changed_or_shortened_table_is_refused() {
    let dir = tempfile::tempdir().expect("space");
    let path = table(dir.path());
    let bytes = std::fs::read(&path).expect("just written");
    let changed = dir.path().join("changed.mgk");
    // Every byte of the header, the section table and the end of the index; a sample of the others.
    let ends = 2000.min(bytes.len());
    let places =
        (0..bytes.len()).filter(|at| *at < 200 || *at + ends > bytes.len() || at % 97 == 0);
    for at in places {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        std::fs::write(&changed, &bytes).expect("space");
        assert!(open_and_verify(&changed).is_err(), "byte {at} of {}", bytes.len());
    }
    for len in (0..bytes.len()).step_by(bytes.len() / 50) {
        std::fs::write(&changed, &bytes[..len]).expect("space");
        assert!(open_and_verify(&changed).is_err(), "{len} bytes");
    }
}

/// A table with valid checksums in which look-ups would miss k-mers.
#[test]
fn a_forged_section_table_is_refused() {
    let dir = tempfile::tempdir().expect("space");
    let path = table(dir.path());
    let good = std::fs::read(&path).expect("just written");
    let u64_at = |at: usize| u64::load(&good[at..]) as usize;
    let (index, sections) = (u64_at(72), u64_at(80));
    assert!(good.len() - sections > 16, "more than one section");
    for (section, value) in [(0, 1u64), (1, 0), (1, u64::load(&good[sections + 8..]) + 1)] {
        let mut bytes = good.clone();
        value.store(&mut bytes[sections + 8 * section..]);
        crc32fast::hash(&bytes[index..]).store(&mut bytes[104..]);
        crc32fast::hash(&bytes[..124]).store(&mut bytes[124..]);
        std::fs::write(&path, &bytes).expect("space");
        assert!(open_and_verify(&path).is_err(), "section {section} at block {value}");
    }
}
