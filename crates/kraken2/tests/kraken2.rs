//! Compares classification with Kraken 2 databases to the output of Kraken 2 itself.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    missing_docs,
    reason = "a test ends by panicking"
)]

#[path = "kraken2/bracken.rs"]
mod bracken;
#[path = "kraken2/build.rs"]
mod build;
#[cfg(feature = "cuda")]
#[path = "kraken2/devices.rs"]
mod devices;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "kraken2/run.rs"]
mod run;

use std::path::{Path, PathBuf};

use merganser_kraken2::{Kraken2Config, Kraken2ReportOptions};
use merganser_test_random::Random;
use run::{Job, Written};

/// Returns the folder of the repository's test data, if it is present.
fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/kraken2");
    let found = folder.is_dir();
    if !found {
        eprintln!("skipped: {} is not there", folder.display());
    }
    found.then_some(folder)
}

/// Reads the output that Kraken 2.17.1 wrote.
fn expected(folder: &Path, name: &str) -> String {
    let path = folder.join("expected").join(format!("{name}.gz"));
    std::io::read_to_string(merganser_io::open_text(&path).unwrap()).unwrap()
}

#[track_caller]
fn assert_same(found: &[u8], expected: &str, what: &str) {
    let found = String::from_utf8_lossy(found);
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{what}, line {}", number + 1);
    }
    assert!(found == expected, "{what}: other lengths");
}

/// Checks that the output of `job` equals the expected files called `name`, with any number of threads and batches.
fn check(folder: &Path, name: &str, job: Job) {
    for (threads, batch_records) in [(1, 8192), (1, 70), (3, 200)] {
        let job = Job { threads, batch_records, ..job.clone() };
        let Written { lines, report, .. } = run::run(&job).unwrap();
        if name != "minimizer_data" && name != "zero_counts" {
            assert_same(&lines, &expected(folder, &format!("{name}.tsv")), name);
        }
        if name != "names" {
            assert_same(&report, &expected(folder, &format!("{name}.report")), name);
        }
    }
}

#[test]
fn single_reads_are_those_of_2_17_1() {
    let Some(folder) = data() else { return };
    let job = Job::new(&folder.join("database"), vec![folder.join("reads.fq.gz")]);
    let rules = |rules: Kraken2Config| Job { rules, ..job.clone() };
    let report = |report: Kraken2ReportOptions| Job { report, ..job.clone() };
    let standard = Kraken2Config::default;
    check(&folder, "default", job.clone());
    check(&folder, "confidence_0.1", rules(Kraken2Config { confidence: 0.1, ..standard() }));
    check(&folder, "groups_4", rules(Kraken2Config { minimum_hit_groups: 4, ..standard() }));
    check(&folder, "quality_10", rules(Kraken2Config { min_qual: 10, ..standard() }));
    check(&folder, "names", rules(Kraken2Config { use_names: true, ..standard() }));
    let standard = Kraken2ReportOptions::default;
    check(
        &folder,
        "minimizer_data",
        report(Kraken2ReportOptions { minimizers: true, ..standard() }),
    );
    check(&folder, "zero_counts", report(Kraken2ReportOptions { zero_counts: true, ..standard() }));
}

#[test]
fn pairs_are_those_of_2_17_1() {
    let Some(folder) = data() else { return };
    let mut job = Job::new(
        &folder.join("database"),
        vec![folder.join("pairs_1.fq.gz"), folder.join("pairs_2.fq.gz")],
    );
    job.paired = true;
    job.report.minimizers = true;
    check(&folder, "pairs", job.clone());
    let written = run::run(&job).unwrap();
    assert_same(&written.classified[0], &expected(&folder, "pairs.classified_1.fq"), "classified");
    let second = expected(&folder, "pairs.unclassified_2.fq");
    assert_same(&written.unclassified[1], &second, "unclassified");
}

#[test]
fn lines_and_reports_are_those_of_the_installed_kraken_2() {
    let Some(folder) = data() else { return };
    if !run::installed("kraken2") {
        return;
    }
    let single = vec![folder.join("reads.fq.gz")];
    let pair = vec![folder.join("pairs_1.fq.gz"), folder.join("pairs_2.fq.gz")];
    for (inputs, paired) in [(single, false), (pair, true)] {
        for (options, confidence, groups, quick) in [
            ("--confidence 0.5 --minimum-hit-groups 0", 0.5, 0, false),
            ("--quick", 0.0, 2, true),
            ("--quick --minimum-hit-groups 5 --confidence 0.3", 0.3, 5, true),
        ] {
            let mut job = Job::new(&folder.join("database"), inputs.clone());
            let rules = Kraken2Config { confidence, quick, ..Kraken2Config::default() };
            job.rules = Kraken2Config { minimum_hit_groups: groups, ..rules };
            job.paired = paired;
            let (lines, report) = run::judge(&job, options);
            let own = run::run(&job).unwrap();
            assert_same(&own.lines, &lines, options);
            assert_same(
                &run::without_ranks(&own.report),
                &run::text(&run::without_ranks(report.as_bytes())),
                options,
            );
        }
    }
}

/// Copies the database of the test data and changes one of its files.
fn damaged(folder: &Path, name: &str, change: impl Fn(&mut Vec<u8>)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in ["opts.k2d", "taxo.k2d", "hash.k2d"] {
        let mut bytes = std::fs::read(folder.join("database").join(file)).unwrap();
        if file == name {
            change(&mut bytes);
        }
        std::fs::write(copy.path().join(file), bytes).unwrap();
    }
    copy
}

