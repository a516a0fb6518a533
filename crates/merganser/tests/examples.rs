//! Runs every example of the library and looks at what it prints.
#![allow(dead_code, reason = "the examples' main functions")]

use std::path::PathBuf;

#[path = "../examples/classify.rs"]
mod classify;
#[path = "../examples/count.rs"]
mod count;
#[path = "../examples/filter.rs"]
mod filter;
#[path = "../examples/map.rs"]
mod map;
#[path = "../examples/spectrum.rs"]
mod spectrum;

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

#[test]
fn counting() {
    let expected = "\
2500 reads, 196613 k-mers
9876 occur more than once
CTGTCTCTTATACACATCTCC\t64
CGGAGATGTGTATAAGAGACA\t62
GTCTCTTATACACATCTCCGA\t57
";
    assert_eq!(count::report(&data()).unwrap(), expected);
}

#[test]
fn classifying() {
    let expected = "\
2500\tunclassified

485\tLambdavirus lambda (taxid 10710, species)
1\tunclassified

";
    assert_eq!(classify::report(&data()).unwrap(), expected);
}

#[test]
fn filtering() {
    let decided = |changes| match changes {
        0..=5 => format!("{changes} bases changed: {changes} edits\n"),
        _ => format!("{changes} bases changed: rejected\n"),
    };
    let expected: String = (0..10).map(decided).collect();
    assert_eq!(filter::report(&data()).unwrap(), expected);
}

#[test]
fn mapping() {
    // The base that is missing is the second of two that are the same in one case.
    let lengths = [[50, 49], [50, 49], [49, 50], [50, 49], [50, 49]];
    let line = |(number, [before, after]): (usize, [usize; 2])| {
        format!("NC_001416.1\t{}\t+\t1\t{before}=1D{after}=\n", 10_000 * number)
    };
    let expected: String = (0..).zip(lengths).map(line).collect();
    assert_eq!(map::report(&data()).unwrap(), expected);
}

/// The genome has 48,502 bases, and each of its k-mers is 40 times 80 / 100 times in the reads.
#[test]
fn what_a_histogram_tells() {
    let expected = "48131 bases, each k-mer of the genome 32.2 times in the reads\n";
    assert_eq!(spectrum::report(&data()).unwrap(), expected);
}
