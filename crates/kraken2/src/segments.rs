//! Evidence by segment: the taxa of consecutive segments of a read, from the list of its k-mers' nodes.

use merganser_io::RecordBatch;
use merganser_taxreport::output::{
    Lines, Segment, add_segments, compared_clade, segment_count, segment_ranges,
};

use super::classify::{Hits, resolve_with};
use super::lines::{AMBIGUOUS, BORDER};
use super::taxonomy::Kraken2Taxonomy;

/// The minimum number of k-mers of a segment that are in the clade of its taxon; the taxon is moved up until there are
/// as many. A few k-mers of a long read agree with any taxon by chance.
const MIN_KMERS: u64 = 10;

/// Finds the taxa of segments.
#[derive(Debug)]
pub(super) struct Segments<'db> {
    tree: &'db Kraken2Taxonomy,
    /// The length of a segment in bases.
    length: usize,
    confidence: f64,
    /// For each segment of a read, its hits and the number of its k-mers.
    found: Vec<(Vec<Hits>, u64)>,
    path: Vec<(u32, u64)>,
}

impl<'db> Segments<'db> {
    /// Returns a finder of segments of `length` bases.
    pub(super) fn new(tree: &'db Kraken2Taxonomy, length: usize, confidence: f64) -> Self {
        Segments { tree, length, confidence, found: Vec::new(), path: Vec::new() }
    }

    /// Adds the lines of a read's segments. A k-mer belongs to the segment in which it begins; `kmers` is the list of
    /// the read's line. `name` is the read's name and `call` its node.
    pub(super) fn add(
        &mut self,
        (batch, read): (&RecordBatch, usize),
        name: &[u8],
        call: u32,
        kmers: &[Hits],
        lines: &mut Lines,
    ) {
        let (tree, mates) = (self.tree, batch.mates());
        let mut segments = Vec::new();
        let of_mates = kmers.split(|run| run.0 == BORDER).chain(std::iter::repeat(&[][..]));
        for (mate, kmers) in (0..mates).zip(of_mates) {
            let letters = batch.letter_count(read * mates + mate);
            self.divide(letters, kmers);
            for (range, (hits, total)) in segment_ranges(letters, self.length).zip(&mut self.found)
            {
                let least = (self.confidence * *total as f64).ceil() as u64;
                let all = hits.clone();
                let node = resolve_with(tree, hits, &mut self.path, least.max(MIN_KMERS));
                let clade = tree.clade(node);
                let is_in = |hit: &&Hits| clade.contains(&tree.clade(hit.0).start);
                let hits =
                    if node == 0 { 0 } else { all.iter().filter(is_in).map(|hit| hit.1).sum() };
                segments.push(Segment {
                    mate,
                    letters: range,
                    taxid: tree.taxid(node),
                    name: if node == 0 { b"unclassified" } else { tree.name(node) },
                    hits,
                    clade: compared_clade(lineage(tree, node)),
                });
            }
        }
        add_segments(name, tree.taxid(call), &segments, lines);
    }

    /// Divides the k-mers of a mate among its segments.
    fn divide(&mut self, letters: usize, kmers: &[Hits]) {
        let count = segment_count(letters, self.length);
        self.found.clear();
        self.found.resize(count, (Vec::new(), 0));
        let mut begin = 0;
        for &(node, number) in kmers {
            let end = begin + number as usize;
            while begin < end {
                let at = (begin / self.length).min(count - 1);
                let until = if at + 1 == count { end } else { end.min((at + 1) * self.length) };
                let (hits, total) = &mut self.found[at];
                let own = (until - begin) as u64;
                *total += own;
                if node != 0 && node != AMBIGUOUS {
                    hits.push((node, own));
                }
                begin = until;
            }
        }
    }
}

/// Returns a node and its ancestors with the letters of their ranks; nothing for node 0.
fn lineage(tree: &Kraken2Taxonomy, node: u32) -> impl Iterator<Item = (u32, Option<char>)> {
    let above = |&node: &u32| Some(tree.parent(node)).filter(|&above| above != 0);
    let nodes = std::iter::successors(Some(node).filter(|&node| node != 0), above);
    nodes.map(|node| (node, tree.letter(node)))
}
