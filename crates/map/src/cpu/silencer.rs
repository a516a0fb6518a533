//! From good ends to hits: which ends count.

use super::verify::End;
use crate::hits::{Hit, NO_SCRIPT};
use crate::reference::Text;

/// A thread's memory.
#[derive(Debug, Default)]
pub(crate) struct Silencer {
    order: Vec<(u32, u32)>,
    silenced: Vec<bool>,
}

impl Silencer {
    /// Appends the hits among the good ends of one query: sorted, one of each position. With
    /// `silence`, ends are taken by (edits, position), and each silences those of its contig within
    /// so many bases of it.
    pub(crate) fn take(
        &mut self,
        ends: &[End],
        silence: Option<u32>,
        text: &Text<'_>,
        hits: &mut Vec<Hit>,
    ) {
        let Some(reach) = silence else {
            hits.extend(ends.iter().map(|end| hit(end, text)));
            return;
        };
        // Ends further apart than the reach do not silence each other, nor across contigs, which
        // lie apart by chance alone.
        let contig = |end: &End| text.contig_at(i64::from(end.position));
        let close = |a: &End, b: &End| b.position - a.position <= reach && contig(a) == contig(b);
        for cluster in ends.chunk_by(close) {
            if let [end] = cluster {
                hits.push(hit(end, text));
                continue;
            }
            self.order.clear();
            self.order.extend((0..).zip(cluster).map(|(at, end)| (end.edits, at)));
            self.order.sort_unstable();
            self.silenced.clear();
            self.silenced.resize(cluster.len(), false);
            for &(_, at) in &self.order {
                let at = at as usize;
                if self.silenced[at] {
                    continue;
                }
                hits.push(hit(&cluster[at], text));
                let near = |other: &&End| other.position.abs_diff(cluster[at].position) <= reach;
                let before = cluster[..at].iter().rev().take_while(near).count();
                let after = cluster[at..].iter().take_while(near).count();
                self.silenced[at - before..at + after].fill(true);
            }
        }
    }
}

fn hit(end: &End, text: &Text<'_>) -> Hit {
    let contig = text.contig_at(i64::from(end.position)) as u32;
    let (edits, reverse) = (end.edits, end.query % 2 == 1);
    Hit { edits, contig, end: end.position, reverse, script: NO_SCRIPT }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;

    #[test]
    fn ends_are_silenced_within_their_contig_alone() {
        let reference = Reference::of(&[b"A".repeat(64), b"A".repeat(64)]);
        let end = |position, edits| End { query: 1, position, edits };
        let ends = [end(10, 2), end(11, 1), end(14, 0), end(15, 1), end(62, 1), end(64, 0)];
        let mut hits = Vec::new();
        Silencer::default().take(&ends, Some(3), &reference.text(), &mut hits);
        let found: Vec<_> = hits.iter().map(|hit| (hit.contig, hit.end, hit.edits)).collect();
        assert_eq!(found, [(0, 14, 0), (0, 10, 2), (0, 62, 1), (1, 64, 0)]);
        assert!(hits[0].reverse);
        hits.clear();
        Silencer::default().take(&ends, None, &reference.text(), &mut hits);
        assert_eq!(hits.len(), 6);
    }
}
