//! Compares databases of random references with the naive oracle: in memory, on disk, in parts, spilled and added
//! to; every read, every candidate.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test ends by panicking")]

mod comparable;
#[path = "oracle/joint.rs"]
mod joint;

#[allow(dead_code, unreachable_pub, reason = "other tests use it, too")]
#[path = "../src/naive.rs"]
mod naive;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use merganser_classify::{
    Additions, BuildConfig, Candidate, Database, Params, PartConfig, Preset, Query, QueryParams,
    SharedClassifier, Thresholds, Verdict, add_with, build_in_memory, build_with,
};
use merganser_io::{AtomicFile, OutputSet};
use merganser_library::expand_references;
use merganser_run::{Context, DeviceChoice};
use merganser_seq::masking::Masking;
use merganser_taxonomy::Rank;

use comparable::comparable;
use merganser_test_random::Random;

/// Families 3, 4; genera 10, 20; species 11, 12, 21; strains 111, 112, 211, 212.
const NODES: &str = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n3\t|\t2\t|\tfamily\t|\n\
    4\t|\t2\t|\tfamily\t|\n10\t|\t3\t|\tgenus\t|\n20\t|\t4\t|\tgenus\t|\n11\t|\t10\t|\tspecies\t|\n12\t|\t10\t|\tspecies\t|\n\
    21\t|\t20\t|\tspecies\t|\n111\t|\t11\t|\tstrain\t|\n112\t|\t11\t|\tstrain\t|\n\
    211\t|\t21\t|\tstrain\t|\n212\t|\t21\t|\tstrain\t|\n";
const NAMES: &str = "1\t|\troot\t|\t\t|\tscientific name\t|\n2\t|\tB\t|\t\t|\tscientific name\t|\n";

/// Writes a taxonomy and references in three files. Returns the sequences and their taxids.
fn reference(folder: &Path, random: &mut Random) -> (Vec<Vec<u8>>, Vec<u32>) {
    fs::write(folder.join("nodes.dmp"), NODES).unwrap();
    fs::write(folder.join("names.dmp"), NAMES).unwrap();
    let ancestor = random.bases(3000);
    let mut targets = Vec::new();
    let mut taxids = Vec::new();
    for number in 0..12 {
        let mut letters = random.mutated(&ancestor, 10 + 10 * number);
        letters.truncate(random.below(3000));
        // A repeat, so that features have many locations.
        letters.extend_from_slice(&ancestor[..200].repeat(random.below(4)));
        // Regions of low complexity.
        if number % 3 == 0 {
            letters.extend(random.bases(1 + number / 2).repeat(20));
            letters.extend(random.bases(100));
        }
        targets.push(letters);
        taxids.push([11, 12, 21, 111, 12, 211, 112, 12, 212][number % 9]);
    }
    for (file, range) in [("a.fa", 0..5), ("b.fa", 5..6), ("c.fa", 6..12)] {
        let mut text = String::new();
        for at in range {
            let letters = String::from_utf8(targets[at].clone()).unwrap();
            text += &format!(">t{at}|kraken:taxid|{} some words\n", taxids[at]);
            let lines: Vec<&str> =
                letters.as_bytes().chunks(61).map(|l| std::str::from_utf8(l).unwrap()).collect();
            text += &(lines.join("\n") + "\n");
        }
        fs::write(folder.join(file), text).unwrap();
    }
    (targets, taxids)
}

fn reads(targets: &[Vec<u8>], random: &mut Random) -> Vec<[Vec<u8>; 2]> {
    let piece = |random: &mut Random| {
        let target = &targets[random.below(targets.len())];
        let start = random.below(target.len().max(1));
        let end = (start + random.below(400)).min(target.len());
        random.mutated(&target[start..end], 40)
    };
    (0..150)
        .map(|number| {
            let first = piece(random);
            let second = if number % 2 == 0 { Vec::new() } else { piece(random) };
            [first, second]
        })
        .collect()
}

