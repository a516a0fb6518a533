//! Compares all hits of reads, features by taxon and covered windows with the naive oracle, for random references
//! in one part and in three.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test ends by panicking")]

#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
#[path = "../src/naive.rs"]
mod naive;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use merganser_classify::{
    BuildConfig, Candidate, Database, Params, PartConfig, Preset, QueryParams, build_in_memory,
};
use merganser_classify::{Columns, LineFormat, Outputs, RunConfig, run_with};
use merganser_io::{Input, ReadInput};
use merganser_kraken2::Kraken2Config;
use merganser_run::Context;
use merganser_taxreport::report::ReportOptions;
use merganser_test_random::Random;

const NODES: &str = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n10\t|\t2\t|\tgenus\t|\n\
    20\t|\t2\t|\tgenus\t|\n11\t|\t10\t|\tspecies\t|\n12\t|\t10\t|\tspecies\t|\n\
    21\t|\t20\t|\tspecies\t|\n";

fn random(count: usize, seed: u64) -> Vec<u8> {
    Random(seed).bases(count)
}

/// Returns six targets of three species; neighbours share much of their sequence.
fn targets() -> Vec<(Vec<u8>, u32)> {
    let common = random(1500, 1);
    let target = |number: usize| {
        let mut letters = common[200 * number..].to_vec();
        letters.extend(random(700 + 100 * number, 7 + number as u64));
        (letters, [11, 12, 21][number % 3])
    };
    (0..6).map(target).collect()
}

fn database(folder: &Path, params: Params, parts: usize) -> Database {
    let text: String = targets()
        .iter()
        .enumerate()
        .map(|(at, (letters, taxid))| {
            format!(">t{at}|taxid|{taxid}\n{}\n", String::from_utf8_lossy(letters))
        })
        .collect();
    fs::write(folder.join("nodes.dmp"), NODES).unwrap();
    fs::write(folder.join("names.dmp"), "").unwrap();
    fs::write(folder.join("g.fa"), text).unwrap();
    let (config, context) = (
        BuildConfig {
            parts: PartConfig { parts, max_part_size: None },
            ..BuildConfig::new(params)
        },
        Context::new(),
    );
    let inputs = [Input::File(folder.join("g.fa"))];
    build_in_memory(&config, &inputs, folder, &context).unwrap().0
}

#[test]
fn hits_and_features_are_the_oracles() {
    for params in [
        Preset::MetaCache.params(),
        Preset::Sensitive.params(),
        Params {
            k: 9,
            sketch: 20,
            window: 60,
            stride: 30,
            max_locations: 3,
            ..Preset::MetaCache.params()
        },
    ] {
        let folder = tempfile::tempdir().unwrap();
        let sequences: Vec<Vec<u8>> = targets().into_iter().map(|(letters, _)| letters).collect();
        let reads: Vec<Vec<u8>> = (0..60)
            .map(|read| {
                let own = &sequences[read % 6];
                let start = read * 23 % (own.len() - 300);
                own[start..start + 40 + 4 * read].to_vec()
            })
            .chain([b"ACGT".to_vec(), random(200, 99)])
            .collect();
        let text: String =
            reads.iter().map(|read| format!(">r\n{}\n", String::from_utf8_lossy(read))).collect();
        fs::write(folder.path().join("r.fa"), text).unwrap();
        for parts in [1, 3] {
            let database = database(folder.path(), params, parts);
            let (lines, report) = run(&database, folder.path());
            let reference = naive::Reference::new(&sequences, &params);
            assert_eq!(lines, expected_hits(&reference, &reads, &params), "{params:?} {parts}");
            let expected = expected_features(&database, &reference, &reads, &params);
            assert_eq!(report, expected, "{params:?} {parts}");
        }
    }
}

/// Returns the column of all hits of each read, and the report as taxid → (features, distinct features).
fn run(database: &Database, folder: &Path) -> (Vec<String>, BTreeMap<u32, (u64, u64)>) {
    let config = RunConfig {
        format: LineFormat::MetaCache,
        columns: Columns { allhits: true, separator: "\t".into(), ..Columns::default() },
        kraken2: Kraken2Config { report_minimizer_data: true, ..Kraken2Config::default() },
        ..RunConfig::default()
    };
    let context = Context::new().threads(2);
    let segments = [ReadInput::Single(Input::File(folder.join("r.fa")))];
    let mut text = Vec::new();
    let mut outputs = Outputs { lines: Some(&mut text), ..Outputs::default() };
    let result = run_with(&config, database, &segments, &mut outputs, &context).unwrap();
    let text = String::from_utf8(text).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let lines = rows.map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect();
    let mut report = Vec::new();
    let options = ReportOptions { zero_counts: true, features: result.features.as_ref() };
    result.tally.write_kraken(database.taxonomy(), options, &mut report).unwrap();
    let report = String::from_utf8(report).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| cells[at].parse::<u64>().unwrap();
        (number(6) as u32, (number(3), number(4)))
    };
    (lines, report.lines().skip(1).map(row).collect())
}

fn expected_hits(reference: &naive::Reference, reads: &[Vec<u8>], params: &Params) -> Vec<String> {
    let taxids: Vec<u32> = targets().into_iter().map(|(_, taxid)| taxid).collect();
    let line = |read: &Vec<u8>| {
        let mut hits: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for feature in naive::sketches(read, params).iter().flatten() {
            for &at in reference.locations.get(feature).into_iter().flatten() {
                *hits.entry(at).or_default() += 1;
            }
        }
        let show = |((target, window), count): (&(u32, u32), &u32)| {
            format!("t{target}|taxid|{}/{window}:{count},", taxids[*target as usize])
        };
        hits.iter().map(show).collect()
    };
    reads.iter().map(line).collect()
}

/// Counts features by clade, following the definition.
fn expected_features(
    database: &Database,
    reference: &naive::Reference,
    reads: &[Vec<u8>],
    params: &Params,
) -> BTreeMap<u32, (u64, u64)> {
    let tree = database.taxonomy();
    let mut counts: BTreeMap<u32, (u64, u64)> =
        (0..tree.len() as u32).map(|node| (tree.taxid(node), (0, 0))).collect();
    let mut seen = BTreeSet::new();
    for feature in reads.iter().flat_map(|read| naive::sketches(read, params)).flatten() {
        let Some(locations) = reference.locations.get(&feature) else { continue };
        let nodes = locations.iter().map(|at| database.targets()[at.0 as usize].node);
        let taxon = nodes.reduce(|a, b| tree.lca(a, b)).unwrap();
        let new = u64::from(seen.insert(feature));
        for node in tree.lineage(taxon) {
            let (all, distinct) = counts.get_mut(&tree.taxid(node)).unwrap();
            *all += 1;
            *distinct += new;
        }
    }
    counts
}
