//! Compares databases with those that the installed `kraken2-build` makes with one thread.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use merganser_io::{Input, OutputSet};
use merganser_kraken2::Error;
use merganser_kraken2::{
    Kraken2BuildConfig, Kraken2BuildNotes, Kraken2Database, Kraken2Library, Kraken2Sequence,
};
use merganser_run::{Cancel, Context};
use merganser_seq::masking::Masking;
use merganser_taxonomy::Dump;

use crate::run::{self, Job};
use crate::{assert_same, data, library};
use merganser_test_random::Random;

/// Reads the files of a database.
fn files(folder: &Path) -> [Vec<u8>; 3] {
    ["opts.k2d", "taxo.k2d", "hash.k2d"].map(|name| std::fs::read(folder.join(name)).unwrap())
}

/// Builds a database in a temporary folder, with the taxids of a map or, if it lacks them, of the headers.
pub(crate) fn build(
    config: &Kraken2BuildConfig,
    inputs: &[PathBuf],
    (map, taxonomy): (&Path, &Path),
    context: &Context,
) -> Result<(tempfile::TempDir, Kraken2BuildNotes), Error> {
    let map = std::fs::read_to_string(map).unwrap();
    let row = |line: &str| {
        line.split_once('\t').map(|(id, taxid)| (id.to_owned(), taxid.parse().unwrap()))
    };
    let map: HashMap<String, u32> = map.lines().filter_map(row).collect();
    let taxids = |sequences: &[Kraken2Sequence]| {
        Ok(sequences.iter().map(|one| map.get(one.name()).copied().or(one.taxid())).collect())
    };
    let inputs: Vec<Input> = inputs.iter().cloned().map(Input::File).collect();
    let taxonomy = Dump::read(taxonomy)?;
    let library =
        Kraken2Library { inputs: &inputs, taxids: &taxids, taxonomy: &taxonomy, strict: false };
    let (folder, outputs) = (tempfile::tempdir().unwrap(), OutputSet::new());
    let place = (folder.path(), &outputs);
    let notes = Kraken2Database::build_with(config, library, place, context)?;
    outputs.commit()?;
    Ok((folder, notes))
}

/// Checks that two databases are equal, except for the padding of the options.
#[track_caller]
fn assert_equal(own: &Path, judge: &Path) {
    let [mut own, mut judge] = [files(own), files(judge)];
    for options in [&mut own[0], &mut judge[0]] {
        options[33..40].fill(0);
        options[60..].fill(0);
    }
    assert_eq!(own[0], judge[0], "options");
    assert!(own[1] == judge[1], "taxonomy");
    assert_eq!(own[2][..32], judge[2][..32], "header of the table");
    let differ = own[2].iter().zip(&judge[2]).filter(|(one, other)| one != other).count();
    assert_eq!((own[2].len(), differ), (judge[2].len(), 0), "bytes of the table that differ");
}

/// Options of `kraken2-build`, and the same change to our configuration.
type Case = (&'static str, fn(&mut Kraken2BuildConfig));

const CASES: [Case; 6] = [
    ("", |_| {}),
    ("--kmer-len 31 --minimizer-len 31 --minimizer-spaces 0", |config| {
        (config.k, config.minimizer_spaces) = (31, 0);
    }),
    ("--kmer-len 45 --minimizer-len 21 --minimizer-spaces 3", |config| {
        (config.k, config.minimizer_len, config.minimizer_spaces) = (45, 21, 3);
    }),
    ("--kmer-len 20 --minimizer-len 9 --minimizer-spaces 2", |config| {
        (config.k, config.minimizer_len, config.minimizer_spaces) = (20, 9, 2);
    }),
    ("--max-db-size 20000", |config| config.max_db_size = Some(20_000)),
    ("--load-factor 0.95", |config| config.load_factor = 0.95),
];

#[test]
fn databases_are_those_of_the_installed_kraken2_build() {
    if !run::installed("kraken2") || !run::installed("kraken2-build") {
        return;
    }
    for (number, (options, change)) in CASES.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let reads = library(folder.path(), &mut Random(number as u64));
        run::build(folder.path(), options);
        let mut config =
            Kraken2BuildConfig { masked: Masking::None, ..Kraken2BuildConfig::default() };
        change(&mut config);
        let inputs = [folder.path().join("library/added/all.fna")];
        let taxa = (folder.path().join("seqid2taxid.map"), folder.path().join("taxonomy"));
        for threads in [1, 2, 5] {
            let context = Context::new().threads(threads);
            let own = build(&config, &inputs, (&taxa.0, &taxa.1), &context).unwrap().0;
            assert_equal(own.path(), folder.path());
        }
        let own = build(&config, &inputs, (&taxa.0, &taxa.1), &Context::new()).unwrap().0;
        let (theirs, mine) =
            (Job::new(folder.path(), vec![reads.clone()]), Job::new(own.path(), vec![reads]));
        let (lines, _) = run::judge(&theirs, "");
        assert!(lines.matches("\nC\t").count() > 100, "{options}: nothing to compare");
        assert_same(run::judge(&mine, "").0.as_bytes(), &lines, options);
        assert_same(&run::run(&mine).unwrap().lines, &lines, options);
    }
}

