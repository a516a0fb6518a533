//! Compares masking with `dustmasker`, and databases of references that are masked while they are read with
//! databases of references that were masked before.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs, reason = "a test")]

#[allow(dead_code, reason = "other tests compare candidates")]
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use merganser_classify::{BuildConfig, BuildOutcome, Params, Preset, build_with};
use merganser_io::AtomicFile;
use merganser_library::expand_references;
use merganser_run::{Context, DeviceChoice};
use merganser_seq::masking::Masking;

use merganser_test_random::Random;

/// Returns random letters that contain repeats.
fn untidy(random: &mut Random, least: usize) -> Vec<u8> {
    let mut letters = Vec::new();
    while letters.len() < least {
        let some = random.below(300);
        letters.extend(random.bases(some));
        let unit = 1 + random.below(6);
        letters.extend(random.bases(unit).repeat(random.below(40)));
        // Repeats with many mutations.
        let repeat = random.bases(unit).repeat(30);
        let noise = 3 + random.below(20);
        letters.extend(random.mutated(&repeat, noise).iter().map(|&letter| match letter {
            b'N' => b'G',
            other => other,
        }));
    }
    letters
}

/// Formats the masked intervals as `dustmasker` does: the name, then `FIRST - LAST` for each interval, from 0.
fn intervals(sequences: &[(String, Vec<u8>)]) -> String {
    let mut text = String::new();
    for (name, letters) in sequences {
        text += &format!(">{name}\n");
        let mut masked = letters.clone();
        Masking::LowComplexity.mask(&mut masked);
        let is_masked = |at: usize| masked.get(at).is_some_and(|&letter| letter != letters[at]);
        let mut at = 0;
        while at < letters.len() {
            let len = (at..).take_while(|&at| is_masked(at)).count();
            if len > 0 {
                text += &format!("{at} - {}\n", at + len - 1);
            }
            at += len.max(1);
        }
    }
    text
}

fn is_installed() -> bool {
    let installed = Command::new("dustmasker").arg("-version-full").output().is_ok();
    if !installed {
        eprintln!("skipped: dustmasker is not installed");
    }
    installed
}

#[track_caller]
fn assert_dustmasker_says(sequences: &[(String, Vec<u8>)]) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let record = |(name, letters): &(String, Vec<u8>)| {
        format!(">{name}\n{}\n", String::from_utf8_lossy(letters))
    };
    fs::write(file.path(), sequences.iter().map(record).collect::<String>()).unwrap();
    let said = Command::new("dustmasker").arg("-in").arg(file.path()).output().unwrap();
    assert!(said.status.success());
    assert!(intervals(sequences) == String::from_utf8(said.stdout).unwrap());
}

#[test]
fn masks_what_dustmasker_does() {
    if !is_installed() {
        return;
    }
    let mut random = Random(1);
    let lengths = (0..300).map(|number| if number < 70 { number } else { number * 7 });
    let sequence = |(number, length): (usize, usize)| {
        let mut letters = untidy(&mut random, length.max(1));
        letters.truncate(length.max(1));
        (format!("s{number}"), letters)
    };
    assert_dustmasker_says(&lengths.enumerate().map(sequence).collect::<Vec<_>>());
}

fn genomes(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "gz")).collect();
    paths.sort();
    paths
}

fn sequences(path: &Path) -> Vec<(String, Vec<u8>)> {
    let text = std::io::read_to_string(merganser_io::open_text(path).unwrap()).unwrap();
    let record = |record: &str| {
        let (header, letters) = record.split_once('\n')?;
        let name = header.split_whitespace().next()?.to_owned();
        Some((name, letters.bytes().filter(u8::is_ascii_alphabetic).collect()))
    };
    text.split('>').filter_map(record).collect()
}

fn test_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

/// The expected intervals are from `dustmasker` 1.0.0 of NCBI's C++ toolkit (BLAST+ 2.12.0).
#[test]
fn masks_what_dustmasker_did() {
    let all: Vec<_> =
        genomes(&test_data().join("genomes")).iter().flat_map(|path| sequences(path)).collect();
    assert_eq!(intervals(&all), fs::read_to_string(test_data().join("dustmasker.txt")).unwrap());
}

#[test]
fn masks_genomes_as_dustmasker_does() {
    let folder = test_data().join("../../../shared/data/genomes");
    if !is_installed() || !folder.exists() {
        return;
    }
    let mut paths = genomes(&folder);
    paths.retain(|path| fs::metadata(path).unwrap().len() < 1_000_000);
    let mut all: Vec<_> = paths.iter().flat_map(|path| sequences(path)).collect();
    // `dustmasker` treats other letters by rules of its own.
    all.retain(|(_, letters)| letters.iter().all(|letter| b"ACGTacgt".contains(letter)));
    assert_dustmasker_says(&all);
}

fn database(path: &Path, params: Params, threads: usize) -> (Vec<u8>, BuildOutcome) {
    let folder = path.parent().unwrap();
    let context = Context::new().device(DeviceChoice::Cpu).threads(threads).memory(1 << 30);
    let inputs = expand_references(&[path.to_owned()]).unwrap();
    let file = folder.join("built.mgdb");
    let output = AtomicFile::create(&file).unwrap();
    let config = BuildConfig::new(params);
    let built = build_with(&config, &inputs, folder, output, &context);
    let (database, outcome) = built.unwrap();
    assert_eq!(*database.params(), params);
    (fs::read(file).unwrap(), outcome)
}

/// Sequences span several chunks, whose masking depends on the neighbouring chunks.
#[test]
fn masking_while_building_gives_what_masking_before_gives() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let nodes = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tspecies\t|\n";
    fs::write(path("nodes.dmp"), nodes).unwrap();
    fs::write(path("names.dmp"), "1\t|\troot\t|\t\t|\tscientific name\t|\n").unwrap();
    let mut random = Random(5);
    let mut targets: Vec<Vec<u8>> =
        [9_000_000, 10, 4_000_000, 300].map(|least| untidy(&mut random, least)).into();
    // A sequence that is masked completely.
    targets.insert(2, b"AAC".repeat(400));
    let write = |name: &str, targets: &[Vec<u8>]| {
        let record = |(number, letters): (usize, &Vec<u8>)| {
            format!(">t{number} taxid|2\n{}\n", String::from_utf8_lossy(letters))
        };
        fs::write(path(name), targets.iter().enumerate().map(record).collect::<String>()).unwrap();
    };
    write("raw.fa", &targets);
    targets.iter_mut().for_each(|letters| Masking::LowComplexity.mask(letters));
    write("before.fa", &targets);
    for params in [
        Preset::Sensitive.params(),
        Params { window: 20, stride: 20, k: 16, ..Preset::MetaCache.params() },
    ] {
        let (mut expected, outcome) = database(&path("before.fa"), params, 1);
        assert_eq!(outcome.without_kmer, (1, Some("t2".to_owned())));
        for threads in [1, 3] {
            let params = Params { masking: Masking::LowComplexity, ..params };
            let (mut own, found) = database(&path("raw.fa"), params, threads);
            assert_eq!(found.without_kmer, outcome.without_kmer);
            assert_eq!(own[52..56], [1, 0, 0, 0]);
            // Ignore the masking field and the checksum of the header.
            for bytes in [&mut own, &mut expected] {
                bytes[52..56].fill(0);
                bytes[148..152].fill(0);
            }
            assert!(own == expected, "{params:?}, {threads} threads");
        }
    }
}
