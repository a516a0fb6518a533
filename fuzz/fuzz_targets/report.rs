//! Any text as a Kraken-style report: refused, or written and read back as it is, joined with itself, and
//! selected from, without a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use merganser_taxreport::report::{CombinedReports, KrakenReport, ReportSelection};

fuzz_target!(|input: &[u8]| {
    let Ok(report) = KrakenReport::of_text(input) else { return };
    let mut text = Vec::new();
    report.write(&mut text).expect("memory takes it");
    let again = KrakenReport::of_text(&text).expect("what was written");
    let rows = |report: &KrakenReport| {
        let row = |row: &merganser_taxreport::report::ReportRow| {
            (row.clade, row.own, row.taxid, row.parent, row.name.clone())
        };
        report.rows().iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(rows(&report), rows(&again));
    let mut lines = Vec::new();
    report.write_mpa(&mut lines).expect("memory takes it");
    report.write_krona(&mut lines).expect("memory takes it");
    let mut combined = CombinedReports::default();
    for _ in 0..2 {
        combined.add(Path::new("x"), &report).expect("the same taxonomy");
    }
    assert_eq!(combined.report().total(), 2 * report.total());
    combined.write_table(&Default::default(), &mut lines).expect("memory takes it");
    let selection =
        ReportSelection { rank: Some("S".into()), min_reads: 2, ..ReportSelection::default() };
    let _ = selection.apply(&report);
});
