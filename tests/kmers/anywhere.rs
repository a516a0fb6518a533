//! `merganser kmers hetmers --positions any`, compared with the definition and with Smudgeplot.

use std::collections::BTreeMap;
use std::fmt::Write;

use merganser_test_support::oracle::{self, Counts, Rule};
use merganser_test_support::reads::{Random, fasta};
use merganser_test_support::{Dir, tools};

use crate::hetmers::reads;

/// The largest sum of the counts of a pair.
const MAX_SUM: u64 = 1000;

/// A pair: both counts, and the k-mers that have them.
type Pair = (u64, u64, Vec<u8>, Vec<u8>);

fn complement(kmer: &[u8]) -> Vec<u8> {
    let other = |base: &u8| b"TGCA"[b"ACGT".iter().position(|letter| letter == base).unwrap()];
    kmer.iter().rev().map(other).collect()
}

/// Returns the pairs by the definition, among k-mers with counts of at least `least`.
fn pairs(counts: &Counts, least: u64) -> Vec<Pair> {
    let kept = || counts.iter().filter(|&(_, &count)| count >= least);
    let both =
        kept().flat_map(|(kmer, &count)| [(kmer.to_vec(), count), (complement(kmer), count)]);
    let strands: BTreeMap<Vec<u8>, u64> = both.collect();
    let partners = |kmer: &[u8]| {
        let mut partners = Vec::new();
        for at in 0..kmer.len() {
            for &base in b"ACGT".iter().filter(|&&base| base != kmer[at]) {
                let mut other = kmer.to_vec();
                other[at] = base;
                if strands.get(&other).is_some_and(|count| count + strands[kmer] <= MAX_SUM) {
                    partners.push(other);
                }
            }
        }
        partners
    };
    let mut pairs = Vec::new();
    for (kmer, &count) in kept() {
        let [other] = &partners(kmer)[..] else { continue };
        let own = (count, kmer.to_vec());
        let canonical = complement(other).min(other.clone());
        if partners(other).len() == 1 && own <= (strands[other], canonical) {
            pairs.push((count, strands[other], kmer.to_vec(), other.clone()));
        }
    }
    pairs.sort();
    pairs
}

/// Returns the lines of the pairs with their k-mers, sorted.
fn sorted(text: &str) -> Vec<Pair> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("minor\tmajor\tminor_kmer\tmajor_kmer"));
    let mut pairs: Vec<Pair> = lines
        .map(|line| {
            let [minor, major, one, other] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            (minor.parse().unwrap(), major.parse().unwrap(), one.into(), other.into())
        })
        .collect();
    pairs.sort();
    pairs
}

#[test]
fn pairs_are_those_of_the_definition_whatever_the_threads() {
    let dir = Dir::new();
    let reads = reads(&mut Random(22), 2, &[(1, 1)]);
    dir.write("reads.fa", fasta(&reads, 70, "\n"));
    for k in [12, 21, 40] {
        let counts = oracle::count(&reads, Rule::new(k, true));
        dir.run(&format!("count -q -k {k} --min-count 1 reads.fa -o t.mgk")).ok();
        let expected = pairs(&counts, 8);
        assert!(expected.len() > 1000, "k {k}: {}", expected.len());
        let (mut rows, mut smu) = (BTreeMap::new(), BTreeMap::new());
        for (minor, major, one, other) in &expected {
            let strands = if complement(one) == *other { 1 } else { 2 };
            if strands == 2 {
                *rows.entry((*minor, *major)).or_insert(0) += 1;
            }
            *smu.entry((minor + major, *minor)).or_insert(0) += strands;
        }
        let mut text = String::from("minor\tmajor\tpairs\n");
        for ((minor, major), number) in rows {
            writeln!(text, "{minor}\t{major}\t{number}").unwrap();
        }
        let mut smu_text = String::new();
        for ((sum, minor), number) in smu {
            writeln!(smu_text, "{minor}\t{}\t{number}", sum - minor).unwrap();
        }
        let mut sequences = None;
        for limits in ["-t 1", "-t 3", "-t 2 --memory 100M"] {
            let run = format!("kmers hetmers -q --positions any {limits} t.mgk:8..");
            assert!(dir.run(&format!("{run} --sequences s.tsv")).ok() == text, "k {k} {limits}");
            let found = String::from_utf8(dir.read("s.tsv")).unwrap();
            assert!(sorted(&found) == expected, "k {k} {limits}");
            assert!(*sequences.get_or_insert_with(|| found.clone()) == found, "k {k} {limits}");
            dir.run(&format!("{run} -o o.smu")).ok();
            assert!(dir.read("o.smu") == smu_text.as_bytes(), "k {k} {limits}");
        }
        // A given lower bound is respected, also that of all k-mers.
        if k > 12 {
            continue;
        }
        let run = dir.run("kmers hetmers --positions any t.mgk:1.. -o o.tsv --sequences s.tsv");
        assert!(!run.stderr.contains("are skipped"), "{}", run.stderr);
        run.ok();
        let found = String::from_utf8(dir.read("s.tsv")).unwrap();
        assert!(sorted(&found) == pairs(&counts, 1), "k {k}");
    }
}

