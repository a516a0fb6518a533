//! Kraken's report: reads by taxon, as a tree.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::taxonomy::Taxonomy;

/// Reads by taxon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    unclassified: u64,
    /// By node.
    reads: BTreeMap<u32, u64>,
}

impl Report {
    pub(super) fn count(&mut self, node: Option<u32>) {
        match node {
            Some(node) => *self.reads.entry(node).or_default() += 1,
            None => self.unclassified += 1,
        }
    }

    pub(super) fn add(&mut self, other: Report) {
        self.unclassified += other.unclassified;
        for (node, reads) in other.reads {
            *self.reads.entry(node).or_default() += reads;
        }
    }

    /// Writes the report as Kraken 2 does: per cent of all reads, reads in the clade, reads at the
    /// taxon itself, rank code, taxid, name with two blanks a level; unclassified reads first,
    /// then the tree, children with more reads first, then by taxid.
    ///
    /// # Errors
    /// As writing.
    pub fn write(&self, tree: &Taxonomy, output: &mut dyn Write) -> io::Result<()> {
        let mut clades = vec![0u64; tree.len()];
        for (&node, &reads) in &self.reads {
            tree.lineage(node).for_each(|above| clades[above as usize] += reads);
        }
        let total = self.unclassified + clades[tree.root() as usize];
        let share = |reads: u64| 100.0 * reads as f64 / total.max(1) as f64;
        if self.unclassified > 0 {
            let reads = self.unclassified;
            writeln!(output, "{:6.2}\t{reads}\t{reads}\tU\t0\tunclassified", share(reads))?;
        }
        let mut children = vec![Vec::new(); tree.len()];
        for node in (1..tree.len() as u32).filter(|&node| clades[node as usize] > 0) {
            children[tree.parent(node) as usize].push(node);
        }
        let mut stack = Vec::new();
        if clades[tree.root() as usize] > 0 {
            stack.push((tree.root(), 'R', 0));
        }
        while let Some((node, letter, below)) = stack.pop() {
            let code = if below == 0 { letter.to_string() } else { format!("{letter}{below}") };
            let (clade, own) = (clades[node as usize], self.reads.get(&node).copied().unwrap_or(0));
            let indent = 2 * tree.depth(node) as usize;
            let (taxid, name) = (tree.taxid(node), tree.name(node));
            writeln!(
                output,
                "{:6.2}\t{clade}\t{own}\t{code}\t{taxid}\t{:indent$}{name}",
                share(clade),
                ""
            )?;
            let mut next = std::mem::take(&mut children[node as usize]);
            next.sort_by_key(|&child| {
                (clades[child as usize], std::cmp::Reverse(tree.taxid(child)))
            });
            stack.extend(next.into_iter().map(|child| match tree.rank(child).letter() {
                Some(own) => (child, own, 0),
                None => (child, letter, below + 1),
            }));
        }
        Ok(())
    }
}
