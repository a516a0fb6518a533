//! The reads that each of several databases supports are those of a plain rule: a sequence in the clade of the read's
//! taxon has a feature of the read.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use merganser_classify::{Database, Outputs, Params, Preset, RunConfig, VerdictConfig, run_with};
use merganser_io::{Input, ReadInput};
use merganser_kraken2::Kraken2Config;
use merganser_taxonomy::Rank;
use merganser_test_random::Random;

use super::joint::{built, context};
use super::{naive, params, reads, reference};

/// The files of the databases, and the numbers of their first sequences.
const FILES: [(&str, u32); 3] = [("a.fa", 0), ("b.fa", 5), ("c.fa", 6)];

fn options(lowest: Rank, confidence: f64, database_report: bool) -> RunConfig {
    let verdict = VerdictConfig { lowest: Some(lowest), ..VerdictConfig::default() };
    let kraken2 = Kraken2Config { confidence, database_report, ..Kraken2Config::default() };
    RunConfig { verdict, kraken2, ..RunConfig::default() }
}

/// Writes reads as two files of mates. Mates without bases become N.
fn write(folder: &Path, reads: &[[Vec<u8>; 2]]) -> ReadInput {
    let mut texts = [String::new(), String::new()];
    for (number, mates) in reads.iter().enumerate() {
        for (mate, text) in mates.iter().zip(&mut texts) {
            let letters = if mate.is_empty() { b"N" } else { &mate[..] };
            writeln!(text, ">r{number}\n{}", String::from_utf8_lossy(letters)).unwrap();
        }
    }
    let path = |mate: usize| folder.join(format!("{}.reads", mate + 1));
    (0..2).for_each(|mate| fs::write(path(mate), &texts[mate]).unwrap());
    ReadInput::Pair(Input::from(path(0)), Input::from(path(1)))
}

/// Returns the features of sequences.
fn features(sequences: &[Vec<u8>], params: &Params) -> HashSet<u64> {
    let windows = sequences.iter().flat_map(|letters| naive::sketches(letters, params));
    windows.flatten().collect()
}

/// Returns the node at which the report counts a read, in a run over this read alone.
fn node_of(
    database: &Database,
    folder: &Path,
    read: &[Vec<u8>; 2],
    config: &RunConfig,
) -> Option<u32> {
    let input = [write(folder, std::slice::from_ref(read))];
    let outcome = run_with(config, database, &input, &mut Outputs::default(), &context()).unwrap();
    outcome.by_genome.of_nodes().next().map(|(node, _)| node)
}

#[test]
fn reads_are_counted_for_the_databases_with_their_features() {
    for (seed, params, lowest, confidence) in [
        (1, params(Preset::MetaCache, 254), Rank::Sequence, 0.0),
        (3, params(Preset::Sensitive, 254), Rank::Species, 0.0),
        (3, params(Preset::Sensitive, 254), Rank::Genus, 0.2),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut random = Random(seed);
        let (targets, taxids) = reference(folder, &mut random);
        let reads = reads(&targets, &mut random);
        let of = |(file, _): (&str, u32), parts| built(folder, &[file], params, parts, "");
        let database =
            Database::joined([of(FILES[0], 2), of(FILES[1], 1), of(FILES[2], 1)]).unwrap();
        let tree = database.taxonomy();
        let of_targets: Vec<HashSet<u64>> =
            targets.iter().map(|target| features(std::slice::from_ref(target), &params)).collect();
        // The reads of each clade and of each taxon itself, by database.
        let mut expected = vec![[[0u64; 3]; 2]; tree.len()];
        let mut not_all = 0;
        for read in &reads {
            let Some(node) = node_of(&database, folder, read, &options(lowest, confidence, false))
            else {
                continue;
            };
            let own = features(read, &params);
            let mut supports = [false; 3];
            for (target, features) in of_targets.iter().enumerate() {
                let of_target = tree.node(taxids[target]).unwrap();
                let number = FILES.iter().rposition(|file| file.1 <= target as u32).unwrap();
                supports[number] |= tree.lca(of_target, node) == node && !own.is_disjoint(features);
            }
            assert!(supports.contains(&true));
            not_all += usize::from(supports.contains(&false));
            for above in tree.lineage(node) {
                for (number, supports) in supports.iter().enumerate() {
                    expected[above as usize][0][number] += u64::from(*supports);
                    expected[above as usize][1][number] += u64::from(*supports && above == node);
                }
            }
        }
        assert!(not_all > 20, "{not_all}");
        let input = [write(folder, &reads)];
        for threads in [1, 3] {
            let (config, context) = (options(lowest, confidence, true), context().threads(threads));
            let outcome =
                run_with(&config, &database, &input, &mut Outputs::default(), &context).unwrap();
            let mut table = Vec::new();
            outcome.by_genome.write_by_database(tree, &outcome.by_database, &mut table).unwrap();
            let table = String::from_utf8(table).unwrap();
            assert!(table.lines().count() > 4, "{table}");
            for row in table.lines().skip(1) {
                let cells: Vec<&str> = row.split('\t').collect();
                let node = tree.node(cells[0].parse().unwrap()).unwrap();
                let [clade, own] = expected[node as usize];
                let of_databases = clade.iter().zip(own).flat_map(|(clade, own)| [*clade, own]);
                let of_databases: Vec<String> = of_databases.map(|n| n.to_string()).collect();
                assert_eq!(cells[5..], of_databases, "{row}");
                assert_eq!(cells[4], outcome.by_genome.own(node).to_string());
            }
        }
    }
}
