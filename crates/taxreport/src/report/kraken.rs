//! Kraken's report.

use std::io::{self, Write};

use super::{FeatureCounts, KrakenRow, KrakenRows, RankCode, Tally, percent, sums, walk};
use merganser_taxonomy::Taxonomy;

/// What a report shows besides reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportOptions<'a> {
    /// Taxa without reads, too.
    pub zero_counts: bool,
    /// Two more columns: features of the reads, and distinct ones, in each clade.
    pub features: Option<&'a FeatureCounts>,
}

impl Tally {
    /// Writes the report as Kraken 2 does: per cent of all reads, reads in the clade, reads at the
    /// taxon itself, rank code, taxid, name with two blanks a level; unclassified reads first,
    /// then the tree, children with more reads first, then by taxid. Without any read, both the
    /// unclassified and the root are there, with 0.
    ///
    /// # Errors
    /// As writing.
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
        let mut codes = vec![RankCode::ROOT; tree.len()];
        for node in order {
            if node != tree.root() {
                let above = codes[tree.parent(node) as usize];
                codes[node as usize] = above.below(tree.rank(node).letter());
            }
            let clade = clades[node as usize];
            rows.write(&KrakenRow {
                percent: Some(percent(clade, total)),
                clade,
                own: self.own(node),
                minimizers: columns(Some(node)),
                rank: &codes[node as usize],
                taxid: tree.taxid(node).into(),
                depth: tree.depth(node) as usize,
                name: tree.name(node).as_bytes(),
            })?;
        }
        Ok(())
    }
}