#[test]
fn ploidy_is_found() {
    let cases: [(usize, &[(usize, usize)]); 4] =
        [(1, &[]), (2, &[(1, 1)]), (3, &[(1, 1)]), (4, &[(1, 3), (2, 1)])];
    for (seed, (ploidy, groups)) in (31..).zip(cases) {
        let dir = Dir::new();
        dir.write("reads.fa", fasta(&reads(&mut Random(seed), ploidy, groups), 70, "\n"));
        dir.run("count -q -k 21 --min-count 1 reads.fa -o t.mgk").ok();
        let run =
            dir.run("kmers hetmers --positions any t.mgk -o o.smu --json p.json --plot p.svg");
        assert!(run.stderr.contains("are skipped as errors"), "{}", run.stderr);
        run.ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("p.json")).unwrap();
        assert_eq!(json["ploidy"], ploidy, "{groups:?}: {json}");
        assert!(dir.read("p.svg").starts_with(b"<svg"));
    }
}

#[test]
fn smudgeplot_finds_the_same_pairs() {
    if !["FastK", "Logex", "Symmex", "Fastrm", "hetmers"].iter().all(|tool| tools::by_chance(tool))
    {
        return;
    }
    let dir = Dir::new();
    dir.write("reads.fa", fasta(&reads(&mut Random(23), 3, &[(1, 1)]), 70, "\n"));
    for k in [20, 21, 40, 41] {
        dir.run(&format!("count -q -k {k} --min-count 1 reads.fa -o t.mgk")).ok();
        let count = format!("FastK -k{k} -t1 -T2 -P. -Nf reads.fa");
        tools::shell(&dir.path("."), &format!("{count} && hetmers -e7 -T2 -P. -otheirs f.ktab"));
        let theirs = dir.read("theirs.smu");
        assert!(!theirs.is_empty());
        for table in ["t.mgk", "f.ktab"] {
            dir.run(&format!("kmers hetmers -q --positions any {table}:7.. -o ours.smu")).ok();
            assert!(dir.read("ours.smu") == theirs, "k {k}: {table}");
        }
        tools::shell(&dir.path("."), "rm theirs.smu");
    }
}

#[test]
fn wrong_uses_are_refused() {
    let dir = Dir::new();
    dir.write("reads.fa", fasta(&reads(&mut Random(41), 2, &[(1, 1)]), 70, "\n"));
    dir.run("count -q -k 21 --min-count 1 reads.fa -o t.mgk").ok();
    let error = dir.run("kmers hetmers t.mgk --sequences s.tsv").fails(2);
    assert!(error.contains("--sequences: requires --positions any"), "{error}");
    let error = dir.run("kmers hetmers t.mgk --plot p.smu").fails(2);
    assert!(error.contains("p.smu"), "{error}");
    dir.run("count -q -k 21 --min-count 1 --forward-only reads.fa -o strands.mgk").ok();
    // A model would take the strands for two genomes.
    let error = dir.run("kmers histogram -q --model strands.mgk").fails(1);
    assert!(error.contains("count without --forward-only"), "{error}");
    let ran = dir.run("count -q -k 21 --model --forward-only reads.fa --format none");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let error = dir.run("kmers hetmers -q --positions any strands.mgk -o x.smu").fails(1);
    assert!(error.contains("--forward-only"), "{error}");
    assert!(!dir.names().iter().any(|name| name.starts_with("x.") || name.starts_with("s.tsv")));
}
