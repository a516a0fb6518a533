//! Writer of Kraken's report.

use std::io::{self, Write};

use super::{FeatureCounts, KrakenRow, KrakenRows, RankCode, Tally, percent, sums, walk};
use crate::by_database::{DatabaseReads, DatabaseRow};
use merganser_taxonomy::Taxonomy;

/// Optional content of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportOptions<'a> {
    /// Whether taxa without reads are listed as well.
    pub zero_counts: bool,
    /// The counts for two more columns: the features of the reads and the distinct ones in each clade.
    pub features: Option<&'a FeatureCounts>,
}

impl Tally {
    /// Writes the report as Kraken 2 does: percentage of all reads, reads of the clade, reads of the taxon
    /// itself, rank code, taxid, and the name, indented by two blanks per level. Unclassified reads come first, then
    /// the tree, children with more reads first, then by taxid. Without reads, the unclassified reads and the root
    /// are both listed with 0.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_kraken(
        &self,
        tree: &Taxonomy,
        options: ReportOptions<'_>,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let clades = self.clades(tree);
        let total = self.total();
        let empty = total == 0;
        let features = options.features.map(|counts| counts.by_node().map(|own| sums(tree, own)));
        let columns = |node: Option<u32>| {
            let at = |sums: &Vec<u64>| node.map_or(0, |node| sums[node as usize]);
            features.as_ref().map(|[hits, distinct]| [at(hits), at(distinct)])
        };
        let mut rows = KrakenRows::new(output);
        if self.unclassified > 0 || options.zero_counts || empty {
            rows.write(&KrakenRow {
                percent: Some(percent(self.unclassified, total)),
                clade: self.unclassified,
                own: self.unclassified,
                minimizers: columns(None),
                rank: &'U',
                taxid: 0,
                depth: 0,
                name: b"unclassified",
            })?;
        }
        let mut order = walk(tree, &clades, options.zero_counts);
        if order.is_empty() && empty {
            order.push(tree.root());
        }
        with_codes(tree, &order, |node, code| {
            let clade = clades[node as usize];
            rows.write(&KrakenRow {
                percent: Some(percent(clade, total)),
                clade,
                own: self.own(node),
                minimizers: columns(Some(node)),
                rank: &code,
                taxid: tree.taxid(node).into(),
                depth: tree.depth(node) as usize,
                name: tree.name(node).as_bytes(),
            })
        })
    }

    /// Writes the table of the reads that each database supports: for each taxon with reads, in the order of the report,
    /// the reads of the clade and of the taxon itself, in all and for each database. `by_database` must have the
    /// classified reads of this tally.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_by_database(
        &self,
        tree: &Taxonomy,
        by_database: &DatabaseReads,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let clades = self.clades(tree);
        let parent = |node| (node != tree.root()).then(|| tree.parent(node));
        let supported = by_database.clades(parent);
        by_database.write_head(output)?;
        with_codes(tree, &walk(tree, &clades, false), |node, code| {
            let row = DatabaseRow {
                taxid: tree.taxid(node),
                rank: &code,
                name: tree.name(node).as_bytes(),
                reads: [clades[node as usize], self.own(node)],
                by_clade: supported.get(&node).map_or(&[], Vec::as_slice),
                by_node: &by_database.own(node),
            };
            DatabaseReads::write_row(&row, output)
        })
    }
}

/// Calls `write` with each of the nodes, which are in preorder, and the code of its rank.
fn with_codes(
    tree: &Taxonomy,
    order: &[u32],
    mut write: impl FnMut(u32, RankCode) -> io::Result<()>,
) -> io::Result<()> {
    let mut codes = vec![RankCode::ROOT; tree.len()];
    for &node in order {
        if node != tree.root() {
            let above = codes[tree.parent(node) as usize];
            codes[node as usize] = above.below(tree.rank(node).letter());
        }
        write(node, codes[node as usize])?;
    }
    Ok(())
}