fn candidates(
    database: &Database,
    options: QueryParams,
    reads: &[[Vec<u8>; 2]],
) -> Vec<Vec<Candidate>> {
    // Groups of one read, of some reads, of all reads.
    let group = [0, 300, 1 << 18][options.max_candidates % 3];
    let query = Query::new(database, options).with_group(group);
    let mut scratch = query.scratch();
    let views: Vec<[&[u8]; 2]> = reads.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
    let (mut all, mut ends) = (Vec::new(), Vec::new());
    query.candidates(&views, &mut scratch, &mut all, &mut ends);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, &end)| all[start..end].to_vec()).collect()
}

fn params(preset: Preset, max_locations: u32) -> Params {
    Params { max_locations, ..preset.params() }
}

#[test]
fn every_candidate_of_every_read_is_the_oracles() {
    let mut pooled = 0;
    for (seed, params) in [
        (1, params(Preset::MetaCache, 254)),
        (2, params(Preset::MetaCache, 3)),
        (3, params(Preset::Sensitive, 254)),
        (4, Params { k: 7, sketch: 5, window: 40, stride: 13, ..params(Preset::MetaCache, 9) }),
        (5, Params { k: 20, sketch: 128, window: 60, stride: 60, ..params(Preset::Sensitive, 20) }),
        (6, Params { masking: Masking::LowComplexity, ..params(Preset::Sensitive, 254) }),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(seed);
        let (targets, taxids) = reference(folder.path(), &mut random);
        let reads = reads(&targets, &mut random);
        let mut masked = targets.clone();
        masked.iter_mut().for_each(|letters| params.masking.mask(letters));
        assert_eq!(masked != targets, params.masking != Masking::None);
        let oracle = naive::Reference::new(&masked, &params);
        let inputs = expand_references(&[folder.path().to_owned()]).unwrap();
        let path = |name: &str| -> PathBuf { folder.path().join(name) };
        let config = |parts| BuildConfig {
            parts: PartConfig { parts, max_part_size: None },
            ..BuildConfig::new(params)
        };
        let context = |threads| {
            let context = Context::new().device(DeviceChoice::Cpu).memory(1 << 30);
            context.threads(threads).temp_dir(folder.path())
        };
        let mut databases = Vec::new();
        for (threads, parts) in [(1, 1), (3, 1), (2, 4)] {
            let (config, context) = (config(parts), context(threads));
            let file = path(&format!("{threads}-{parts}.mgdb"));
            let taxonomy = folder.path();
            let file = AtomicFile::create(&file).unwrap();
            let built = build_with(&config, &inputs, taxonomy, file, &context);
            databases.push(built.unwrap().0);
            let built = build_in_memory(&config, &inputs, taxonomy, &context);
            databases.push(built.unwrap().0);
        }
        let bytes = |name: &str| fs::read(path(name)).unwrap();
        assert!(bytes("1-1.mgdb") == bytes("3-1.mgdb"), "one thread or three");
        let few = AtomicFile::create(&path("few.mgdb")).unwrap();
        let (config, context) = (config(1), context(2));
        let old = &inputs[..2];
        let base = build_with(&config, old, folder.path(), few, &context);
        let (base, _) = base.unwrap();
        let set = OutputSet::new();
        let grown = set.file(path("grown.mgdb")).unwrap();
        let new = Additions { inputs: &inputs[2..], taxonomy: Some(&folder.path().into()) };
        let added = add_with(&config, &base, new, grown, &context);
        // The file is mapped before it appears: a file that cannot be mapped does not appear.
        added.unwrap().0.verify(&Context::new().threads(2)).unwrap();
        assert!(!path("grown.mgdb").exists());
        set.commit().unwrap();
        // It is unknown whether a feature with exactly as many locations as are kept had more: the number of
        // over-full features may differ, and with it the checksum of the header.
        let without_overfull = |name: &str| {
            let mut text = bytes(name);
            text[72..80].fill(0);
            text[148..152].fill(0);
            text
        };
        let same = without_overfull("grown.mgdb") == without_overfull("1-1.mgdb");
        assert!(same, "added to, or built at once");
        for database in &databases {
            database.verify(&Context::new().threads(2)).unwrap();
            for (lowest, max_candidates, near) in [
                (Rank::Sequence, 2, 0),
                (Rank::Species, 3, 8),
                (Rank::Species, 4, 3),
                (Rank::Genus, 10, 100),
            ] {
                let insert = seed * 100;
                let options = QueryParams { lowest, max_candidates, insert, near };
                let found = candidates(database, options, &reads);
                let nodes = database.taxonomy().len() as u32;
                let node_of =
                    |target: u32| database.taxonomy().node(taxids[target as usize]).unwrap();
                let taxon_of = |target: u32| match lowest {
                    Rank::Sequence => nodes + target,
                    rank => database.taxonomy().at_rank(node_of(target), rank).unwrap(),
                };
                for (mates, found) in reads.iter().zip(&found) {
                    let mates = [&mates[0][..], &mates[1][..]];
                    let expected = oracle.candidates(&mates, &params, &options, &|target| {
                        (taxon_of(target), node_of(target))
                    });
                    pooled += expected.iter().filter(|one| one.pooled > one.hits).count();
                    assert_eq!(
                        comparable(found),
                        comparable(&expected),
                        "seed {seed}, {lowest:?}, {} parts",
                        database.parts()
                    );
                }
            }
        }
    }
    assert!(pooled > 100, "{pooled}");
}