#[test]
fn damaged_files_are_named() {
    let Some(folder) = data() else { return };
    let message = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let database = damaged(&folder, name, change);
        let job = Job::new(database.path(), vec![folder.join("reads.fq.gz")]);
        let message = run::run(&job).unwrap_err().to_string();
        let place = format!("{}: ", database.path().join(name).display());
        message.strip_prefix(&place).unwrap_or_else(|| panic!("{message}")).to_owned()
    };
    for name in ["opts.k2d", "taxo.k2d", "hash.k2d"] {
        for len in [0, 1, 31, 32, 33, 39, 63] {
            message(name, &|bytes| bytes.truncate(len));
        }
        message(name, &|bytes| bytes.push(0));
        message(name, &|bytes| bytes.truncate(bytes.len() - 1));
    }
    // The largest value of 8 bits; the taxonomy has fewer nodes.
    let beyond = message("hash.k2d", &|bytes| {
        let cells = bytes[32..].chunks_exact_mut(4).filter(|cell| cell[0] != 0);
        cells.for_each(|cell| cell[0] = 255);
    });
    assert!(beyond.starts_with("a cell has taxon 255, and taxo.k2d has "), "{beyond}");
}

#[test]
fn a_table_without_an_empty_cell_ends_searches() {
    let Some(folder) = data() else { return };
    // The table is small: a search for a minimizer that it lacks visits all cells.
    let full = damaged(&folder, "hash.k2d", |bytes| {
        bytes.truncate(32 + 4 * 50);
        bytes[32..].chunks_exact_mut(4).for_each(|cell| cell[0] = 2);
        bytes[0..8].copy_from_slice(&50u64.to_le_bytes());
        bytes[8..16].copy_from_slice(&50u64.to_le_bytes());
    });
    let job = Job::new(full.path(), vec![folder.join("reads.fq.gz")]);
    let lines = run::run(&job).unwrap().lines;
    assert_eq!(lines.iter().filter(|&&byte| byte == b'\n').count(), 3000);
}

const NODES: &str = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tsuperkingdom\t|\n10\t|\t2\t|\tgenus\t|\n\
    20\t|\t2\t|\tgenus\t|\n11\t|\t10\t|\tspecies\t|\n12\t|\t10\t|\tspecies\t|\n21\t|\t20\t|\tspecies\t|\n";

/// Creates a taxonomy and a library for `kraken2-build`; returns the path of random reads of the library.
fn library(folder: &Path, random: &mut Random) -> PathBuf {
    let taxonomy = folder.join("taxonomy");
    std::fs::create_dir_all(&taxonomy).unwrap();
    std::fs::create_dir_all(folder.join("library/added")).unwrap();
    std::fs::write(taxonomy.join("nodes.dmp"), NODES).unwrap();
    let name = |taxid| format!("{taxid}\t|\tn{taxid}\t|\t\t|\tscientific name\t|\n");
    let names: String = [1, 2, 10, 20, 11, 12, 21].into_iter().map(name).collect();
    std::fs::write(taxonomy.join("names.dmp"), names).unwrap();
    let ancestor = random.bases(6000);
    let (mut text, mut taxids, mut reads) = (Vec::new(), String::new(), Vec::new());
    for (number, taxid) in [11, 12, 21, 11, 20].into_iter().enumerate() {
        let letters = random.mutated(&ancestor, 20 + 20 * number);
        text.extend_from_slice(format!(">s{number}\n").as_bytes());
        text.extend_from_slice(&letters);
        text.push(b'\n');
        taxids += &format!("s{number}\t{taxid}\n");
        for read in 0..200 {
            let start = random.below(letters.len());
            let end = (start + random.below(300)).min(letters.len());
            let mut piece = random.mutated(&letters[start..end], 60);
            for _ in 0..random.below(3) {
                let at = random.below(piece.len().max(1));
                piece.iter_mut().skip(at).take(1).for_each(|letter| *letter = b"NuxRa"[read % 5]);
            }
            let qualities = vec![b'I'; piece.len()];
            let parts =
                [format!("@r{number}.{read}\n").as_bytes(), &piece, b"\n+\n", &qualities, b"\n"]
                    .concat();
            reads.extend_from_slice(&parts);
        }
    }
    std::fs::write(folder.join("library/added/all.fna"), text).unwrap();
    std::fs::write(folder.join("seqid2taxid.map"), taxids).unwrap();
    let path = folder.join("reads.fq");
    std::fs::write(&path, reads).unwrap();
    path
}

#[test]
fn databases_of_other_parameters_are_read_as_the_installed_kraken_2_reads_them() {
    if !run::installed("kraken2") || !run::installed("kraken2-build") {
        return;
    }
    for (number, options) in [
        "--kmer-len 31 --minimizer-len 31 --minimizer-spaces 0",
        "--kmer-len 45 --minimizer-len 21 --minimizer-spaces 3",
        "--kmer-len 20 --minimizer-len 9 --minimizer-spaces 2",
        "--max-db-size 20000",
    ]
    .into_iter()
    .enumerate()
    {
        let folder = tempfile::tempdir().unwrap();
        let reads = library(folder.path(), &mut Random(number as u64));
        run::build(folder.path(), options);
        let mates = folder.path().join("mates.fq");
        std::fs::copy(&reads, &mates).unwrap();
        for paired in [false, true] {
            let both = [reads.clone(), mates.clone()];
            let inputs = both[..1 + usize::from(paired)].to_vec();
            let mut job = Job::new(folder.path(), inputs);
            (job.paired, job.report.zero_counts) = (paired, true);
            let (lines, report) = run::judge(&job, "--report-zero-counts");
            assert!(lines.matches("\nC\t").count() > 100, "{options}: nothing to compare");
            let own = run::run(&job).unwrap();
            assert_same(&own.lines, &lines, options);
            let [own, report] = [&own.report[..], report.as_bytes()].map(run::without_ranks);
            assert_same(&own, &run::text(&report), options);
        }
    }
}
