//! The text that Krona's ktImportText reads.

use std::io::{self, Write};

use super::{KrakenReport, Tally, walk};
use merganser_taxonomy::Taxonomy;

impl Tally {
    /// Writes a line for each taxon that reads were found to be of: the number of these, then the
    /// names from the top down, separated by tabs. Unclassified reads have a name of their own;
    /// those at the root have none, which adds them to the whole.
    ///
    /// # Errors
    /// As writing.
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
    /// Writes the same as [`Tally::write_krona`] from a report's rows.
    ///
    /// # Errors
    /// As writing.
    pub fn write_krona(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut lines = KronaLines::begin(self.unclassified(), output)?;
        let rows = self.in_order().into_iter().map(|at| &self.rows[at]);
        for row in rows.filter(|row| !row.is_unclassified()) {
            lines.enter(row.depth, (!row.is_root()).then_some(&row.name), row.own)?;
        }
        Ok(())
    }
}

/// Writes the lines of a walk from the top down.
struct KronaLines<'o> {
    output: &'o mut dyn Write,
    /// The names to the taxon that was entered last, each behind a tab,
    names: Vec<u8>,
    /// and where those to each taxon above end.
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

    /// Goes to the next taxon and writes its line, if it has reads of its own; the root has no name.
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
