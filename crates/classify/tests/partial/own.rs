//! Partial results of merganser databases.

use std::fs;
use std::path::{Path, PathBuf};

use merganser_classify::{
    BuildConfig, Database, Params, PartConfig, Preset, VerdictConfig, build_with,
};
use merganser_classify::{Outputs, RunConfig, run_with};
use merganser_io::{AtomicFile, Input, ReadInput};
use merganser_kraken2::Kraken2Config;
use merganser_run::Context;
use merganser_taxreport::report::{Abundance, ReportOptions};

use crate::jobs::{Reads, divide, shuffled, write};
use crate::{joined, refused, reports, tables, text_of, written};
use merganser_test_random::Random;

const NODES: &str = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n10\t|\t2\t|\tgenus\t|\n\
    20\t|\t2\t|\tgenus\t|\n11\t|\t10\t|\tspecies\t|\n12\t|\t10\t|\tspecies\t|\n\
    21\t|\t20\t|\tspecies\t|\n111\t|\t11\t|\tstrain\t|\n";

/// Returns six targets of four taxa; neighbours share much of their sequence.
fn targets() -> Vec<(Vec<u8>, u32)> {
    let mut random = Random(5);
    let common = random.bases(1500);
    let target = |number: usize| {
        let own = random.bases(700 + 100 * number);
        ([&common[200 * number..], &own].concat(), [11, 12, 21, 111][number % 4])
    };
    (0..6).map(target).collect()
}

pub(crate) fn database(folder: &Path, params: Params, parts: usize) -> Database {
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
    let to = folder.join(format!("{parts}.mgdb"));
    let file = AtomicFile::create(&to).unwrap();
    build_with(&config, &inputs, folder, file, &context).unwrap();
    Database::open(&to).unwrap()
}

/// Returns the options of a run that counts features, or does not.
pub(crate) fn counting(report_minimizer_data: bool) -> RunConfig {
    let kraken2 = Kraken2Config { report_minimizer_data, ..Kraken2Config::default() };
    RunConfig { kraken2, ..RunConfig::default() }
}

/// Returns reads of the targets, random reads, and short reads.
pub(crate) fn reads(number: usize, random: &mut Random) -> Reads {
    let targets = targets();
    let mut read = |at: usize| match at % 9 {
        7 => random.bases(120),
        8 => random.bases(5),
        at => {
            let own = &targets[at % 6].0;
            let length = 60 + random.below(200);
            let start = random.below(own.len() - length);
            own[start..start + length].to_vec()
        }
    };
    (0..number).map(|at| [read(at), read(at)]).collect()
}

/// Classifies reads, writes partial results to `partial`, and returns all reports.
pub(crate) fn run(
    database: &Database,
    config: &RunConfig,
    threads: usize,
    segments: &[ReadInput],
    partial: &Path,
) -> Vec<Vec<u8>> {
    let mut file = fs::File::create(partial).unwrap();
    let mut outputs = Outputs { partial: Some(&mut file), ..Outputs::default() };
    let context = Context::new().threads(threads);
    let outcome = run_with(config, database, segments, &mut outputs, &context).unwrap();
    let tree = database.taxonomy();
    let abundance =
        |least| text_of(&Abundance::new(&outcome.tally, tree, database.targets(), least));
    let mut all = tables(
        abundance,
        |zeros| written(|text| outcome.tally.write_mpa(tree, zeros, text)),
        written(|text| outcome.tally.write_krona(tree, text)),
    );
    all.extend([false, true].map(|zero_counts| {
        let options = ReportOptions { zero_counts, features: outcome.features.as_ref() };
        written(|text| outcome.by_genome.write_kraken(tree, options, text))
    }));
    let bases = &outcome.bases_by_taxon;
    assert_eq!(bases.tally.total(), outcome.bases);
    all.extend([false, true].map(|zero_counts| {
        let options = ReportOptions { zero_counts, features: None };
        written(|text| bases.by_genome.write_kraken(tree, options, text))
    }));
    let abundance = Abundance::new(&outcome.tally, tree, database.targets(), 3);
    let bases = abundance.of_bases(&bases.tally, database.targets());
    all.push(written(|text| abundance.write_with_bases(&bases, text)));
    all
}

fn each_part(
    database: &Database,
    config: &RunConfig,
    parts: &[ReadInput],
    folder: &Path,
) -> Vec<PathBuf> {
    let part = |(at, segment): (usize, &ReadInput)| {
        let path = folder.join(format!("{at}.partial"));
        run(database, config, 1 + at % 2, std::slice::from_ref(segment), &path);
        path
    };
    parts.iter().enumerate().map(part).collect()
}

