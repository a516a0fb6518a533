//! Data of classification reports.

use std::collections::HashMap;

use merganser_taxreport::report::KrakenReport;

use crate::data::{Data, Taxa, Taxon};

/// Returns the data of a page about a report alone: the name of the sample, and that of its input.
pub fn data(sample: &str, input: String, report: &KrakenReport) -> Data {
    let mut data = Data::new(env!("CARGO_PKG_VERSION"), "report html", sample);
    data.inputs.push(input);
    data.taxa = Some(of(report, None, None));
    data
}

/// Converts a Kraken-style report, with the report of the reads' bases and estimated abundances by taxid if there are
/// any.
pub fn of(
    report: &KrakenReport,
    bases: Option<&KrakenReport>,
    abundance: Option<&HashMap<u64, f64>>,
) -> Taxa {
    let of_taxa: Option<HashMap<u64, u64>> =
        bases.map(|bases| bases.rows().iter().map(|row| (row.taxid, row.clade)).collect());
    let rows = report.rows().iter().filter(|row| !row.is_unclassified());
    let rows = rows.map(|row| Taxon {
        depth: row.depth as u32,
        rank: row.letter().map_or_else(|| row.rank.clone(), String::from),
        taxid: row.taxid,
        name: String::from_utf8_lossy(&row.name).into_owned(),
        clade: row.clade,
        own: row.own,
        bases: of_taxa.as_ref().map(|of| of.get(&row.taxid).copied().unwrap_or(0)),
        kmers: row.minimizers.map(|minimizers| minimizers.found),
        distinct: row.minimizers.map(|minimizers| minimizers.distinct),
        abundance: abundance.and_then(|shares| shares.get(&row.taxid).copied()),
    });
    Taxa {
        reads: report.total(),
        unclassified: report.unclassified(),
        bases: bases.map(KrakenReport::total),
        unclassified_bases: bases.map(KrakenReport::unclassified),
        rows: rows.collect(),
    }
}