#[test]
fn verdicts_follow_the_thresholds() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(9);
    reference(folder.path(), &mut random);
    let inputs = expand_references(&[folder.path().to_owned()]).unwrap();
    let params = Preset::MetaCache.params();
    let (config, context) = (BuildConfig::new(params), Context::new().threads(1));
    let built = build_in_memory(&config, &inputs, folder.path(), &context);
    let database = built.unwrap().0;
    let tree = database.taxonomy();
    let nodes: Vec<u32> = database.targets().iter().map(|target| target.node).collect();
    let rule = Thresholds::new(&params);
    assert_eq!((rule.hitmin, rule.hitdiff, rule.max_cand), (5, 1000, 2));
    let decide = |hits: &[(u32, u32)]| {
        let candidate = |&(target, hits): &(u32, u32)| Candidate {
            target,
            taxon: 99,
            hits,
            pooled: hits,
            window: 0,
            last: 0,
            nodes: [0; 2],
        };
        let candidates: Vec<Candidate> = hits.iter().map(candidate).collect();
        rule.decide(&candidates, 100, tree, &nodes)
    };
    let taxon = |taxid| Verdict::Taxon(tree.node(taxid).unwrap());
    // Targets 0, 1 and 2 belong to species 11, 12 (both of genus 10) and 21.
    assert_eq!(decide(&[]), Verdict::Unclassified);
    assert_eq!(decide(&[(0, 4)]), Verdict::Unclassified);
    assert_eq!(decide(&[(0, 5)]), Verdict::Target(0));
    assert_eq!(decide(&[(0, 12), (1, 7)]), Verdict::Target(0));
    assert_eq!(decide(&[(0, 12), (1, 8)]), taxon(10));
    assert_eq!(decide(&[(0, 12), (2, 8)]), taxon(2));
    assert_eq!(decide(&[(0, 12), (3, 8)]), taxon(11));
}

