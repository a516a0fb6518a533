//! HTML pages of reports.

use merganser_report::data::{Data, Taxa, Taxon};
use merganser_report::html;
use merganser_taxreport::report::KrakenReport;

/// Returns the page of some samples: their names and reports.
///
/// # Errors
/// Describes what cannot be shown.
pub(super) fn of(samples: &[(&str, &KrakenReport)]) -> Result<String, String> {
    let data: Vec<Data> = samples.iter().map(|(name, report)| data(name, report)).collect();
    html::page(&data).map_err(|error| error.to_string())
}

fn data(sample: &str, report: &KrakenReport) -> Data {
    let mut data = Data::new(env!("CARGO_PKG_VERSION"), "report html", sample);
    data.inputs.push(sample.to_owned());
    let rows = report.rows().iter().filter(|row| !row.is_unclassified());
    let rows = rows.map(|row| Taxon {
        depth: row.depth as u32,
        rank: row.letter().map_or_else(|| row.rank.clone(), String::from),
        taxid: row.taxid,
        name: String::from_utf8_lossy(&row.name).into_owned(),
        clade: row.clade,
        own: row.own,
        bases: None,
        kmers: row.minimizers.map(|minimizers| minimizers.found),
        distinct: row.minimizers.map(|minimizers| minimizers.distinct),
        abundance: None,
    });
    data.taxa = Some(Taxa {
        reads: report.total(),
        unclassified: report.unclassified(),
        bases: None,
        unclassified_bases: None,
        rows: rows.collect(),
    });
    data
}
