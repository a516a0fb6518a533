//! Data of classification reports.

use std::collections::HashMap;

pub(crate) use merganser_report::taxa::of;
use merganser_taxonomy::Taxonomy;
use merganser_taxreport::report::Abundance;

/// Returns the estimated share of each taxon in all classified reads, by taxid.
pub(crate) fn shares(abundance: &Abundance<'_>, tree: &Taxonomy) -> HashMap<u64, f64> {
    let all = abundance.estimated(0).max(1) as f64;
    let nodes = 0..tree.len() as u32;
    let shares =
        nodes.map(|node| (u64::from(tree.taxid(node)), abundance.estimated(node) as f64 / all));
    shares.filter(|(_, share)| *share > 0.0).collect()
}