#[test]
fn near_candidates_are_told_apart_by_what_their_taxa_have_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(9);
    reference(folder.path(), &mut random);
    let inputs = expand_references(&[folder.path().to_owned()]).unwrap();
    let params = Preset::Sensitive.params();
    let (config, context) = (BuildConfig::new(params), Context::new().threads(1));
    let built = build_in_memory(&config, &inputs, folder.path(), &context);
    let database = built.unwrap().0;
    let tree = database.taxonomy();
    let rule = Thresholds::new(&params);
    // A base affects 19 · 100 / 256 features, rounded up.
    assert_eq!((rule.hitmin, rule.hitmin_contested, rule.near), (5, 1, 8));
    let node = |taxid| tree.node(taxid).unwrap();
    let decide = |rule: Thresholds, found: &[(u32, u32, u32)]| {
        let candidate = |&(taxid, hits, pooled): &(u32, u32, u32)| Candidate {
            taxon: node(taxid),
            hits,
            pooled,
            ..Candidate::default()
        };
        let candidates: Vec<Candidate> = found.iter().map(candidate).collect();
        rule.decide(&candidates, 100, tree, &[])
    };
    let taxon = |taxid| Verdict::Taxon(node(taxid));
    // A species whose strains together have more features wins even with fewer hits.
    assert_eq!(decide(rule, &[(11, 20, 20), (12, 13, 21)]), taxon(12));
    // A tie with the best: their common ancestor.
    assert_eq!(decide(rule, &[(11, 20, 21), (12, 18, 21), (21, 13, 13)]), taxon(10));
    // Of another family, also one from which the read is less than twice as far: of 32 features, 21 and 14 (but not
    // 13) are matched, 14 · 32 > 21².
    assert_eq!(decide(rule, &[(11, 20, 21), (21, 14, 14)]), taxon(2));
    assert_eq!(decide(rule, &[(11, 20, 21), (12, 18, 21), (21, 14, 14)]), taxon(2));
    assert_eq!(decide(rule, &[(11, 20, 21), (21, 13, 13)]), taxon(11));
    assert_eq!(decide(rule, &[(11, 20, 21), (12, 18, 18)]), taxon(11));
    assert_eq!(decide(rule, &[(11, 7, 7), (21, 1, 1)]), taxon(11));
    assert_eq!(decide(rule, &[(11, 7, 7), (21, 2, 2)]), taxon(2));
    // A perfect match, and one of a read with more features than expected.
    assert_eq!(decide(rule, &[(11, 32, 32), (21, 31, 31)]), taxon(11));
    assert_eq!(decide(rule, &[(11, 40, 40), (21, 39, 39)]), taxon(11));
    // With a confidence of 0.1, also without 4 of the hits: 21 · 32 > (28 - 4)², but 21 · 32 < 28².
    let confident = Thresholds { confidence: 0.1, ..rule };
    assert_eq!(decide(rule, &[(11, 28, 28), (21, 21, 21)]), taxon(11));
    assert_eq!(decide(confident, &[(11, 28, 28), (21, 21, 21)]), taxon(2));
    assert_eq!(decide(confident, &[(11, 30, 30), (21, 23, 23)]), taxon(2));
    // The distances themselves, in logarithms.
    for (confidence, most, hits) in (0..3u8)
        .flat_map(|tenths| (6..=32).map(move |most| (f64::from(tenths) / 10.0, most)))
        .flat_map(|(confidence, most)| (1..most).map(move |hits| (confidence, most, hits)))
    {
        let sure = f64::from(most) - (confidence * 32.0).ceil();
        let [far, own] = [f64::from(hits), sure].map(|matched| -(matched.max(0.0) / 32.0).ln());
        let is_rival = hits + 8 > most && far < 2.0 * own;
        let rule = Thresholds { confidence, ..rule };
        let found = decide(rule, &[(11, most, most), (21, hits, hits)]);
        // At the same distance, rounding decides.
        if (far - 2.0 * own).abs() > 1e-9 {
            assert_eq!(found, taxon(if is_rival { 2 } else { 11 }), "{confidence} {most} {hits}");
        }
    }
    // Only near candidates are considered.
    assert_eq!(decide(Thresholds { near: 0, ..rule }, &[(11, 21, 21), (21, 20, 20)]), taxon(11));
    assert_eq!(decide(Thresholds { near: 2, ..rule }, &[(11, 20, 20), (21, 18, 18)]), taxon(11));
    // It has one substitution more.
    assert_eq!(decide(rule, &[(11, 20, 20), (12, 12, 21)]), taxon(11));
    assert_eq!(decide(Thresholds { near: 0, ..rule }, &[(11, 20, 20), (12, 13, 21)]), taxon(11));
    // Hits decide which candidates are near, and whether there are enough of them.
    assert_eq!(decide(rule, &[(11, 5, 9), (12, 5, 8)]), Verdict::Unclassified);
    assert_eq!(decide(rule, &[(11, 5, 5), (12, 1, 1)]), Verdict::Unclassified);
    assert_eq!(decide(rule, &[(11, 6, 6), (12, 1, 1)]), taxon(11));
    assert_eq!(decide(rule, &[(11, 5, 5)]), taxon(11));
    let loose = Thresholds { hitdiff: 500, ..rule };
    assert_eq!(decide(loose, &[(11, 40, 40), (12, 21, 21), (21, 20, 20)]), taxon(10));
    let strict = Thresholds { hitdiff: 1000, ..rule };
    assert_eq!(decide(strict, &[(11, 20, 21), (12, 20, 21)]), taxon(11));
}

