//! MetaPhlAn's table, as Kraken 2 writes it.

use std::io::{self, Write};

use super::{Tally, walk};
use crate::taxonomy::Taxonomy;

impl Tally {
    /// Writes `d__Bacteria|p__…<TAB>reads in the clade` for each taxon of a main rank, in the order
    /// of Kraken's report; with `zero_counts`, for those without reads, too.
    ///
    /// # Errors
    /// As writing.
    pub fn write_mpa(
        &self,
        tree: &Taxonomy,
        zero_counts: bool,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let clades = self.clades(tree);
        // The path to the last node, and where that of each of its ancestors ends in it.
        let mut path = String::new();
        let mut above: Vec<(u32, usize)> = Vec::new();
        for node in walk(tree, &clades, zero_counts) {
            while above.last().is_some_and(|(last, _)| *last != tree.parent(node)) {
                above.pop();
            }
            path.truncate(above.last().map_or(0, |(_, end)| *end));
            if let Some(letter) = tree.rank(node).letter() {
                let bar = if path.is_empty() { "" } else { "|" };
                path += &format!("{bar}{}__{}", letter.to_ascii_lowercase(), tree.name(node));
                writeln!(output, "{path}\t{}", clades[node as usize])?;
            }
            above.push((node, path.len()));
        }
        Ok(())
    }
}
