//! Compares distributions for Bracken with a simple implementation of its rule.

use std::collections::BTreeMap;
use std::path::Path;

use merganser_io::Input;
use merganser_kraken2::Error;
use merganser_kraken2::{Kraken2Database, Kraken2Sequence};
use merganser_run::Context;
use merganser_taxreport::bracken::Distribution;

use crate::run::{self, Job};
use crate::{NODES, library};
use merganser_test_random::Random;

/// The taxid of each node except the root, with the taxid of its parent.
fn parents() -> BTreeMap<u32, u32> {
    let row = |line: &str| {
        let mut fields = line.split("\t|\t").map(|field| field.trim().parse().unwrap_or(0));
        (fields.next().unwrap(), fields.next().unwrap())
    };
    NODES.lines().map(row).filter(|&(taxid, _)| taxid != 1).collect()
}

fn lineage(parents: &BTreeMap<u32, u32>, taxid: u32) -> Vec<u32> {
    std::iter::successors(Some(taxid), |taxid| parents.get(taxid).copied()).collect()
}

/// Returns the taxon of a simulated read.
fn call(parents: &BTreeMap<u32, u32>, kmers: &[u32]) -> u32 {
    let taxa: Vec<u32> = kmers.iter().copied().filter(|&taxid| taxid > 1).collect();
    let score = |taxid: u32| {
        let own = lineage(parents, taxid);
        taxa.iter().filter(|taxid| own.contains(taxid)).count()
    };
    let most = taxa.iter().map(|&taxid| score(taxid)).max();
    let best = taxa.iter().copied().filter(|&taxid| Some(score(taxid)) == most);
    let lca = best.reduce(|one, other| {
        let own = lineage(parents, one);
        lineage(parents, other).into_iter().find(|taxid| own.contains(taxid)).unwrap()
    });
    lca.unwrap_or(u32::from(kmers.contains(&1)))
}

/// Returns the taxa of k-mers in a line of Kraken 2.
fn kmers(line: &str) -> Vec<u32> {
    let runs = line.split('\t').nth(4).unwrap().split_whitespace();
    let run = |run: &str| {
        let (taxid, count) = run.split_once(':').unwrap();
        vec![taxid.parse().unwrap_or(0); count.parse().unwrap()]
    };
    runs.flat_map(run).collect()
}

/// Computes the distribution as text from the lines that Kraken 2 writes for the library.
fn naive(lines: &str, genome_of: &dyn Fn(&str) -> u32, window: usize) -> String {
    let parents = parents();
    let mut rows: Vec<(u32, Vec<(u32, u64)>)> = Vec::new();
    let mut totals: BTreeMap<u32, u64> = BTreeMap::new();
    for line in lines.lines() {
        let genome = genome_of(line.split('\t').nth(1).unwrap());
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for kmers in kmers(line).windows(window) {
            *counts.entry(call(&parents, kmers)).or_default() += 1;
        }
        for (taxid, reads) in counts {
            *totals.entry(genome).or_default() += reads;
            if !rows.iter().any(|row| row.0 == taxid) {
                rows.push((taxid, Vec::new()));
            }
            let row = &mut rows.iter_mut().find(|row| row.0 == taxid).unwrap().1;
            match row.iter_mut().find(|share| share.0 == genome) {
                Some(share) => share.1 += reads,
                None => row.push((genome, reads)),
            }
        }
    }
    let share = |(genome, reads): &(u32, u64)| format!("{genome}:{reads}:{} ", totals[genome]);
    let row = |(taxid, row): &(u32, Vec<(u32, u64)>)| {
        format!("{taxid}\t{}\n", row.iter().map(share).collect::<String>())
    };
    let heading = "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n".to_owned();
    heading + &rows.iter().map(row).collect::<String>()
}

/// Adds a long sequence, which is read in stretches, one that is too short for a read, and one without
/// a taxid.
fn add_sequences(path: &Path, random: &mut Random) {
    let mut text = std::fs::read(path).unwrap();
    let first: Vec<u8> = text.split(|&byte| byte == b'\n').nth(1).unwrap().to_vec();
    text.extend_from_slice(b">long\n");
    for _ in 0..100 {
        text.extend_from_slice(&random.mutated(&first, 30));
    }
    text.extend_from_slice(
        b"\n>short\nACGTTAGACTACAGCATCGACTACGACTACTACTACTCGCGATATCTAGCAC\n>lost\n",
    );
    text.extend_from_slice(&first);
    std::fs::write(path, text).unwrap();
}

#[test]
fn distributions_are_those_of_the_rule() {
    if !run::installed("kraken2") || !run::installed("kraken2-build") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    library(folder.path(), &mut Random(5));
    run::build(folder.path(), "");
    let path = folder.path().join("library/added/all.fna");
    add_sequences(&path, &mut Random(6));
    let genome = |name: &str| match name {
        "s0" | "s3" => 11,
        "s1" => 12,
        "s2" | "short" => 21,
        _ => 20,
    };
    let lines = run::judge(&Job::new(folder.path(), vec![path.clone()]), "").0;
    let kept: String = lines
        .lines()
        .filter(|line| !line.contains("\tlost\t"))
        .map(|line| format!("{line}\n"))
        .collect();
    let database = Kraken2Database::open(folder.path()).unwrap();
    let inputs = [Input::File(path)];
    let taxids = |sequences: &[Kraken2Sequence]| {
        let taxid = |one: &Kraken2Sequence| (one.name() != "lost").then(|| genome(one.name()));
        Ok(sequences.iter().map(taxid).collect())
    };
    let distribution = |read_length: usize, threads: usize| -> Result<Distribution, Error> {
        let context = Context::new().threads(threads);
        let library = (&inputs[..], &taxids as _);
        merganser_kraken2::distribution(&database, library, read_length, &context)
    };
    for read_length in [35, 60, 150] {
        let expected = naive(&kept, &genome, read_length - 34);
        assert!(expected.lines().count() > 5, "{expected}");
        for threads in [1, 2, 5] {
            let own = distribution(read_length, threads).unwrap();
            assert_eq!(own.text(), expected, "{read_length}");
            assert_eq!(own.unmapped, ["lost"]);
        }
    }
    let short = distribution(34, 1).unwrap_err().to_string();
    assert!(
        short.starts_with("a read length of 34 is out of range: 35, the database's k"),
        "{short}"
    );
}
