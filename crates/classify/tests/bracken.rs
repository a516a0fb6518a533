//! Compares Bracken's distributions for merganser databases with counts from classifying every stretch of every
//! sequence as a read.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test ends by panicking")]

#[allow(dead_code, reason = "other tests use more of it")]
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use merganser_classify::bracken;
use merganser_classify::{
    BuildConfig, Database, Error, Params, PartConfig, Preset, build_in_memory,
};
use merganser_classify::{Outputs, RunConfig, run_with};
use merganser_io::{Input, ReadInput};
use merganser_run::Context;
use merganser_taxreport::bracken::Distribution;
use merganser_test_random::Random;

const NODES: &str = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n10\t|\t2\t|\tgenus\t|\n\
    20\t|\t2\t|\tgenus\t|\n11\t|\t10\t|\tspecies\t|\n12\t|\t10\t|\tspecies\t|\n\
    13\t|\t11\t|\tstrain\t|\n14\t|\t11\t|\tstrain\t|\n21\t|\t20\t|\tspecies\t|\n";

/// A sequence: its name, its taxid and its letters.
type Sequence = (&'static str, u32, Vec<u8>);

/// Returns strains and species that share more or less of their sequence: one with a repeat and with N, a short
/// one, one without a taxon, and two with the same name.
fn sequences() -> Vec<Sequence> {
    let mut random = Random(3);
    let ancestor = random.bases(2500);
    let mut repeats = random.bases(150).repeat(4);
    repeats.extend_from_slice(&ancestor[..400]);
    repeats.extend(random.mutated(&ancestor[400..1000], 10));
    let mut like = |shared: usize, one_in: usize| {
        [&ancestor[..shared], &random.mutated(&ancestor[shared..], one_in)].concat()
    };
    vec![
        ("a", 13, like(2000, 400)),
        ("b", 14, like(1300, 60)),
        ("c", 12, like(700, 30)),
        ("d", 21, repeats),
        ("e", 21, random.bases(80)),
        ("f", 99, random.mutated(&ancestor[..600], 50)),
        ("a", 12, random.bases(700)),
    ]
}

fn database(folder: &Path, params: Params, parts: usize) -> Database {
    database_of(&sequences(), folder, params, parts)
}

fn database_of(sequences: &[Sequence], folder: &Path, params: Params, parts: usize) -> Database {
    let mut text = String::new();
    for (name, taxid, letters) in sequences {
        writeln!(text, ">{name} taxid|{taxid}\n{}", String::from_utf8_lossy(letters)).unwrap();
    }
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

/// Classifies a read from each position of a sequence, and counts them by taxid.
fn naive(database: &Database, folder: &Path, letters: &[u8], length: usize) -> BTreeMap<u32, u64> {
    let path = folder.join("reads.fa");
    let reads = letters.windows(length);
    let text: Vec<u8> = reads.flat_map(|read| [b">r\n", read, b"\n"].concat()).collect();
    fs::write(&path, text).unwrap();
    let context = Context::new().threads(2);
    let config = RunConfig::default();
    let (reads, mut none) = ([ReadInput::Single(Input::File(path))], Outputs::default());
    let found = run_with(&config, database, &reads, &mut none, &context).unwrap();
    let tree = database.taxonomy();
    let of_nodes = (0..tree.len() as u32).map(|node| (tree.taxid(node), found.by_genome.own(node)));
    let mut counts: BTreeMap<u32, u64> = of_nodes.collect();
    counts.insert(0, found.by_genome.unclassified());
    counts.retain(|_, reads| *reads > 0);
    counts
}

/// Formats the distribution from the counts of all sequences.
fn text(counts: &[(u32, BTreeMap<u32, u64>)]) -> String {
    let mut mapped: Vec<u32> = Vec::new();
    for taxid in counts.iter().flat_map(|(_, counts)| counts.keys()) {
        if !mapped.contains(taxid) {
            mapped.push(*taxid);
        }
    }
    let reads = |genome: u32, of: &dyn Fn(&BTreeMap<u32, u64>) -> u64| -> u64 {
        counts.iter().filter(|one| one.0 == genome).map(|one| of(&one.1)).sum()
    };
    let mut text = "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n".to_owned();
    for taxid in mapped {
        write!(text, "{taxid}\t").unwrap();
        let mut genomes: Vec<u32> = Vec::new();
        for (genome, _) in counts.iter().filter(|(_, counts)| counts.contains_key(&taxid)) {
            if !genomes.contains(genome) {
                genomes.push(*genome);
            }
        }
        for genome in genomes {
            let own = reads(genome, &|counts| counts.get(&taxid).copied().unwrap_or(0));
            let total = reads(genome, &|counts| counts.values().sum());
            write!(text, "{genome}:{own}:{total} ").unwrap();
        }
        text.push('\n');
    }
    text
}

fn distribution(
    database: &Database,
    folder: &Path,
    length: usize,
    threads: usize,
) -> Result<Distribution, Error> {
    let context = Context::new().threads(threads);
    bracken::distribution(database, &[Input::File(folder.join("g.fa"))], length, &context)
}

#[test]
fn distributions_are_those_of_classified_reads() {
    let small = Params { k: 9, sketch: 6, window: 40, stride: 25, ..Preset::MetaCache.params() };
    let few = Params { max_locations: 2, density: 150, stride: 13, ..small };
    let overlapping = Params { stride: 5, sketch: 12, ..Preset::Sensitive.params() };
    for (params, lengths) in [
        (Preset::Sensitive.params(), vec![100, 300]),
        (Preset::MetaCache.params(), vec![16, 80, 150]),
        (small, vec![9, 40, 101]),
        (few, vec![60]),
        (overlapping, vec![290]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for (parts, length) in lengths.into_iter().flat_map(|length| [(1, length), (3, length)]) {
            let database = database(folder, params, parts);
            let of =
                |(_, taxid, letters): Sequence| (taxid, naive(&database, folder, &letters, length));
            let known = sequences().into_iter().filter(|one| one.1 != 99);
            let expected = text(&known.map(of).collect::<Vec<_>>());
            let unclassified = length == params.k as usize;
            assert!(unclassified || expected.lines().count() > 4, "{params:?} {length} {expected}");
            for threads in [1, 3] {
                let own = distribution(&database, folder, length, threads).unwrap();
                assert_eq!(own.text(), expected, "{params:?} {parts} {length}");
                assert_eq!(own.unmapped, ["f"]);
            }
        }
    }
}

#[test]
fn long_sequences_come_in_stretches() {
    let folder = tempfile::tempdir().unwrap();
    let (mut letters, mut random, mut sequences) = (Vec::new(), Random(8), sequences());
    while letters.len() < 1_200_000 {
        letters.extend(random.bases(50_000));
        letters.extend(random.mutated(&sequences[1].2, 70));
    }
    sequences[1].2.clone_from(&letters);
    let database = database_of(&sequences, folder.path(), Preset::Sensitive.params(), 1);
    fs::write(folder.path().join("g.fa"), [b">b\n", &letters[..], b"\n"].concat()).unwrap();
    let expected = text(&[(14, naive(&database, folder.path(), &letters, 120))]);
    assert_eq!(distribution(&database, folder.path(), 120, 2).unwrap().text(), expected);
    let short = distribution(&database, folder.path(), 18, 1).unwrap_err().to_string();
    assert!(
        short.starts_with("a read length of 18 is out of range: 19, the database's k"),
        "{short}"
    );
}