/// Masks a file as `kraken2-build --add-to-library` does.
fn mask(from: &Path, to: &Path) {
    let script = "dustmasker -in \"$0\" -outfmt fasta | sed -e '/^>/!s/[a-z]/x/g' > \"$1\"";
    let status = Command::new("sh").args(["-c", script]).args([from, to]).status().unwrap();
    assert!(status.success());
}

/// A sequence of several stretches with repeats everywhere, on one line.
fn masked_or_not(random: &mut Random, number: usize) -> String {
    let mut letters = Vec::new();
    while letters.len() < 700_000 * (number + 1) {
        let some = random.below(300);
        letters.extend(random.bases(some));
        let bases = 1 + random.below(6);
        let unit = random.bases(bases);
        letters.extend(unit.repeat(random.below(40)));
    }
    format!(">s{number}\n{}\n", String::from_utf8(letters).unwrap())
}

/// Uses long sequences, whose stretches are masked one by one.
#[test]
fn masking_while_building_gives_what_masking_before_gives() {
    let folder = tempfile::tempdir().unwrap();
    library(folder.path(), &mut Random(3));
    let mut random = Random(4);
    let text: String = (0..3).map(|number| masked_or_not(&mut random, number)).collect();
    let masked: String = text
        .lines()
        .map(|line| {
            let mut letters = line.as_bytes().to_vec();
            if !line.starts_with('>') {
                Masking::LowComplexity.mask(&mut letters);
            }
            String::from_utf8(letters).unwrap() + "\n"
        })
        .collect();
    assert!(masked != text);
    let path = |name: &str| folder.path().join(name);
    let [raw, before] = ["raw.fna", "before.fna"].map(path);
    std::fs::write(&raw, text).unwrap();
    std::fs::write(&before, masked).unwrap();
    let taxa = (&*path("seqid2taxid.map"), &*path("taxonomy"));
    let config = |masking| Kraken2BuildConfig { masked: masking, ..Kraken2BuildConfig::default() };
    let one = Context::new().threads(1);
    let (expected, notes) = build(&config(Masking::None), &[before], taxa, &one).unwrap();
    for threads in [1, 3] {
        let context = Context::new().threads(threads);
        let masking = config(Masking::LowComplexity);
        let (own, found) = build(&masking, std::slice::from_ref(&raw), taxa, &context).unwrap();
        assert_equal(own.path(), expected.path());
        assert_eq!(found.bases, notes.bases);
    }
    if run::installed("kraken2-build") && run::installed("dustmasker") {
        mask(&raw, &path("library/added/all.fna"));
        let three = "s0\t11\ns1\t12\ns2\t21\n";
        std::fs::write(path("seqid2taxid.map"), three).unwrap();
        run::build(folder.path(), "");
        assert_equal(expected.path(), folder.path());
    }
}

/// The files of a folder of genomes, sorted by name.
fn sequence_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_gzip = |path: &PathBuf| path.extension().is_some_and(|end| end == "gz");
    let mut files: Vec<PathBuf> = entries.filter(is_gzip).collect();
    files.sort();
    files
}

#[test]
fn genomes_make_the_database_of_the_installed_kraken2_build() {
    let Some(folder) = data() else { return };
    if !run::installed("kraken2-build") {
        return;
    }
    let genomes = folder.join("../genomes");
    let judge = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(judge.path().join("library")).unwrap();
    let (map, taxonomy) = (genomes.join("seqid2taxid.map"), folder.join("../taxonomy"));
    std::os::unix::fs::symlink(taxonomy.canonicalize().unwrap(), judge.path().join("taxonomy"))
        .unwrap();
    let mut inputs = sequence_files(&genomes);
    // Only small genomes, because `kraken2-build` is slow.
    inputs.retain(|path| std::fs::metadata(path).unwrap().len() < 600_000);
    let text =
        |path: &PathBuf| std::io::read_to_string(merganser_io::open_text(path).unwrap()).unwrap();
    // `dustmasker` treats other letters differently.
    let is_pure = |line: &str| line.starts_with('>') || line.bytes().all(|b| b"ACGT".contains(&b));
    inputs.retain(|path| text(path).lines().all(is_pure));
    let all: String = inputs.iter().map(text).collect();
    // `kraken2-build` stores the taxa of the whole map.
    let headers = all.lines().filter_map(|line| line.strip_prefix('>'));
    let names: HashSet<&str> = headers.filter_map(|line| line.split_whitespace().next()).collect();
    let here = |row: &&str| names.contains(row.split('\t').next().unwrap());
    let rows: String = std::fs::read_to_string(&map)
        .unwrap()
        .lines()
        .filter(here)
        .map(|row| format!("{row}\n"))
        .collect();
    std::fs::write(judge.path().join("seqid2taxid.map"), rows).unwrap();
    let (original, added) = (judge.path().join("all.fna"), judge.path().join("library/all.fna"));
    std::fs::write(&original, all).unwrap();
    let masking = match run::installed("dustmasker") {
        true => Masking::LowComplexity,
        false => Masking::None,
    };
    match masking {
        Masking::LowComplexity => mask(&original, &added),
        Masking::None => drop(std::fs::copy(&original, &added).unwrap()),
    }
    run::build(judge.path(), "");
    for threads in [1, 2, 5] {
        let context = Context::new().threads(threads);
        let config = Kraken2BuildConfig { masked: masking, ..Kraken2BuildConfig::default() };
        let (own, notes) = build(&config, &inputs, (&map, &taxonomy), &context).unwrap();
        assert_equal(own.path(), judge.path());
        // The table is large enough for several ranges.
        assert!(notes.capacity > 4 << 20 && notes.unmapped.is_empty(), "{notes:?}");
    }
}

