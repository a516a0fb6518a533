//! Several databases used together have the candidates of one of all genomes; where they cannot, the difference is
//! counted.

use std::fs;
use std::path::Path;

use merganser_classify::{
    BuildConfig, Database, Params, PartConfig, Preset, QueryParams, SharedClassifier, Thresholds,
    build, build_in_memory,
};
use merganser_io::{AtomicFile, Input};
use merganser_run::{Cancel, Context, DeviceChoice};
use merganser_taxonomy::Rank;
use merganser_test_random::Random;

use super::comparable::comparable;
use super::{candidates, params, reads, reference};

pub(super) fn context() -> Context {
    Context::new().device(DeviceChoice::Cpu).memory(1 << 30).threads(2)
}

fn config(params: Params, parts: usize) -> BuildConfig {
    BuildConfig { parts: PartConfig { parts, max_part_size: None }, ..BuildConfig::new(params) }
}

/// Builds a database of some files, in memory or in a file.
pub(super) fn built(
    folder: &Path,
    files: &[&str],
    params: Params,
    parts: usize,
    name: &str,
) -> Database {
    let (config, context) = (config(params, parts), context());
    let genomes: Vec<Input> = files.iter().map(|file| Input::from(folder.join(file))).collect();
    match name {
        "" => build_in_memory(&config, genomes, folder, &context).unwrap().0,
        name => build(&config, genomes, folder, folder.join(name), &context).unwrap().0,
    }
}

const OPTIONS: [(Rank, usize, u32); 4] =
    [(Rank::Sequence, 2, 0), (Rank::Species, 3, 8), (Rank::Species, 4, 3), (Rank::Genus, 10, 100)];

/// Returns the number of reads whose candidates differ, over all options.
fn count_differences(one: &Database, other: &Database, reads: &[[Vec<u8>; 2]]) -> usize {
    let mut different = 0;
    for (lowest, max_candidates, near) in OPTIONS {
        let options = QueryParams { lowest, max_candidates, insert: 300, near };
        one.verify(&context()).unwrap();
        other.verify(&context()).unwrap();
        let found = [one, other].map(|database| candidates(database, options, reads));
        let same = |at: &usize| comparable(&found[0][*at]) == comparable(&found[1][*at]);
        different += (0..reads.len()).filter(|at| !same(at)).count();
    }
    different
}

#[test]
fn candidates_are_those_of_one_database_of_all_genomes() {
    for (seed, params) in [
        (1, params(Preset::MetaCache, 254)),
        (3, params(Preset::Sensitive, 254)),
        (
            5,
            Params { k: 20, sketch: 128, window: 60, stride: 60, ..params(Preset::Sensitive, 254) },
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut random = Random(seed);
        let (targets, _) = reference(folder, &mut random);
        let reads = reads(&targets, &mut random);
        for order in [["a.fa", "b.fa", "c.fa"], ["c.fa", "b.fa", "a.fa"]] {
            for (parts, in_files) in [(1, true), (3, true), (2, false)] {
                let name = |name: &str| if in_files { name.to_owned() } else { String::new() };
                let whole = built(folder, &order, params, 1, "");
                let of = |file: &str, parts| {
                    built(folder, &[file], params, parts, &name(&format!("{file}.mgdb")))
                };
                let joint =
                    Database::joined([of(order[0], parts), of(order[1], 1), of(order[2], 2)]);
                let joint = joint.unwrap();
                assert_eq!(joint.targets(), whole.targets());
                assert!(joint.is_joint() && joint.parts() > 3, "{}", joint.parts());
                assert_eq!((joint.overfull(), whole.overfull()), (0, 0));
                assert_eq!(
                    count_differences(&whole, &joint, &reads),
                    0,
                    "{seed} {order:?} {parts}"
                );
                compare_verdicts(whole, joint, &reads);
            }
        }
    }
}

/// Compares classification in memory, with and without a confidence, for which features are looked up one by one.
fn compare_verdicts(whole: Database, joint: Database, reads: &[[Vec<u8>; 2]]) {
    let of = Thresholds::new(whole.params());
    let both = [whole, joint].map(std::sync::Arc::new);
    for confidence in [0.0, 0.3] {
        let [whole, joint] = both.each_ref().map(|database| {
            let thresholds = Thresholds { confidence, ..of };
            let database = std::sync::Arc::clone(database);
            let classifier = SharedClassifier::new(database, thresholds, &context()).unwrap();
            let views = reads.iter().map(|[a, b]| (&a[..], &b[..]));
            let found = classifier.classify(views).unwrap();
            let of = |taxon: merganser_classify::Taxon<'_>| (taxon.taxid, taxon.rank, taxon.hits);
            found.into_iter().map(|found| found.map(of)).collect::<Vec<_>>()
        });
        assert!(whole.iter().flatten().count() > reads.len() / 3);
        assert_eq!(whole, joint);
    }
}

/// Writes references, and returns parameters that keep three locations of a feature, and reads.
fn with_few_locations(folder: &Path) -> (Params, Vec<[Vec<u8>; 2]>) {
    let mut random = Random(2);
    let (targets, _) = reference(folder, &mut random);
    (params(Preset::MetaCache, 3), reads(&targets, &mut random))
}

/// A database keeps the first locations of a feature: one of all genomes fewer than several together.
#[test]
fn features_keep_locations_in_each_database() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (params, reads) = with_few_locations(folder);
    let whole = built(folder, &["a.fa", "b.fa", "c.fa"], params, 1, "");
    let joint = ["a.fa", "b.fa", "c.fa"].map(|file| built(folder, &[file], params, 1, ""));
    let joint = Database::joined(joint).unwrap();
    assert_eq!((whole.overfull(), whole.locations()), (280, 2070));
    assert_eq!((joint.overfull(), joint.locations()), (146, 2740));
    // Of 150 reads with four options.
    assert_eq!(count_differences(&whole, &joint, &reads), 499);
}

