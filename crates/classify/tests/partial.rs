//! Partial results: however reads are divided, the joined results are those of one run.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    missing_docs,
    reason = "a test ends by panicking"
)]

#[allow(dead_code, reason = "other tests use more of it")]
mod comparable;
#[path = "partial/damage.rs"]
mod damage;
#[path = "partial/earlier.rs"]
mod earlier;
#[path = "partial/jobs.rs"]
mod jobs;
#[path = "partial/kraken2.rs"]
mod kraken2;
#[path = "partial/own.rs"]
mod own;

use std::path::PathBuf;

use merganser_classify::partial::{JoinedResults, join};
use merganser_run::Cancel;
use merganser_taxreport::report::Abundance;

/// Returns all tables of reads by taxon except the report.
fn tables(
    abundance: impl Fn(u64) -> Vec<u8>,
    mpa: impl Fn(bool) -> Vec<u8>,
    krona: Vec<u8>,
) -> Vec<Vec<u8>> {
    vec![abundance(0), abundance(3), mpa(false), mpa(true), krona]
}

fn text_of(abundance: &Abundance<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    abundance.write(&mut text).unwrap();
    abundance.write_cami("sample", &mut text).unwrap();
    text
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut text = Vec::new();
    write(&mut text).unwrap();
    text
}

/// Returns all reports and tables of joined results.
fn reports(joined: &JoinedResults) -> Vec<Vec<u8>> {
    let mut all = tables(
        |least| text_of(&joined.abundance(least)),
        |zeros| written(|text| joined.write_mpa(zeros, text)),
        written(|text| joined.write_krona(text)),
    );
    all.extend([false, true].map(|zeros| written(|text| joined.write_report(zeros, text))));
    let bases = joined.in_bases().unwrap();
    all.extend([false, true].map(|zeros| written(|text| bases.write_report(zeros, text))));
    let abundance = joined.abundance(3);
    let bases = abundance.of_bases(bases.tally(), joined.targets());
    all.push(written(|text| abundance.write_with_bases(&bases, text)));
    all
}

fn joined(paths: &[PathBuf]) -> JoinedResults {
    join(paths, &Cancel::default()).unwrap()
}

fn refused(paths: &[PathBuf]) -> String {
    let message = join(paths, &Cancel::default()).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}
