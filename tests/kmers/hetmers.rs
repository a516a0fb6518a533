//! `merganser kmers hetmers` on simulated genomes of known ploidy.

use std::collections::BTreeMap;
use std::fmt::Write;

use merganser_test_support::Dir;
use merganser_test_support::oracle::{self, Counts, Rule};
use merganser_test_support::reads::{Random, Record, fasta};

const BASES: usize = 60_000;
const COVERAGE: usize = 25;
const LENGTH: usize = 150;

/// Simulates reads of haplotypes in which about one base in a thousand is heterozygous. Each of `groups` is the
/// number of haplotypes with the other base and how many of ten such positions are of this kind.
pub(crate) fn reads(
    random: &mut Random,
    haplotypes: usize,
    groups: &[(usize, usize)],
) -> Vec<Record> {
    let genome = random.bases(BASES);
    let mut all = vec![genome; haplotypes];
    let ways: Vec<usize> =
        groups.iter().flat_map(|&(of, parts)| std::iter::repeat_n(of, parts)).collect();
    let mut at = 100;
    while at < BASES && !ways.is_empty() {
        let of = ways[random.below(ways.len())];
        let other = b"ACGT"[random.below(4)];
        // Random haplotypes have the other base.
        let first = random.below(haplotypes);
        for number in 0..of {
            all[(first + number) % haplotypes][at] = other;
        }
        at += 30 + random.below(120);
    }
    let mut reads = Vec::new();
    for haplotype in &all {
        for _ in 0..COVERAGE * BASES / (LENGTH - 20) {
            let from = random.below(BASES - LENGTH);
            let mut sequence = haplotype[from..from + LENGTH].to_vec();
            if random.below(3) == 0 {
                sequence[random.below(LENGTH)] = b"ACGT"[random.below(4)];
            }
            reads.push(Record { sequence, quality: None });
        }
    }
    reads
}

/// Returns the pairs by the definition.
fn pairs(counts: &Counts, k: usize) -> String {
    let mut found = BTreeMap::new();
    for (kmer, &count) in counts {
        let others = b"ACGT".iter().filter(|&&base| base != kmer[k / 2]).filter_map(|&base| {
            let mut other = kmer.clone();
            other[k / 2] = base;
            counts.get(&other).map(|&count| (other, count))
        });
        let others: Vec<_> = others.collect();
        if let [(other, other_count)] = &others[..]
            && kmer < other
        {
            *found.entry((count.min(*other_count), count.max(*other_count))).or_insert(0) += 1;
        }
    }
    let mut text = String::from("minor\tmajor\tpairs\n");
    for ((minor, major), number) in found {
        writeln!(text, "{minor}\t{major}\t{number}").unwrap();
    }
    text
}

#[test]
fn pairs_are_those_of_the_definition_whatever_the_threads() {
    let dir = Dir::new();
    let reads = reads(&mut Random(21), 2, &[(1, 1)]);
    dir.write("reads.fa", fasta(&reads, 70, "\n"));
    for k in [15, 21, 41] {
        let counts = oracle::count(&reads, Rule::new(k, true));
        dir.run(&format!("count -q -k {k} --min-count 1 reads.fa -o t.mgk")).ok();
        for limits in ["-t 1", "-t 3", "-t 2 --memory 60M"] {
            let found = dir.run(&format!("kmers hetmers -q {limits} t.mgk")).ok();
            assert!(found == pairs(&counts, k), "k {k} {limits}");
        }
    }
}

#[test]
fn ploidy_is_found_and_taken_by_the_model() {
    let cases: [(usize, &[(usize, usize)]); 5] =
        [(1, &[]), (2, &[(1, 1)]), (3, &[(1, 1)]), (4, &[(1, 3), (2, 1)]), (4, &[(2, 2), (1, 1)])];
    for (seed, (ploidy, groups)) in (31..).zip(cases) {
        let dir = Dir::new();
        dir.write("reads.fa", fasta(&reads(&mut Random(seed), ploidy, groups), 70, "\n"));
        dir.run("count -q -k 21 --min-count 1 reads.fa -o t.mgk").ok();
        dir.run("kmers hetmers -q t.mgk -o pairs.tsv --json p.json --plot p.svg").ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("p.json")).unwrap();
        assert_eq!(json["ploidy"], ploidy, "{groups:?}: {json}");
        if ploidy > 1 {
            let coverage = json["kmer_coverage"].as_f64().unwrap();
            assert!((coverage / COVERAGE as f64 - 1.0).abs() < 0.08, "{json}");
        }
        assert!(dir.read("p.svg").starts_with(b"<svg"));
        let model = dir.run("kmers histogram --model --ploidy auto t.mgk");
        assert!(model.stderr.contains(&format!("ploidy {ploidy}")), "{}", model.stderr);
        assert!(model.ok().contains(&format!("ploidy\t{ploidy}\n")), "{groups:?}");
    }
}

#[test]
fn what_it_cannot_take_is_said() {
    let dir = Dir::new();
    dir.write("reads.fa", fasta(&reads(&mut Random(41), 2, &[(1, 1)]), 70, "\n"));
    dir.run("count -q -k 20 --min-count 1 reads.fa -o even.mgk").ok();
    assert!(dir.run("kmers hetmers even.mgk").fails(1).contains("odd k"));
    dir.run("count -q -k 21 --min-count 1 --forward-only reads.fa -o strands.mgk").ok();
    assert!(dir.run("kmers hetmers strands.mgk").fails(1).contains("--forward-only"));
    dir.run("count -q -k 21 --min-count 1 --histogram t.hist reads.fa -o t.mgk").ok();
    let error = dir.run("kmers histogram --model --ploidy auto -k 21 t.hist").fails(2);
    assert!(error.contains("requires a table"), "{error}");
    dir.write("few.fa", ">a\nACGTACGTTTACGATCGATTACGATCGAC\n");
    dir.run("count -q -k 21 --min-count 1 few.fa -o few.mgk").ok();
    assert!(dir.run("kmers hetmers few.mgk -o x.tsv").fails(1).contains("no peak"));
    assert!(!dir.names().contains(&"x.tsv".to_owned()));
}

#[test]
fn a_coverage_that_is_too_low_is_warned_of() {
    let dir = Dir::new();
    let mut random = Random(7);
    let genome = random.bases(200_000);
    // Nearly all k-mers occur once, a few twice, and those of a short repeat nine times.
    let mut text = format!(">g\n{}\n", String::from_utf8_lossy(&genome));
    text += &format!(">t\n{}\n", String::from_utf8_lossy(&genome[1000..1040]));
    for _ in 0..8 {
        text += &format!(">r\n{}\n", String::from_utf8_lossy(&genome[..100]));
    }
    dir.write("low.fa", text);
    dir.run("count -q -k 21 --min-count 1 low.fa -o low.mgk").ok();
    let ran = dir.run("kmers hetmers low.mgk -o low.tsv");
    assert!(ran.stderr.contains("the coverage is probably too low"), "{}", ran.stderr);
    dir.run("count -q -k 21 low.fa -o cut.mgk").ok();
    let ran = dir.run("kmers hetmers cut.mgk -o cut.tsv");
    assert!(ran.stderr.contains("count with --min-count 1"), "{}", ran.stderr);
}
