//! The names of taxa in reports and taxonomies, for `--taxid`.

use std::path::Path;

use anyhow::Result;
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::report::KrakenReport;

use crate::args::taxon::{NamedTaxon, TaxonArg, has_names, taxids};

/// Returns the taxids of taxa, whose names are those of a report.
///
/// # Errors
/// See [`taxids`].
pub(crate) fn taxids_in_report(
    taxa: &[TaxonArg],
    report: &KrakenReport,
    path: &Path,
) -> Result<Vec<u64>> {
    let rows = if has_names(taxa) { report.rows() } else { &[] };
    let named = rows.iter().map(|row| NamedTaxon {
        taxid: row.taxid,
        name: String::from_utf8_lossy(&row.name).into_owned(),
        rank: row.rank.clone(),
    });
    taxids(taxa, &named.collect::<Vec<_>>(), &path.display().to_string())
}

/// Returns the taxids of taxa, whose names are those of a taxonomy.
///
/// # Errors
/// See [`taxids`].
pub(crate) fn taxids_in_taxonomy(
    taxa: &[TaxonArg],
    tree: &Taxonomy,
    path: &Path,
) -> Result<Vec<u64>> {
    let nodes = if has_names(taxa) { tree.len() } else { 0 };
    let named = (0..u32::try_from(nodes).unwrap_or(u32::MAX)).map(|node| NamedTaxon {
        taxid: u64::from(tree.taxid(node)),
        name: tree.name(node).to_owned(),
        rank: tree.rank_name(node).to_owned(),
    });
    taxids(taxa, &named.collect::<Vec<_>>(), &path.display().to_string())
}
