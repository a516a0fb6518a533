//! `eval` on the outputs of three programs.

use merganser_test_support::Dir;
use merganser_test_support::two_species::{NAMES, write_taxonomy};

const KRAKEN: &str = "C\tr0\t11\t100\t11:3\nC\tr1\t11\t100\t11:2\nC\tr2\t10\t100\t10:5\n\
    U\tr3\t0\t100\t0:0\n";
const METACACHE: &str = "# TABLE_LAYOUT: query_header\t|\trank:taxname\nr0\t|\tspecies:One\n\
    r1 x\t|\tsequence:g0\nr2\t|\tgenus:Both\nr3\t|\t--\n";
const TABLE: &str = "rank\treads\twith_rank\tassigned\tright\tprecision\tsensitivity\tdeviation\t\
    false_taxa\nspecies\t4\t4\t2\t1\t50.00\t25.00\t100.00\t0.00\n\
    genus\t4\t4\t3\t3\t100.00\t75.00\t0.00\t0.00\n\
    domain\t4\t4\t3\t3\t100.00\t75.00\t0.00\t0.00\n";

fn prepared() -> Dir {
    let dir = Dir::new();
    write_taxonomy(&dir);
    // In this taxonomy, the genus has a name.
    dir.write("tax/names.dmp", NAMES.replace("\t10\t|\t\t|", "\tBoth\t|\t\t|"));
    dir.write("truth.tsv", "r0\t11\nr1\t12\nr2\t12\nr3\t11\n");
    dir.write("kraken.tsv", KRAKEN);
    dir.write("metacache.txt", METACACHE);
    dir.write("g0.fa", format!(">g0 taxid|11\n{}\n", "ACGTTGCATCAGGATCCATTGA".repeat(9)));
    dir
}

#[test]
fn every_program_gets_the_same_scores() {
    let dir = prepared();
    assert_eq!(dir.run("eval --taxonomy tax truth.tsv kraken.tsv").ok(), TABLE);
    dir.run("build --taxonomy tax -o refs.mgdb g0.fa").ok();
    let metacache = "eval --taxonomy tax --database refs.mgdb truth.tsv metacache.txt";
    assert_eq!(dir.run(metacache).ok(), TABLE);
    let json = dir.run("eval --taxonomy tax truth.tsv kraken.tsv --json").ok();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["ranks"]["species"]["sensitivity"], 0.25);
    assert_eq!(json["classified"], 3);
}

#[test]
fn own_results_are_judged_by_the_database_alone() {
    let dir = prepared();
    dir.run("build --taxonomy tax -o refs.mgdb g0.fa").ok();
    dir.write("r.fa", format!(">r0/1\n{}\n", "ACGTTGCATCAGGATCCATTGA".repeat(5)));
    dir.run("classify refs.mgdb r.fa -o reads.tsv").ok();
    dir.write("one.tsv", "r0/1\t11\nr5\t11\n");
    let ran = dir.run("eval --database refs.mgdb one.tsv reads.tsv");
    assert_eq!(
        ran.warnings(),
        ["warning: reads.tsv: 1 reads of the truth are missing and count as unclassified"]
    );
    assert!(ran.ok().contains("species\t2\t2\t1\t1\t100.00\t50.00\t"));
}

#[test]
fn what_cannot_be_judged_is_an_error() {
    let dir = prepared();
    dir.write("empty.tsv", "");
    dir.write("odd.tsv", "r0\t11\nr1\tx\n");
    let cases = [
        ("eval --taxonomy tax empty.tsv kraken.tsv", "empty.tsv: there are no reads in this file"),
        (
            "eval --taxonomy tax odd.tsv kraken.tsv",
            "odd.tsv: line 2: not a read name, a tab and a taxid",
        ),
        (
            "eval --taxonomy tax truth.tsv truth.tsv",
            "truth.tsv: line 1: neither Kraken's columns nor",
        ),
        (
            "eval --taxonomy tax truth.tsv metacache.txt",
            "metacache.txt: line 3: g0: the taxon of a",
        ),
        ("eval --taxonomy none truth.tsv kraken.tsv", "none: no such folder"),
    ];
    for (command, expected) in cases {
        let message = dir.run(command).fails(1);
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(dir.run("eval truth.tsv kraken.tsv").code, Some(2));
}
