//! The text that Krona's ktImportText reads.

use std::io::{self, Write};

use super::{Tally, walk};
use crate::taxonomy::Taxonomy;

impl Tally {
    /// Writes a line for each taxon that reads were found to be of: the number of these, then the
    /// names from the top down, separated by tabs. Unclassified reads have a name of their own;
    /// those at the root have none, which adds them to the whole.
    ///
    /// # Errors
    /// As writing.
    pub fn write_krona(&self, tree: &Taxonomy, output: &mut dyn Write) -> io::Result<()> {
        writeln!(output, "# reads\ttaxa from the highest to the lowest")?;
        if self.unclassified > 0 {
            writeln!(output, "{}\tUnclassified", self.unclassified)?;
        }
        for node in walk(tree, &self.clades(tree), false) {
            let reads = self.own(node);
            if reads == 0 {
                continue;
            }
            let below_root = tree.lineage(node).filter(|&node| node != tree.root());
            let mut names: Vec<&str> = below_root.map(|node| tree.name(node)).collect();
            names.push("");
            names.reverse();
            writeln!(output, "{reads}{}", names.join("\t"))?;
        }
        Ok(())
    }
}