#[test]
fn parts_come_to_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut random = Random(7);
    for (params, parts) in [
        (Preset::MetaCache.params(), 1),
        (Preset::MetaCache.params(), 3),
        (Preset::Sensitive.params(), 2),
    ] {
        let database = database(folder, params, parts);
        for (paired, features, number) in [
            (false, true, 90),
            (true, true, 70),
            (true, false, 200),
            (false, true, 0),
            (false, true, 1),
        ] {
            let config = counting(features);
            let reads = reads(number, &mut random);
            let whole = write(&reads, 0, paired, &folder.join("whole"));
            let one = folder.join("one.partial");
            let expected = run(&database, &config, 2, &[whole], &one);
            if number > 1 {
                // With this preset, reads of single sequences are divided among these, too.
                let sequences = String::from_utf8_lossy(&expected[0]).contains("\nsequence\t");
                assert_eq!(sequences, params.preset == Preset::MetaCache);
            }
            for _ in 0..4 {
                let segments = divide(&reads, paired, folder, &mut random);
                let files = each_part(&database, &config, &segments, folder);
                for _ in 0..2 {
                    let files = shuffled(files.clone(), &mut random);
                    let found = joined(&files);
                    assert_eq!(found.reads(), number as u64);
                    assert_eq!(found.uncertain_estimates(), 0);
                    assert!(reports(&found) == expected, "{params:?} {paired} {features}");
                }
                // The files do not depend on the order of the reads or the number of threads.
                let again = folder.join("again.partial");
                let turned: Vec<ReadInput> = segments.into_iter().rev().collect();
                run(&database, &config, 1, &turned, &again);
                assert!(fs::read(&again).unwrap() == fs::read(&one).unwrap());
            }
        }
    }
}

/// All reads belong to one taxon.
#[test]
fn one_taxon_only() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let params = Preset::Sensitive.params();
    let database = database(folder, params, 1);
    let own = &targets()[5].0;
    let reads: Reads =
        (0..40).map(|at| [own[at * 10..at * 10 + 300].to_vec(), Vec::new()]).collect();
    let config = counting(true);
    let whole = write(&reads, 0, false, &folder.join("whole"));
    let expected = run(&database, &config, 1, &[whole], &folder.join("one.partial"));
    let segments = divide(&reads, false, folder, &mut Random(2));
    let files = each_part(&database, &config, &segments, folder);
    assert!(reports(&joined(&files)) == expected);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let params = Preset::MetaCache.params();
    let [one, other] = [1, 3].map(|parts| database(folder, params, parts));
    let config = RunConfig::default();
    let mut random = Random(3);
    let segment =
        |random: &mut Random, name: &str| write(&reads(20, random), 0, false, &folder.join(name));
    let a = [segment(&mut random, "a")];
    let path = |name: &str| folder.join(format!("{name}.partial"));
    run(&one, &config, 1, &a, &path("a"));
    let b = [segment(&mut random, "b")];
    let say = |name: &str| {
        let message = refused(&[path("a"), path(name)]);
        message.replace(&folder.display().to_string(), "")
    };
    run(&other, &config, 1, &b, &path("database"));
    let message = say("database");
    let begin = "/database.partial: is of another database than /a.partial (bytes ";
    assert!(message.starts_with(begin), "{message}");
    let verdict = VerdictConfig { hitmin: Some(9), ..VerdictConfig::default() };
    let stricter = RunConfig { verdict, ..RunConfig::default() };
    run(&one, &stricter, 1, &b, &path("hits"));
    assert_eq!(
        say("hits"),
        "/hits.partial: was classified with hitmin 9, and /a.partial with 5: only results of the \
         same options can be joined"
    );
    run(&one, &counting(true), 1, &b, &path("features"));
    assert!(say("features").contains("with report-minimizer-data yes, and /a.partial with no"));
    fs::copy(path("a"), path("copy")).unwrap();
    let message = say("copy");
    assert_eq!(message, "/copy.partial: has the same reads as /a.partial: give each once");
    // The same reads in other files are found, too; files without reads may be given repeatedly.
    run(&one, &config, 2, &a, &path("again"));
    assert!(say("again").contains("has the same reads"));
    let none = [write(&[], 0, false, &folder.join("none"))];
    run(&one, &config, 1, &none, &path("none"));
    assert_eq!(joined(&[path("a"), path("none"), path("none")]).reads(), 20);
    assert!(refused(&[]).contains("no file of partial results"));
    assert!(refused(&[folder.join("g.fa")]).contains("not partial results of merganser"));
}

/// Partial results that would depend on other reads, or whose database cannot be identified, are rejected.
#[test]
fn runs_that_cannot_be_divided() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let params = Preset::MetaCache.params();
    let own = database(folder, params, 1);
    let reads = [write(&reads(5, &mut Random(1)), 0, false, &folder.join("r"))];
    let config = RunConfig::default();
    let refuse = |database: &Database, config: &RunConfig| {
        let mut bytes = Vec::new();
        let mut outputs = Outputs { partial: Some(&mut bytes), ..Outputs::default() };
        let context = Context::new().threads(1);
        run_with(config, database, &reads, &mut outputs, &context).unwrap_err().to_string()
    };
    assert!(
        refuse(&own, &RunConfig { cov_percentile: 5, ..config.clone() })
            .contains("needs the hits of all reads")
    );
    let inputs = [Input::File(folder.join("g.fa"))];
    let (build, context) = (BuildConfig::new(params), Context::new());
    let built = merganser_classify::build_in_memory(&build, &inputs, folder, &context);
    assert!(refuse(&built.unwrap().0, &config).contains("build it first"));
}
