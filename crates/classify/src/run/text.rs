//! A read's line in Kraken's format.

use std::io::Write;

use crate::{Candidate, Database, Verdict};

/// The taxon of a verdict.
pub(super) fn node(verdict: Verdict, target_nodes: &[u32]) -> Option<u32> {
    match verdict {
        Verdict::Unclassified => None,
        Verdict::Target(target) => Some(target_nodes[target as usize]),
        Verdict::Taxon(node) => Some(node),
    }
}

/// What a line tells.
pub(super) struct Line<'a> {
    pub(super) id: &'a [u8],
    pub(super) node: Option<u32>,
    pub(super) candidates: &'a [Candidate],
}

impl Line<'_> {
    /// Appends C or U, the read's name, its taxid or 0, its length (of both mates: `100|98`), and
    /// its candidates as `taxid:hits`, the best first.
    pub(super) fn write(
        &self,
        database: &Database,
        target_nodes: &[u32],
        (first, second): (usize, Option<usize>),
        text: &mut Vec<u8>,
    ) {
        let tree = database.taxonomy();
        text.extend_from_slice(if self.node.is_some() { b"C\t" } else { b"U\t" });
        text.extend_from_slice(self.id);
        put(text, format_args!("\t{}\t{first}", self.node.map_or(0, |node| tree.taxid(node))));
        if let Some(second) = second {
            put(text, format_args!("|{second}"));
        }
        for (number, candidate) in self.candidates.iter().enumerate() {
            // At rank sequence, candidates' taxa are no nodes.
            let node = match candidate.taxon {
                taxon if (taxon as usize) < tree.len() => taxon,
                _ => target_nodes[candidate.target as usize],
            };
            text.push(if number == 0 { b'\t' } else { b' ' });
            put(text, format_args!("{}:{}", tree.taxid(node), candidate.hits));
        }
        text.extend_from_slice(if self.candidates.is_empty() { b"\t0:0\n" } else { b"\n" });
    }
}

fn put(text: &mut Vec<u8>, words: std::fmt::Arguments<'_>) {
    // A Vec takes all that is written to it.
    let _ = text.write_fmt(words);
}