/// The locations of the parts of a split database were chosen over all genomes.
#[test]
fn the_parts_of_a_split_database_are_the_whole_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (params, reads) = with_few_locations(folder);
    let whole = built(folder, &["a.fa", "b.fa", "c.fa"], params, 3, "whole.mgdb");
    let split = |part: usize| {
        let file = folder.join(format!("{part}.mgdb"));
        let file = AtomicFile::create(&file).unwrap();
        whole.split(part, file, 1, &Cancel::default()).unwrap()
    };
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let joint = Database::joined(order.map(split)).unwrap();
        assert_eq!(joint.targets(), whole.targets());
        assert_eq!(count_differences(&whole, &joint, &reads), 0, "{order:?}");
    }
    // One of them twice has its targets twice.
    let twice = Database::joined([0, 1, 1].map(split)).unwrap();
    assert_eq!(twice.targets().len(), 2 * whole.targets().len());
}

#[test]
fn databases_of_other_sketches_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    reference(folder, &mut Random(2));
    let one = || built(folder, &["a.fa"], params(Preset::Sensitive, 254), 1, "a.mgdb");
    let refused = |params: Params, said: &str| {
        let other = built(folder, &["c.fa"], params, 1, "c.mgdb");
        let message = Database::joined([one(), other]).unwrap_err().to_string();
        assert!(message.contains("a.mgdb and ") && message.ends_with(said), "{message}");
    };
    let same = params(Preset::Sensitive, 254);
    refused(
        Params { k: 21, stride: 254, ..same },
        "c.mgdb cannot be used together: k is 19 and 21, the window stride is 256 and 254",
    );
    refused(
        Params { max_locations: 3, ..same },
        ": the number of locations a feature keeps is 254 and 3",
    );
    refused(
        params(Preset::MetaCache, 254),
        ": the preset is sensitive and metacache, k is 19 and 16, the sketch size is 128 and 16, the window length is 274 \
         and 127, the window stride is 256 and 112, the density is 100 and 256",
    );
    let message = Database::joined([]).unwrap_err().to_string();
    assert_eq!(message, "there is no database");
    assert!(!Database::joined([one()]).unwrap().is_joint());
    let joint = || {
        let other = built(folder, &["c.fa"], same, 1, "c.mgdb");
        Database::joined([one(), other]).unwrap()
    };
    let message = Database::joined([one(), joint()]).unwrap_err().to_string();
    assert!(message.ends_with("several databases already: join all at once"), "{message}");
    // Files that are damaged are found when they are used.
    let joint = joint();
    let mut bytes = fs::read(folder.join("c.mgdb")).unwrap();
    bytes[5000] ^= 1;
    fs::write(folder.join("c.mgdb"), bytes).unwrap();
    let message = joint.check(1, &Cancel::default()).unwrap_err().to_string();
    assert!(message.contains("c.mgdb: table ") && message.contains("damaged"), "{message}");
}
