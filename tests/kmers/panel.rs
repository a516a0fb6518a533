//! `count --panel` counts the k-mers of a panel, whatever the format of the panel, the options and the number of threads.

use std::collections::BTreeMap;

use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, gunzip, small_reads};

type Counts = BTreeMap<String, u64>;

/// Returns a directory with the repository's reads as `r1.fq` and `r2.fq`.
fn with_reads() -> Dir {
    let dir = Dir::new();
    for (name, path) in ["r1.fq", "r2.fq"].into_iter().zip(small_reads()) {
        dir.write(name, gunzip(&path));
    }
    dir
}

fn counts(text: &str) -> Counts {
    let line = |line: &str| {
        let (kmer, count) = line.split_once('\t').unwrap();
        (kmer.to_owned(), count.parse().unwrap())
    };
    text.lines().map(line).collect()
}

fn text(counts: &Counts) -> String {
    counts.iter().map(|(kmer, count)| format!("{kmer}\t{count}\n")).collect()
}

#[test]
fn panels_in_every_format_have_the_counts_of_the_reads() {
    let dir = with_reads();
    for (k, options) in
        [(5, ""), (11, "--forward-only"), (21, "--min-qual 20"), (33, ""), (70, "--hpc")]
    {
        let strands = if options == "--forward-only" { options } else { "" };
        let hpc = if options == "--hpc" { options } else { "" };
        let count = |args: &str| dir.run(&format!("count -q -k {k} {options} {args}")).ok();
        let all = counts(&count("--min-count 1 --format tsv -o - r2.fq"));
        let other = counts(
            &dir.run(&format!(
                "count -q -k {k} {strands} {hpc} --min-count 1 --format tsv -o - r1.fq"
            ))
            .ok(),
        );
        let panel: Counts = other.into_iter().step_by(5).map(|(kmer, _)| (kmer, 1000)).collect();
        dir.write("p.tsv", text(&panel));
        let mut expected: Counts =
            panel.keys().map(|kmer| (kmer.clone(), all.get(kmer).copied().unwrap_or(0))).collect();
        let with_zeros = expected.clone();
        expected.retain(|_, count| *count > 0);
        assert!(!expected.is_empty() && (k == 5 || expected.len() < with_zeros.len()), "{k}");
        let convert = |name: &str, format: &str| {
            dir.run(&format!("kmers convert -q {strands} {hpc} --format {format} -o {name} p.tsv"))
                .ok()
        };
        for (name, format) in
            [("p.mgk", "mgk"), ("p.kff", "kff"), ("p", "kmc"), ("p.jf", "jf"), ("p.fa", "fasta")]
        {
            convert(name, format);
        }
        for (panel, threads) in
            [("p.tsv", 1), ("p.mgk", 3), ("p.kff", 2), ("p", 1), ("p.jf", 4), ("p.fa", 2)]
        {
            let args = format!("--panel {panel} --threads {threads} --format tsv -o - r2.fq");
            assert_eq!(counts(&count(&args)), expected, "{k} {panel}");
        }
        let found = count("--panel p.mgk --min-count 0 --format tsv -o - r2.fq");
        assert_eq!(counts(&found), with_zeros, "{k}");
        let mut some = expected.clone();
        some.retain(|_, count| (2..=9).contains(count));
        let limits = "--panel p.mgk --min-count 2 --max-count 9 -o some.mgk r2.fq";
        count(limits);
        assert_eq!(counts(&dir.run("kmers dump some.mgk").ok()), some, "{k}");
        assert_eq!(dir.run("kmers verify some.mgk").ok(), "some.mgk: ok\n");
        let histogram = count("--panel p.mgk --format none --histogram - r2.fq");
        let lines: u64 = counts(&histogram).values().sum();
        assert_eq!(lines, expected.len() as u64, "{k}");
    }
}

/// The table of one sample is the panel of the next, also its k-mers with the count 0.
#[test]
fn k_mers_of_a_panel_may_have_the_count_0() {
    let dir = Dir::new();
    dir.write("s.fa", ">a\nAACGAGGATTTACGATTAGGACCATTGACCA\n>b\nAACGAGGTTGAC\n");
    dir.write("p.tsv", "AACGA\t0\nAAAAA\t3\nAACGG\t0\n");
    dir.write("p.fa", ">0\nAACGA\n>3\nAAAAA\n>0\nAACGG\n");
    let count = |panel: &str| {
        let args = format!("count -q -k 5 --panel {panel} --min-count 0 --format tsv -o - s.fa");
        dir.run(&args).ok()
    };
    let expected = "AAAAA\t0\nAACGA\t2\nAACGG\t0\n";
    assert_eq!(count("p.tsv"), expected);
    assert_eq!(count("p.fa"), expected);
    dir.write("again.tsv", expected);
    assert_eq!(count("again.tsv"), expected);
    // Elsewhere, a count of 0 means that the k-mer does not occur.
    assert_eq!(dir.run("kmers convert -q --format tsv -o - p.tsv").ok(), "AAAAA\t3\n");
}

#[test]
fn sequences_are_panels_of_all_their_k_mers() {
    let dir = with_reads();
    dir.write("p.fa", ">one\nACGTTGCATGNACGTTGACCATG\n>two\nACG\n");
    dir.run("count -q -k 6 --min-count 1 -o p.mgk p.fa").ok();
    let run = |panel: &str| {
        dir.run(&format!("count -q -k 6 --panel {panel} --min-count 0 --format tsv -o - r1.fq"))
            .ok()
    };
    assert_eq!(run("p.fa"), run("p.mgk"));
    assert!(run("p.fa").lines().count() > 8);
    let temporary = std::fs::read_dir(dir.root()).unwrap().count();
    run("p.fa");
    assert_eq!(std::fs::read_dir(dir.root()).unwrap().count(), temporary);
}

