//! A table in memory equals a table in a file.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use merganser_count::{Config, Format, run_in_memory, run_with};
use merganser_io::{Input, OutputSet};
use merganser_run::Context;
use merganser_test_random::Random;

/// Random reads, each twice.
fn reads() -> String {
    let letters = Random(3).bases(20_000);
    let reads = letters.chunks(200).map(|read| String::from_utf8_lossy(read).into_owned());
    reads.map(|read| format!(">\n{read}\n>\n{read}\n")).collect()
}

#[test]
fn tables_in_memory_and_in_files_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (path, output) = (folder.path().join("reads.fa"), folder.path().join("table.tsv"));
    std::fs::write(&path, reads()).unwrap();
    let inputs = [Input::File(path)];
    for k in [1, 4, 5, 16, 17, 31, 64, 65, 128] {
        for canonical in [true, false] {
            let config = Config {
                format: Format::Tsv,
                forward_only: !canonical,
                min_count: Some(1),
                ..Config::new(k)
            };
            let context = Context::new().threads(2);
            let outputs = OutputSet::alone();
            run_with(&config, &inputs, Some(&output), &outputs, &context).unwrap();
            let (outcome, table) = run_in_memory(&config, &inputs, &context).unwrap();
            let text: String = table.iter().map(|(kmer, n)| format!("{kmer}\t{n}\n")).collect();
            assert!(text == std::fs::read_to_string(&output).unwrap(), "k {k}");
            assert_eq!(outcome.kept_kmers, table.len() as u64);
            assert!(table.iter().step_by(97).all(|(kmer, n)| table.get(&kmer) == n));
            assert_eq!((table.get(&"N".repeat(k)), table.get("")), (0, 0));
            if k <= 64 {
                assert!(table.kmers::<u128>().is_sorted() && !table.is_empty());
            }
        }
    }
}
