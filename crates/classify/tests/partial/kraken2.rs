//! Partial results of Kraken 2 databases.

use std::fs;
use std::path::{Path, PathBuf};

use merganser_io::ReadInput;
use merganser_kraken2::{Kraken2Config, Kraken2Database, Kraken2ReportOptions, run_with};
use merganser_run::Context;
use merganser_taxreport::output::Outputs;
use merganser_taxreport::report::Abundance;

use crate::jobs::{Reads, divide, shuffled, write};
use crate::{joined, refused, reports, tables, text_of, written};
use merganser_test_random::Random;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

pub(crate) fn database() -> Kraken2Database {
    Kraken2Database::open(data().join("kraken2")).unwrap()
}

/// Returns reads of a genome of the database with one letter changed, and some random reads.
pub(crate) fn reads(number: usize, random: &mut Random) -> Reads {
    let genome = data().join("genomes/SARS-CoV-2_Wuhan-Hu-1.fna.gz");
    let text = std::io::read_to_string(merganser_io::open_text(&genome).unwrap()).unwrap();
    let letters: String = text.lines().skip(1).collect();
    let mut read = |at: usize| {
        if at % 7 == 6 {
            return random.bases(90);
        }
        let start = random.below(letters.len() - 300);
        let length = 20 + random.below(200);
        let mut own = letters.as_bytes()[start..start + length].to_vec();
        let place = random.below(length);
        own[place] = b"ACGTN"[random.below(5)];
        own
    };
    (0..number).map(|at| [read(at), read(at)]).collect()
}

/// Classifies reads, writes partial results to `partial`, and returns all reports.
pub(crate) fn run(
    database: &Kraken2Database,
    config: &Kraken2Config,
    threads: usize,
    segments: &[ReadInput],
    partial: &Path,
) -> Vec<Vec<u8>> {
    let mut file = fs::File::create(partial).unwrap();
    let mut outputs = Outputs { partial: Some(&mut file), ..Outputs::default() };
    let context = Context::new().threads(threads);
    let outcome = run_with(config, database, segments, &mut outputs, &context).unwrap();
    let (tally, tree) = (outcome.tally(database), database.tree());
    let mut all = tables(
        |least| text_of(&Abundance::new(&tally, tree, &[] as &[(&str, u32)], least)),
        |zeros| written(|text| tally.write_mpa(tree, zeros, text)),
        written(|text| tally.write_krona(tree, text)),
    );
    all.extend([false, true].map(|zero_counts| {
        let options =
            Kraken2ReportOptions { zero_counts, minimizers: config.report_minimizer_data };
        written(|text| outcome.counts.write_report(database.taxonomy(), options, text))
    }));
    let bases = outcome.counts.in_bases();
    assert_eq!(bases.reads(), outcome.bases);
    all.extend([false, true].map(|zero_counts| {
        let options = Kraken2ReportOptions { zero_counts, minimizers: false };
        written(|text| bases.write_report(database.taxonomy(), options, text))
    }));
    let targets = &[] as &[(&str, u32)];
    let abundance = Abundance::new(&tally, tree, targets, 3);
    let bases = abundance.of_bases(&bases.tally(database.taxonomy(), tree), targets);
    all.push(written(|text| abundance.write_with_bases(&bases, text)));
    all
}

fn each_part(
    database: &Kraken2Database,
    config: &Kraken2Config,
    parts: &[ReadInput],
    folder: &Path,
) -> Vec<PathBuf> {
    let part = |(at, segment): (usize, &ReadInput)| {
        let path = folder.join(format!("{at}.partial"));
        let config = Kraken2Config { batch_records: Some(10 + 50 * at), ..config.clone() };
        run(database, &config, 1 + at % 2, std::slice::from_ref(segment), &path);
        path
    };
    parts.iter().enumerate().map(part).collect()
}

/// Returns the options of a run that counts distinct minimizers, or does not.
fn counting(report_minimizer_data: bool) -> Kraken2Config {
    Kraken2Config { report_minimizer_data, ..Kraken2Config::default() }
}

