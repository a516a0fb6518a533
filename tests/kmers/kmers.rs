//! `merganser kmers`: information, dumps, histograms, queries and verification of tables.

use merganser_test_support::oracle::{self, Rule};
use merganser_test_support::reads::{fastq, untidy};
use merganser_test_support::{Dir, gunzip};

/// Returns a directory with a table `t.mgk` of reads, and the oracle's counts of these.
fn table(options: &str, rule: Rule) -> (Dir, oracle::Counts) {
    let dir = Dir::new();
    let records = untidy(400, 11);
    dir.write("r.fq", fastq(&records, "\n"));
    dir.run(&format!("count -k {} {options} -o t.mgk r.fq", rule.k)).ok();
    (dir, oracle::count(&records, rule))
}

#[test]
fn info() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACGTACGTTTACGT\n");
    dir.run("count -k 4 -o t.mgk r.fa").ok();
    insta::assert_snapshot!("info", dir.run("kmers info t.mgk").ok());
    insta::assert_snapshot!("info_json", dir.run("kmers info --json t.mgk").ok());
}

#[test]
fn dump_in_every_format() {
    let (dir, counts) = table("--min-count 1", Rule::new(21, true));
    let tsv = oracle::tsv(&counts, 1);
    assert!(dir.run("kmers dump t.mgk").ok() == tsv);
    let jellyfish = tsv.replace('\t', " ");
    assert!(dir.run("kmers dump --format jellyfish t.mgk").ok() == jellyfish);
    let fasta: String = tsv
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(kmer, count)| format!(">{count}\n{kmer}\n"))
        .collect();
    assert!(dir.run("kmers dump --format fasta t.mgk").ok() == fasta);
    dir.run("kmers dump t.mgk -o d.tsv.gz").ok();
    assert!(gunzip(&dir.path("d.tsv.gz")) == tsv.as_bytes());
    let some: String = tsv
        .lines()
        .filter(|line| {
            let count: u64 = line.split('\t').nth(1).unwrap().parse().unwrap();
            (5..=9).contains(&count)
        })
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(dir.run("kmers dump --min-count 5 --max-count 9 t.mgk").ok() == some);
}

/// A histogram of a table with a minimum count has a warning, because it is incomplete.
#[test]
fn histogram_warns_of_a_cut() {
    let (dir, counts) = table("--min-count 1", Rule::new(21, true));
    let whole = oracle::histogram(&counts);
    let ran = dir.run("kmers histogram t.mgk");
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.ok(), whole);
    dir.run("count -k 21 --min-count 3 --max-count 40 -o t.mgk r.fq").ok();
    let ran = dir.run("kmers histogram t.mgk --max 30");
    insta::assert_snapshot!("histogram_warnings", ran.stderr);
    let expected: Vec<&str> = whole
        .lines()
        .filter(|line| {
            let count: u32 = line.split('\t').next().unwrap().parse().unwrap();
            (3..=30).contains(&count)
        })
        .collect();
    assert_eq!(ran.ok().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn query_on_both_strands_and_in_either_case() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACCTGGATTACAGG\n");
    dir.run("count -k 5 --min-count 1 -o t.mgk r.fa").ok();
    let found = dir.run("kmers query t.mgk ACCTG CAGGT accug GGGGG CCTGT").ok();
    assert_eq!(found, "ACCTG\t1\nCAGGT\t1\naccug\t1\nGGGGG\t0\nCCTGT\t1\n");
    dir.write("list", "ACCTG 7 more words\n\nGATTA\r\n");
    assert_eq!(dir.run("kmers query t.mgk --file list").ok(), "ACCTG\t1\nGATTA\t1\n");
    let piped = dir.run_with(["kmers", "query", "t.mgk", "--file", "-"], b"TAATC\n").ok();
    assert_eq!(piped, "TAATC\t1\n");
    dir.run("count -k 5 --min-count 1 --forward-only -o f.mgk r.fa").ok();
    assert_eq!(dir.run("kmers query f.mgk ACCTG CAGGT").ok(), "ACCTG\t1\nCAGGT\t0\n");
}

