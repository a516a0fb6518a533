//! A complete count, from reads to a table, compared with a map of strings.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use merganser_count::{Config, Format, Storage};
use merganser_fuzz::fastx::add_kmers;
use merganser_fuzz::files::folder;
use merganser_fuzz::tables::{config, make};
use merganser_seq::signature::Rule;

fuzz_target!(|input: &[u8]| {
    let [k, options, reads @ ..] = input else { return };
    let config = Config {
        forward_only: options & 1 != 0,
        storage: if options & 2 == 0 { Storage::Auto } else { Storage::Disk },
        rule: Rule::ALL[usize::from(options >> 2 & 3)],
        format: Format::Tsv,
        ..config(usize::from(k % 128) + 1)
    };
    // Every byte becomes a letter: mostly a base, sometimes N or the end of a read.
    let letters: Vec<u8> = reads.iter().map(|b| b"ACGTacgtUuNACGT>"[usize::from(b % 16)]).collect();
    let mut kmers = BTreeMap::new();
    let mut text = Vec::new();
    for read in letters.split(|&letter| letter == b'>') {
        text.extend([b">\n", read, b"\n"].concat());
        let upper = read.to_ascii_uppercase();
        let upper: Vec<u8> = upper.into_iter().map(|l| if l == b'U' { b'T' } else { l }).collect();
        upper.split(|&l| l == b'N').for_each(|part| add_kmers(part, config.k, &mut kmers));
    }
    let mut expected = BTreeMap::<Vec<u8>, usize>::new();
    for (kmer, count) in kmers {
        let complement = |l: &u8| b"TGCA"[b"ACGT".iter().position(|base| base == l).expect("base")];
        let reverse: Vec<u8> = kmer.iter().rev().map(complement).collect();
        *expected.entry(if config.is_canonical() { kmer.min(reverse) } else { kmer }).or_default() +=
            count;
    }
    let lines: String = expected
        .iter()
        .map(|(kmer, count)| format!("{}\t{count}\n", String::from_utf8_lossy(kmer)))
        .collect();
    let folder = folder();
    let path = folder.path().join("table.tsv");
    make(&config, &text, &path).expect("valid reads");
    assert_eq!(std::fs::read_to_string(&path).expect("the table"), lines);
});
