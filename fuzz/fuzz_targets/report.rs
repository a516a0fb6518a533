//! Arbitrary text as a Kraken-style report: rejected, or written and read back unchanged, combined with itself, and
//! filtered, without a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use merganser_taxreport::report::{CombinedReports, KrakenReport, ReportSelection};

fuzz_target!(|input: &[u8]| {
    let Ok(report) = KrakenReport::of_text(input) else { return };
    let mut text = Vec::new();
    report.write(&mut text).expect("writing to memory");
    let again = KrakenReport::of_text(&text).expect("the written file");
    let rows = |report: &KrakenReport| {
        let row = |row: &merganser_taxreport::report::ReportRow| {
            (row.clade, row.own, row.taxid, row.parent, row.name.clone())
        };
        report.rows().iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(rows(&report), rows(&again));
    let mut lines = Vec::new();
    report.write_mpa(&mut lines).expect("writing to memory");
    report.write_krona(&mut lines).expect("writing to memory");
    let mut combined = CombinedReports::default();
    for _ in 0..2 {
        combined.add(Path::new("x"), &report).expect("the same taxonomy");
    }
    assert_eq!(combined.report().total(), 2 * report.total());
    combined.write_table(&Default::default(), &mut lines).expect("writing to memory");
    let selection =
        ReportSelection { rank: Some("S".into()), min_reads: 2, ..ReportSelection::default() };
    let _ = selection.apply(&report);
});