#[test]
fn the_database_of_the_test_data_is_made_again() {
    let Some(folder) = data() else { return };
    let (genomes, taxonomy) = (folder.join("../genomes"), folder.join("../taxonomy"));
    // The 30 smallest genomes, smallest first.
    let mut inputs = sequence_files(&genomes);
    inputs.sort_by_key(|path| std::fs::metadata(path).unwrap().len());
    inputs.truncate(30);
    let map = genomes.join("seqid2taxid.map");
    let config = Kraken2BuildConfig { masked: Masking::None, ..Kraken2BuildConfig::default() };
    let (own, notes) = build(&config, &inputs, (&map, &taxonomy), &Context::new()).unwrap();
    assert_eq!((notes.sequences, notes.bases), (61, 533_085));
    assert_equal(own.path(), &folder.join("database"));
}

#[test]
fn what_cannot_be_built_is_named() {
    let folder = tempfile::tempdir().unwrap();
    library(folder.path(), &mut Random(1));
    let path = |name: &str| folder.path().join(name);
    let message = |context: &Context, name: &str, map: &str| {
        let config = Kraken2BuildConfig::default();
        let taxa = (&*path(map), &*path("taxonomy"));
        let error = build(&config, &[path(name)], taxa, context).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "DIR")
    };
    let (all, map) = ("library/added/all.fna", "seqid2taxid.map");
    std::fs::write(path("none.map"), "s0\t7\n").unwrap();
    std::fs::write(path("empty.fna"), "").unwrap();
    std::fs::write(path("binary.fna"), ">a\nACGT\n>b\nAC\x01GT\n").unwrap();
    let usual = Context::new().threads(2);
    assert_eq!(
        message(&usual, all, "none.map"),
        "nothing to build: none of 5 sequences has a taxon, first s0: taxid 7 is not in the taxonomy"
    );
    let empty = message(&usual, "empty.fna", map);
    assert!(empty.starts_with("nothing to build: the inputs have no sequences"), "{empty}");
    let binary = message(&usual, "binary.fna", map);
    assert!(binary.starts_with("DIR/binary.fna: "), "{binary}");
    let small = message(&usual.clone().memory(1 << 20), all, map);
    assert!(small.starts_with("building a Kraken 2 database needs at least "), "{small}");
    let missing = message(&usual, "missing.fna", map);
    assert!(missing.starts_with("DIR/missing.fna: "), "{missing}");
    assert!(Command::new("mkfifo").arg(path("pipe.fna")).status().unwrap().success());
    let pipe = message(&usual, "pipe.fna", map);
    assert!(pipe.starts_with("a library is read twice, and a pipe"), "{pipe}");
}

#[test]
fn a_cancelled_build_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    library(folder.path(), &mut Random(2));
    let inputs = [Input::File(folder.path().join("library/added/all.fna"))];
    let taxonomy = Dump::read(folder.path().join("taxonomy")).unwrap();
    let taxids = |sequences: &[Kraken2Sequence]| Ok(vec![Some(11); sequences.len()]);
    let library =
        Kraken2Library { inputs: &inputs, taxids: &taxids, taxonomy: &taxonomy, strict: false };
    let (place, outputs, cancel) =
        (tempfile::tempdir().unwrap(), OutputSet::new(), Cancel::default());
    cancel.cancel();
    let build = Kraken2Database::build_with(
        &Kraken2BuildConfig::default(),
        library,
        (place.path(), &outputs),
        &Context::new().cancel(&cancel),
    );
    assert!(matches!(build, Err(Error::Cancelled)), "{build:?}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}