/// The result is that of one run over all inputs and, if no estimate is uncertain, that of a run over one file of all
/// reads.
#[test]
fn parts_come_to_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let database = database();
    let mut random = Random(17);
    let (mut certain, mut uncertain) = (0, 0);
    for (paired, minimizers, number) in [
        (false, true, 20),
        (true, true, 10),
        (false, true, 60),
        (true, true, 900),
        (false, true, 3000),
        (true, false, 300),
        (false, true, 0),
        (false, true, 1),
    ] {
        let config = counting(minimizers);
        let reads = reads(number, &mut random);
        let whole = write(&reads, 0, paired, &folder.join("whole"));
        let uncut = run(&database, &config, 2, &[whole], &folder.join("uncut.partial"));
        for _ in 0..4 {
            let segments = divide(&reads, paired, folder, &mut random);
            let expected = run(&database, &config, 2, &segments, &folder.join("one.partial"));
            let files = each_part(&database, &config, &segments, folder);
            let files = shuffled(files, &mut random);
            let found = joined(&files);
            assert_eq!(found.reads(), number as u64);
            let all = reports(&found);
            assert!(all == expected, "{paired} {minimizers} {number}");
            if found.uncertain_estimates() == 0 {
                assert!(all == uncut, "{paired} {minimizers} {number}");
                certain += 1;
            } else {
                uncertain += 1;
            }
        }
    }
    assert!(certain >= 8 && uncertain >= 5, "{certain} {uncertain}");
}

/// Inputs that end at Kraken 2's blocks of input have no uncertain estimates, however many minimizers they have.
#[test]
fn parts_of_whole_blocks_come_to_the_uncut_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let database = database();
    let config = counting(true);
    let reads: Reads = reads(25_000, &mut Random(4));
    let whole = write(&reads, 0, true, &folder.join("whole"));
    let uncut = run(&database, &config, 2, &[whole], &folder.join("uncut.partial"));
    let parts: Vec<ReadInput> = [0..10_000, 10_000..20_000, 20_000..25_000]
        .into_iter()
        .map(|range| {
            let stem = folder.join(format!("part{}", range.start));
            write(&reads[range.clone()], range.start, true, &stem)
        })
        .collect();
    let files = each_part(&database, &config, &parts, folder);
    let found = joined(&files);
    assert_eq!(found.uncertain_estimates(), 0);
    assert!(reports(&found) == uncut);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let database = database();
    let mut random = Random(9);
    let mut part = |name: &str, config: &Kraken2Config| {
        let segment = write(&reads(20, &mut random), 0, false, &folder.join(name));
        let path = folder.join(format!("{name}.partial"));
        run(&database, config, 1, &[segment], &path);
        path
    };
    let usual = Kraken2Config::default();
    let a = part("a", &usual);
    let confident = part("b", &Kraken2Config { confidence: 0.1, ..Kraken2Config::default() });
    let message = refused(&[a.clone(), confident]);
    assert!(message.contains("b.partial: was classified with confidence 0.1, and "), "{message}");
    let quick = part("c", &Kraken2Config { quick: true, ..Kraken2Config::default() });
    assert!(refused(&[a.clone(), quick]).contains("with quick yes"));
    let counted = part("d", &counting(true));
    assert!(refused(&[a.clone(), counted]).contains("with report-minimizer-data yes"));
    assert!(refused(&[a.clone(), a.clone()]).contains("has the same reads as"));
    // Another database: the same files, with one more cell.
    let other = folder.join("db");
    fs::create_dir(&other).unwrap();
    for name in ["opts.k2d", "taxo.k2d", "hash.k2d"] {
        fs::copy(data().join("kraken2").join(name), other.join(name)).unwrap();
    }
    let mut table = fs::read(other.join("hash.k2d")).unwrap();
    let cells = u64::from_le_bytes(table[..8].try_into().unwrap()) + 1;
    table[..8].copy_from_slice(&cells.to_le_bytes());
    table.extend([0; 4]);
    fs::write(other.join("hash.k2d"), table).unwrap();
    let other = Kraken2Database::open(&other).unwrap();
    let segment = write(&reads(20, &mut Random(99)), 0, false, &folder.join("e"));
    let path = folder.join("e.partial");
    run(&other, &usual, 1, &[segment], &path);
    let message = refused(&[a.clone(), path]);
    assert!(message.contains("is of another database than"), "{message}");
    assert!(message.contains(&format!("(cells {cells}, and there {})", cells - 1)), "{message}");
    // A merganser database.
    let params = merganser_classify::Preset::MetaCache.params();
    let own = crate::own::database(folder, params, 1);
    let config = merganser_classify::RunConfig::default();
    let segment = write(&reads(20, &mut Random(98)), 0, false, &folder.join("f"));
    let path = folder.join("f.partial");
    crate::own::run(&own, &config, 1, &[segment], &path);
    let message = refused(&[path, a]);
    assert!(message.contains("is of a database of Kraken 2, and"), "{message}");
}
