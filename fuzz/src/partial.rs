//! Partial results: written once with a database of each kind, changed, and joined.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use merganser_classify::Database;
use merganser_classify::partial::join;
use merganser_classify::{Outputs, RunConfig, run_with};
use merganser_io::{Input, ReadInput};
use merganser_kraken2::{Kraken2Config, Kraken2Database};
use merganser_run::Cancel;

use crate::databases::{letters, context, sound};
use crate::files::{folder, write};
pub use crate::mend::whole as mend;

/// Returns the results of two runs with a database of merganser, and of two runs with one of Kraken 2.
pub fn written() -> &'static [[Vec<u8>; 2]; 2] {
    static BYTES: OnceLock<[[Vec<u8>; 2]; 2]> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = folder();
        let reads = [1, 2].map(|seed| reads(&folder.path().join(format!("{seed}.fa")), seed));
        let path = folder.path().join("db");
        write(&path, sound());
        let own = Database::open(&path).expect("the database");
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/kraken2");
        let kraken2 = Kraken2Database::open(&data).expect("the database");
        [reads.each_ref().map(|at| by_own(&own, at)), reads.map(|at| by_kraken2(&kraken2, &at))]
    })
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

fn by_own(database: &Database, reads: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut outputs = Outputs { partial: Some(&mut bytes), ..Outputs::default() };
    let kraken2 = Kraken2Config { report_minimizer_data: true, ..Kraken2Config::default() };
    let config = RunConfig { kraken2, ..RunConfig::default() };
    let segments = [ReadInput::Single(Input::File(reads.to_owned()))];
    let context = context();
    run_with(&config, database, &segments, &mut outputs, &context)
        .expect("classification");
    bytes
}

fn by_kraken2(database: &Kraken2Database, reads: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut outputs = Outputs { partial: Some(&mut bytes), ..Outputs::default() };
    let config = Kraken2Config { report_minimizer_data: true, ..Kraken2Config::default() };
    let segments = [ReadInput::Single(Input::File(reads.to_owned()))];
    let context = context();
    merganser_kraken2::run_with(&config, database, &segments, &mut outputs, &context)
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
    assert!(joined.classified() <= joined.reads());
    true
}