#[test]
fn tables_of_panels_are_refused_where_all_k_mers_are_needed() {
    let dir = with_reads();
    dir.run("count -q -k 15 --min-count 1 -o all.mgk r1.fq").ok();
    dir.write("p.fa", ">one\nACGTTGCATGACGTTGACCATGACCGGTATTA\n");
    dir.run("count -q -k 15 --panel r2.fq -o p.mgk r1.fq").ok();
    dir.write("asm.fa", format!(">a\n{}\n", "ACGTTGCATGACGTTGACCATGACCGGTATTA".repeat(3)));
    let is_only_given = |table: &str| {
        let info = dir.run(&format!("kmers info --json {table}")).ok();
        serde_json::from_str::<serde_json::Value>(&info).unwrap()["only_given"].as_bool().unwrap()
    };
    for (made, expected) in [
        ("reduce p.mgk:2..", true),
        ("set-counts 3 p.mgk", true),
        ("union p.mgk all.mgk", true),
        ("union all.mgk all.mgk", false),
        ("intersect all.mgk all.mgk", true),
        ("subtract p.mgk all.mgk", true),
        ("subtract all.mgk p.mgk", false),
        ("counters-subtract all.mgk p.mgk", false),
        ("eval union(all.mgk,intersect(all.mgk,p.mgk))", true),
        ("convert p.mgk", true),
        ("convert all.mgk", false),
    ] {
        dir.run(&format!("kmers {made} -q -o made.mgk")).ok();
        assert_eq!(is_only_given("made.mgk"), expected, "{made}");
    }
    for number in [1, 2] {
        dir.run(&format!("kmers union -q p.mgk all.mgk --range {number}/2 -o {number}.mgk")).ok();
    }
    dir.run("kmers concat -q -o joined.mgk 1.mgk 2.mgk").ok();
    assert!(is_only_given("p.mgk") && is_only_given("joined.mgk") && !is_only_given("all.mgk"));

    let reason = "it has only given k-mers (of a panel or an intersection), and";
    for line in [
        "qv -o q p.mgk asm.fa",
        "qv -o q --hybrid p.mgk asm.fa",
        "qv -o q --reads all.mgk --reads p.mgk asm.fa",
        "qv -o q all.mgk asm.fa --maternal p.mgk --paternal all.mgk",
        "qv -o q.mgq --range 1/2 p.mgk asm.fa",
        "track --coverage 3 --classes c.bed p.mgk asm.fa",
        "track --coverage 3 --expected c.bg p.mgk asm.fa",
        "histogram --model p.mgk",
    ] {
        let message = dir.run(&format!("kmers {line}")).fails(1);
        assert!(message.contains(&format!("p.mgk: {reason}")), "{line}: {message}");
        assert_eq!(message.lines().count(), 1, "{line}: {message}");
    }
    // Counts of given k-mers are enough for these.
    for line in ["track --counts c.bg --copies c.wig p.mgk asm.fa", "histogram p.mgk"] {
        dir.run(&format!("kmers {line}")).ok();
    }
    let run = dir.run("kmers hetmers p.mgk -o o.tsv");
    assert!(run.stderr.contains("it has only given k-mers"), "{}", run.stderr);
}

#[test]
fn jellyfish_counts_the_same() {
    if !installed(&["jellyfish"]) {
        return;
    }
    let dir = with_reads();
    shell(
        dir.root(),
        "head -400 r1.fq | awk 'NR % 4 == 2 {print \">\" NR; print}' > p.fa && jellyfish count -C -m 21 -s 1M --if p.fa -o j \
         r2.fq && jellyfish dump -c -t j | sort > j.tsv",
    );
    let zeros = dir.run("count -q -k 21 --panel p.fa --min-count 0 --format tsv -o - r2.fq").ok();
    let theirs = String::from_utf8(dir.read("j.tsv")).unwrap();
    assert_eq!(counts(&zeros), counts(&theirs));
}

#[test]
fn panels_of_other_k_mers_are_refused() {
    let dir = with_reads();
    dir.run("count -q -k 15 -o p.mgk r1.fq").ok();
    dir.run("count -q -k 15 --forward-only -o f.mgk r1.fq").ok();
    dir.run("count -q -k 15 --hpc -o h.mgk r1.fq").ok();
    dir.write("empty.tsv", "");
    let size = dir.read("p.mgk").len();
    let fails = |args: &str, code: i32| dir.run(&format!("count -q r1.fq {args}")).fails(code);
    for (args, code, said) in [
        ("-k 14 --panel p.mgk -o o.mgk", 2, "have 15 bases"),
        ("-k 15 --panel f.mgk -o o.mgk", 2, "are not canonical: use --forward-only"),
        (
            "-k 15 --panel p.mgk --forward-only -o o.mgk",
            2,
            "are canonical: leave --forward-only out",
        ),
        ("-k 15 --panel h.mgk -o o.mgk", 2, "use --hpc"),
        ("-k 15 --panel p.mgk --hpc -o o.mgk", 2, "leave --hpc out"),
        ("-k 15 --panel none.mgk -o o.mgk", 1, "none.mgk"),
        ("-k 15 --panel p.mgk --min-count 0 -o o.mgk", 2, "--format tsv"),
        ("-k 15 --min-count 0 -o o.tsv", 2, "--min-count"),
        ("-k 15 --panel p.mgk -o p.mgk", 1, "is an input"),
        ("-k 15 --panel p.mgk --memory 1M -o o.mgk", 1, "memory"),
    ] {
        let message = fails(args, code);
        assert!(message.contains(said), "{args}: {message}");
        assert!(!dir.root().join("o.mgk").exists() && dir.read("p.mgk").len() == size, "{args}");
    }
}
