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
        let mut paths = vec![String::new(); tree.len()];
        for node in walk(tree, &clades, zero_counts) {
            let above = &paths[tree.parent(node) as usize];
            let Some(letter) = tree.rank(node).letter() else {
                paths[node as usize] = above.clone();
                continue;
            };
            let bar = if above.is_empty() { "" } else { "|" };
            let path = format!("{above}{bar}{}__{}", letter.to_ascii_lowercase(), tree.name(node));
            writeln!(output, "{path}\t{}", clades[node as usize])?;
            paths[node as usize] = path;
        }
        Ok(())
    }
}
