//! Reads classified with Kraken 2's databases, held against what Kraken 2 itself writes.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test ends by panicking")]

#[path = "kraken2/run.rs"]
mod run;

use std::path::{Path, PathBuf};

use merganser_classify::kraken2::{Kraken2ReportOptions, Kraken2Rules};
use run::{Job, Outcome};

/// The data that the repository is tested with, where they are.
fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/kraken2");
    let found = folder.is_dir();
    if !found {
        eprintln!("skipped: {} is not there", folder.display());
    }
    found.then_some(folder)
}

/// What Kraken 2.17.1 wrote.
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

/// All that `job` writes must be what it wrote under `name`, whatever the threads and batches.
fn check(folder: &Path, name: &str, job: Job) {
    for (threads, batch_records) in [(1, 8192), (1, 70), (3, 200)] {
        let job = Job { threads, batch_records, ..job.clone() };
        let Outcome { lines, report, .. } = run::run(&job).unwrap();
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
    let rules = |rules: Kraken2Rules| Job { rules, ..job.clone() };
    let report = |report: Kraken2ReportOptions| Job { report, ..job.clone() };
    let standard = Kraken2Rules::default;
    check(&folder, "default", job.clone());
    check(&folder, "confidence_0.1", rules(Kraken2Rules { confidence: 0.1, ..standard() }));
    check(&folder, "groups_4", rules(Kraken2Rules { minimum_hit_groups: 4, ..standard() }));
    check(&folder, "quality_10", rules(Kraken2Rules { minimum_base_quality: 10, ..standard() }));
    check(&folder, "names", rules(Kraken2Rules { names: true, ..standard() }));
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
    let sequences = run::run(&job).unwrap().sequences;
    assert_same(
        &sequences.classified[0],
        &expected(&folder, "pairs.classified_1.fq"),
        "classified",
    );
    let second = expected(&folder, "pairs.unclassified_2.fq");
    assert_same(&sequences.unclassified[1], &second, "unclassified");
}
