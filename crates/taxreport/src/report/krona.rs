//! Text files for Krona's ktImportText.

use std::io::{self, Write};

use super::{KrakenReport, Tally, walk};
use merganser_taxonomy::Taxonomy;

impl Tally {
    /// Writes a line for each taxon with reads of its own: their number, then the names from the top down,
    /// separated by tabs. Unclassified reads get a name of their own; reads of the root have no name, so that they
    /// count for the whole.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_krona(&self, tree: &Taxonomy, output: &mut dyn Write) -> io::Result<()> {
        let mut lines = KronaLines::begin(self.unclassified, output)?;
        for node in walk(tree, &self.clades(tree), false) {
            let name = (node != tree.root()).then(|| tree.name(node).as_bytes());
            lines.enter(tree.depth(node) as usize, name, self.own(node))?;
        }
        Ok(())
    }
}

impl KrakenReport {
    /// Writes the text of [`Tally::write_krona`] from the rows of a report.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_krona(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut lines = KronaLines::begin(self.unclassified(), output)?;
        let rows = self.in_order().into_iter().map(|at| &self.rows[at]);
        for row in rows.filter(|row| !row.is_unclassified()) {
            lines.enter(row.depth, (!row.is_root()).then_some(&row.name), row.own)?;
        }
        Ok(())
    }
}

/// Writes the lines of taxa in preorder.
struct KronaLines<'o> {
    output: &'o mut dyn Write,
    /// The names on the path to the current taxon, each after a tab.
    names: Vec<u8>,
    /// The end of the path of each taxon on it.
    ends: Vec<usize>,
}

impl<'o> KronaLines<'o> {
    fn begin(unclassified: u64, output: &'o mut dyn Write) -> io::Result<KronaLines<'o>> {
        writeln!(output, "# reads\ttaxa from the highest to the lowest")?;
        if unclassified > 0 {
            writeln!(output, "{unclassified}\tUnclassified")?;
        }
        Ok(KronaLines { output, names: Vec::new(), ends: Vec::new() })
    }

    /// Goes to the next taxon and writes its line if it has reads of its own; the root has no name.
    fn enter(&mut self, depth: usize, name: Option<&[u8]>, own: u64) -> io::Result<()> {
        self.ends.truncate(depth);
        self.names.truncate(self.ends.last().copied().unwrap_or(0));
        if let Some(name) = name {
            self.names.push(b'\t');
            self.names.extend_from_slice(name);
        }
        self.ends.push(self.names.len());
        if own == 0 {
            return Ok(());
        }
        write!(self.output, "{own}")?;
        self.output.write_all(&self.names)?;
        self.output.write_all(b"\n")
    }
}
