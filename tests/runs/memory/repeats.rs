//! A read of a repeat has as many hits as the repeat has bases, and a pair the product of its mates' hits as
//! combinations: `map` keeps to `--memory`, or names the read that does not fit.

use super::hostile::measured;
use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::repeats::copies;

const BUDGET: u64 = 200 << 20;

/// Returns a directory with a genome of one letter, its index, and two pairs of reads of it.
fn homopolymer() -> Dir {
    let dir = Dir::new();
    dir.write("a.fa", format!(">a\n{}\n", "A".repeat(3_000_000)));
    dir.run("index -q --threads 2 -o a.mgi a.fa").ok();
    let reads = |letter: &str| {
        let read = |number| format!("@r{number}\n{}\n+\n{}\n", letter.repeat(100), "I".repeat(100));
        [read(0), read(1)].concat()
    };
    dir.write("1.fq", reads("A"));
    dir.write("2.fq", reads("T"));
    dir
}

/// Runs `map` with 200 MB and one thread; returns its message if it fails.
fn refusal(dir: &Dir, options: &str) -> Option<String> {
    let line = format!("map -q --memory 200M --threads 1 -o o.bam {options}");
    let (ran, peak) = measured(dir, &line);
    assert!(peak <= BUDGET / 10 * 11, "{options}: {peak} bytes");
    (ran.code != Some(0)).then(|| ran.fails(1))
}

#[test]
fn pairs_of_a_homopolymer_keep_to_the_memory() {
    let dir = homopolymer();
    for select in ["", "--best", "--best-strata --max-hits 5", "--max-hits 2"] {
        let why = refusal(&dir, &format!("-e 0 --hamming {select} a.mgi -1 1.fq -2 2.fq")).unwrap();
        assert!(
            why.starts_with(
                "error: 1.fq: record 1: has more hits than fit into memory: raise --memory,"
            ),
            "{select}: {why}"
        );
    }
    // With enough memory for the hits, combinations take no further memory.
    let more =
        "map -q --memory 1G --threads 1 -e 0 --hamming --best a.mgi -1 1.fq -2 2.fq -o o.bam";
    let (ran, peak) = measured(&dir, more);
    ran.ok();
    assert!(peak <= 1 << 30, "{peak} bytes");
}

#[test]
fn single_reads_of_a_homopolymer_keep_to_the_memory() {
    let dir = homopolymer();
    for (options, fits) in [
        ("-e 0 --hamming --best", true),
        ("-e 0 --hamming --max-hits 9", true),
        ("-e 3 --best", true),
        ("-e 3 --best --sort", true),
        ("-e 3", true),
        ("-e 0 --hamming", false),
    ] {
        let why = refusal(&dir, &format!("{options} a.mgi 1.fq"));
        assert_eq!(why.is_none(), fits, "{options}: {why:?}");
    }
}

/// Combinations that are generated on the fly have the same order as listed ones. In this short genome, those of a
/// stretch of 200 bases are listed and those of the whole genome are not.
#[test]
fn many_combinations_come_in_their_order() {
    let dir = Dir::new();
    let genome = String::from_utf8(copies(&mut Random(8), 2400, 2, 10)).unwrap();
    dir.write("g.fa", format!(">g\n{genome}\n"));
    let complement = |letter| match letter {
        'A' => 'T',
        'C' => 'G',
        'G' => 'C',
        _ => 'A',
    };
    let reverse: String = genome[400..430].chars().rev().map(complement).collect();
    dir.write("1.fa", format!(">r\n{}\n", &genome[300..330]));
    dir.write("2.fa", format!(">r\n{reverse}\n"));
    let line = "map -q -e 2 --hamming --max-insert 1000 g.fa -1 1.fa -2 2.fa";
    let text = dir.run(line).ok();
    let records: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| !line.starts_with('@'))
        .map(|line| line.split('\t').collect())
        .collect();
    let number = |text: &str| text.rsplit(':').next().unwrap().parse::<i64>().unwrap();
    assert!(records.len() > 2 << 17, "{} records", records.len());
    let keys: Vec<_> = records
        .chunks(2)
        .map(|mates| {
            let edits: i64 = mates.iter().map(|mate| number(mate[11])).sum();
            let reverse = number(mates[0][1]) & 16;
            (edits, number(mates[0][3]), number(mates[1][3]), reverse)
        })
        .collect();
    assert!(keys.is_sorted());
    assert_eq!(keys.iter().collect::<std::collections::HashSet<_>>().len(), keys.len());
    let hits = records[0].iter().find(|field| field.starts_with("NH:i:")).unwrap();
    assert_eq!(number(hits), keys.len() as i64);
}

/// An excessive number of records is warned of as soon as it is noticed, not when the disk is full.
#[test]
fn very_many_records_are_warned_of() {
    let dir = homopolymer();
    let ran = dir.run("map --threads 1 -e 1 --memory 1G a.fa 1.fq -o o.sam");
    let expected = "warning: 1.fq: reads have more than 1,000 records each, and the output can become very large: \
                    limit it with --max-hits, or report only best hits";
    assert_eq!(ran.stderr.lines().filter(|line| *line == expected).count(), 1, "{}", ran.stderr);
    let ran = dir.run("map --threads 1 -e 1 --max-hits 1000 a.fa 1.fq -o o.sam");
    assert!(!ran.stderr.contains("1,000 records each"), "{}", ran.stderr);
}