#[test]
fn a_confidence_moves_taxa_up_as_kraken_does() {
    for (seed, parts, preset) in [(1, 1, Preset::Sensitive), (2, 3, Preset::MetaCache)] {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(seed);
        let (targets, taxids) = reference(folder.path(), &mut random);
        let reads = reads(&targets, &mut random);
        let inputs = expand_references(&[folder.path().to_owned()]).unwrap();
        let params = preset.params();
        let (config, context) = (
            BuildConfig {
                parts: PartConfig { parts, max_part_size: None },
                ..BuildConfig::new(params)
            },
            Context::new(),
        );
        let built = build_in_memory(&config, &inputs, folder.path(), &context);
        let database = Arc::new(built.unwrap().0);
        let tree = database.taxonomy();
        let oracle = naive::Reference::new(&targets, &params);
        let views: Vec<[&[u8]; 2]> = reads.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
        let mut moved = 0;
        let of = Thresholds::new(&params);
        let nodes: Vec<u32> = database.targets().iter().map(|target| target.node).collect();
        let query = Query::with_thresholds(&database, &of);
        let (mut candidates, mut ends) = (Vec::new(), Vec::new());
        query.candidates(&views, &mut query.scratch(), &mut candidates, &mut ends);
        for confidence in [0.1, 0.6, 0.9, 1.0] {
            let rule = Thresholds { confidence, ..of };
            let classifier = SharedClassifier::new(Arc::clone(&database), rule, &context).unwrap();
            let found = classifier.classify(views.iter().map(|[a, b]| (*a, *b))).unwrap();
            let mut start = 0;
            for ((mates, &end), found) in views.iter().zip(&ends).zip(found) {
                let bases = mates.iter().map(|mate| mate.len() as u64).sum();
                let plain = match rule.decide(&candidates[start..end], bases, tree, &nodes) {
                    Verdict::Unclassified => None,
                    Verdict::Target(target) => Some(nodes[target as usize]),
                    Verdict::Taxon(node) => Some(node),
                };
                start = end;
                let expected = plain.and_then(|first| {
                    let covered = |counts: &dyn Fn(u64) -> bool| -> usize {
                        mates.iter().map(|mate| naive::covered(mate, &params, counts).len()).sum()
                    };
                    let node_of = |feature: u64| {
                        let locations = oracle.locations.get(&feature)?.iter();
                        let node = |at: &(u32, u32)| tree.node(taxids[at.0 as usize]).unwrap();
                        locations.map(node).reduce(|a, b| tree.lca(a, b))
                    };
                    let all = covered(&|_| true) as f64;
                    let mut node = first;
                    loop {
                        let in_clade = |one: u32| tree.lineage(one).any(|above| above == node);
                        let on_lineage = |one: u32| {
                            in_clade(one) || tree.lineage(node).any(|above| above == one)
                        };
                        let own = covered(&|feature| node_of(feature).is_some_and(in_clade));
                        let line = covered(&|feature| node_of(feature).is_some_and(on_lineage));
                        if (own * (own + line)) as f64 >= 2.0 * (confidence * (all * all)) {
                            break;
                        }
                        if node == tree.root() {
                            return None;
                        }
                        node = tree.parent(node);
                    }
                    if node == first {
                        return Some(tree.taxid(first));
                    }
                    Some(tree.taxid(tree.ranked(node))).filter(|&taxid| taxid != 1)
                });
                assert_eq!(found.map(|taxon| taxon.taxid), expected, "{confidence}");
                moved += usize::from(plain.map(|node| tree.taxid(node)) != expected);
            }
        }
        assert!(moved > 50, "{moved}");
    }
}
