//! Partial results: written once with databases of each kind, changed, and joined.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use merganser_classify::Database;
use merganser_classify::partial::join;
use merganser_classify::{Outputs, RunConfig, run_with};
use merganser_io::{Input, ReadInput};
use merganser_kraken2::{Kraken2Config, Kraken2Database, ReadShare};
use merganser_run::{Cancel, Shard};

use crate::databases::{context, letters, sound};
use crate::files::{folder, write};
pub use crate::mend::whole as mend;

/// The results of two runs.
pub struct Written {
    /// The files.
    pub files: [Vec<u8>; 2],
    /// Whether they are the two shards of one job, which can only be joined together.
    pub are_shards: bool,
}

/// Returns the results of runs with databases of merganser and of Kraken 2, each with and without reads by database; of
/// whole runs and of shards. These are all formats that are written, 3 to 6, with both kinds of content.
pub fn written() -> &'static [Written] {
    static WRITTEN: OnceLock<Vec<Written>> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let folder = folder();
        let reads = [1, 2].map(|seed| reads(&folder.path().join(format!("{seed}.fa")), seed));
        let reads = reads.map(|path| ReadInput::Single(Input::File(path)));
        let paths = ["one", "two"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| write(path, sound()));
        let own = Database::open_all(&paths).expect("the databases");
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/kraken2");
        let kraken2 = Kraken2Database::open_all([&data, &data]).expect("the databases");
        let mut all = Vec::new();
        // In the order of the numbers of inputs that earlier targets made.
        for (by_database, are_shards) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            for is_kraken2 in [false, true] {
                let files = [0, 1].map(|number| {
                    let segments = if are_shards { &reads[..] } else { &reads[number..=number] };
                    let shard = are_shards.then_some(number as u16 + 1);
                    let config = config(segments, by_database, shard);
                    match is_kraken2 {
                        true => by_kraken2(&kraken2, &config, segments),
                        false => by_own(&own, config, segments),
                    }
                });
                all.push(Written { files, are_shards });
            }
        }
        all
    })
}

/// Returns the options of a run over all reads, or over a shard of two.
fn config(segments: &[ReadInput], database_report: bool, shard: Option<u16>) -> Kraken2Config {
    let share = shard.map(|number| {
        let shard = Shard::new(number, 2).expect("a shard");
        ReadShare::at_blocks(segments, shard, &context()).expect("a share")
    });
    Kraken2Config {
        report_minimizer_data: true,
        database_report,
        share,
        ..Kraken2Config::default()
    }
}

/// Writes reads: some of the database's genomes, and some of SARS-CoV-2, which the Kraken 2 database contains: the
/// first bases of the genome, and a part of them.
fn reads(path: &Path, seed: u32) -> PathBuf {
    let leader = "ATTAAAGGTTTATACCTTCCCAGGTAACAAACCAACCAACTTTCGATCTCTTGTAGATCTGTTCTCTAAACGAACTTTAAAATCTGTGTGGCTGTCACTCGG";
    let rest = &leader[10 * seed as usize..];
    let [common, own] = [letters(600, 1), letters(300, seed + 1)];
    let text = format!(">x{seed}\n{common}\n>y{seed}\n{own}\n>z{seed}\n{rest}\n>n{seed}\nNN\n");
    write(path, text);
    path.to_owned()
}

fn by_own(database: &Database, kraken2: Kraken2Config, segments: &[ReadInput]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut outputs = Outputs { partial: Some(&mut bytes), ..Outputs::default() };
    let config = RunConfig { kraken2, ..RunConfig::default() };
    run_with(&config, database, segments, &mut outputs, &context()).expect("classification");
    bytes
}

fn by_kraken2(
    database: &Kraken2Database,
    config: &Kraken2Config,
    segments: &[ReadInput],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut outputs = Outputs { partial: Some(&mut bytes), ..Outputs::default() };
    merganser_kraken2::run_with(config, database, segments, &mut outputs, &context())
        .expect("classification");
    bytes
}

/// Joins files and writes all reports; returns whether the files can be joined. None of these may panic.
pub fn walk(paths: &[PathBuf]) -> bool {
    let joined = match join(paths, &Cancel::default()) {
        Ok(joined) => joined,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return false;
        }
    };
    let mut text = Vec::new();
    for zeros in [false, true] {
        joined.write_report(zeros, &mut text).expect("writing to memory");
        joined.write_mpa(zeros, &mut text).expect("writing to memory");
    }
    joined.write_krona(&mut text).expect("writing to memory");
    for least in [0, 2] {
        joined.abundance(least).write(&mut text).expect("writing to memory");
        joined.abundance(least).write_cami("x", &mut text).expect("writing to memory");
    }
    // An error of results without reads by database.
    let _ = joined.write_database_report(&mut text);
    if let Ok(bases) = joined.in_bases() {
        bases.write_report(false, &mut text).expect("writing to memory");
        bases.abundance(0).write(&mut text).expect("writing to memory");
    }
    assert!(joined.classified() <= joined.reads());
    true
}