#[test]
fn query_errors() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACCTGGATTACAGG\n");
    dir.run("count -k 5 --min-count 1 -o t.mgk r.fa").ok();
    dir.write("short", "ACC\n");
    dir.write("letter", "\nACCNG\n");
    let mut text = String::new();
    for args in ["ACCTGG", "ACXTG", "ACÄTG", "--file short", "--file letter", "--file gone"] {
        text += &dir.run(&format!("kmers query t.mgk {args}")).fails(1);
    }
    insta::assert_snapshot!(text);
}

/// Damaged, foreign and newer tables are refused with a message for each case.
#[test]
fn damaged_foreign_and_newer_tables_are_refused() {
    let (dir, _) = table("", Rule::new(31, true));
    let sound = dir.read("t.mgk");
    let changed = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let mut newer = sound.clone();
    newer[8] = 4;
    let sum = crc32fast::hash(&newer[..124]);
    newer[124..128].copy_from_slice(&sum.to_le_bytes());
    dir.write("empty.mgk", "");
    dir.write("foreign.mgk", "@read\nACGT\n+\nIIII\n");
    dir.write("newer.mgk", newer);
    dir.write("header.mgk", changed(33));
    dir.write("index.mgk", changed(sound.len() - 3));
    dir.write("short.mgk", &sound[..sound.len() / 2]);
    dir.write("stub.mgk", &sound[..50]);
    dir.write("longer.mgk", [&sound[..], b"x"].concat());
    let mut text = String::new();
    for name in ["empty", "foreign", "newer", "header", "index", "short", "stub", "longer", "gone"]
    {
        for command in ["info", "dump", "histogram", "verify"] {
            let message = dir.run(&format!("kmers {command} {name}.mgk")).fails(1);
            if command == "info" {
                text += &message;
            } else {
                assert!(text.ends_with(&message), "{command}: {message}");
            }
        }
    }
    // Lengths of files are replaced, because they are not what is tested.
    let lengths = [(sound.len() + 1, "N + 1"), (sound.len() / 2, "N / 2"), (sound.len(), "N")];
    for (length, name) in lengths {
        text = text.replace(&format!(" {length} bytes"), &format!(" {name} bytes"));
        text = text.replace(&format!("of {length};"), &format!("of {name};"));
    }
    insta::assert_snapshot!(text);
}

/// Blocks are checked when they are read; `verify` reads all blocks and continues after a damaged table.
#[test]
fn verify_checks_every_block() {
    let (dir, _) = table("", Rule::new(31, true));
    let mut bytes = dir.read("t.mgk");
    bytes[200] ^= 1;
    dir.write("bad.mgk", bytes);
    let ran = dir.run("kmers verify bad.mgk t.mgk");
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.stdout, b"t.mgk: ok\n");
    assert_eq!(ran.stderr, "error: bad.mgk: block 0 is damaged (checksum): count again\n");
    dir.run("kmers dump bad.mgk -o d.tsv").fails(1);
    assert!(!dir.path("d.tsv").exists());
}

/// Too little memory is not the fault of a table: it is reported once and ends the run.
#[test]
fn verify_says_once_that_there_is_too_little_memory() {
    let dir = Dir::new();
    dir.write("t.tsv", "AACGT\t7\n".repeat(8 << 20));
    let error = dir.run("kmers verify t.tsv t.tsv --memory 60M --threads 5").fails(1);
    assert!(error.contains("and --memory gives 60.0 MiB: raise it, or lower --threads"), "{error}");
}

/// A table without k-mers is valid.
#[test]
fn empty_tables() {
    let dir = Dir::new();
    dir.write("r.fa", "");
    for k in [1, 5, 31, 64, 128] {
        dir.run(&format!("count -k {k} -o t.mgk r.fa")).ok();
        assert_eq!(dir.run("kmers dump t.mgk").ok(), "");
        assert_eq!(dir.run("kmers histogram t.mgk").ok(), "");
        assert_eq!(dir.run("kmers verify t.mgk").ok(), "t.mgk: ok\n");
        let kmer = "A".repeat(k);
        assert_eq!(dir.run(&format!("kmers query t.mgk {kmer}")).ok(), format!("{kmer}\t0\n"));
    }
}
