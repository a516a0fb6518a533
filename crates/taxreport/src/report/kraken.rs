//! Kraken's report.

use std::io::{self, Write};

use super::{FeatureCounts, Tally, percent, sums, walk};
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
        let columns = |node: Option<u32>| match &features {
            Some([hits, distinct]) => {
                let at = |sums: &[u64]| node.map_or(0, |node| sums[node as usize]);
                format!("\t{}\t{}", at(hits), at(distinct))
            }
            None => String::new(),
        };
        if self.unclassified > 0 || options.zero_counts || empty {
            let (share, reads) = (percent(self.unclassified, total), self.unclassified);
            let columns = columns(None);
            writeln!(output, "{share:6.2}\t{reads}\t{reads}{columns}\tU\t0\tunclassified")?;
        }
        let mut order = walk(tree, &clades, options.zero_counts);
        if order.is_empty() && empty {
            order.push(tree.root());
        }
        // The letter of the nearest main rank, and the steps from it.
        let mut codes = vec![('R', 0u32); tree.len()];
        // Written as they are: formatting pads letter by letter, and deep taxa stand far to the right.
        let mut blanks = String::new();
        for node in order {
            if node != tree.root() {
                let (letter, below) = codes[tree.parent(node) as usize];
                let own = tree.rank(node).letter().map(|letter| (letter, 0));
                codes[node as usize] = own.unwrap_or((letter, below + 1));
            }
            let (letter, below) = codes[node as usize];
            let code = if below == 0 { letter.to_string() } else { format!("{letter}{below}") };
            let clade = clades[node as usize];
            let indent = 2 * tree.depth(node) as usize;
            while blanks.len() < indent {
                blanks.push_str("  ");
            }
            writeln!(
                output,
                "{:6.2}\t{clade}\t{}{}\t{code}\t{}\t{}{}",
                percent(clade, total),
                self.own(node),
                columns(Some(node)),
                tree.taxid(node),
                &blanks[..indent],
                tree.name(node),
            )?;
        }
        Ok(())
    }
}
