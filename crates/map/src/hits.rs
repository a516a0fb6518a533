//! From good ends to hits: which ends count, their order, and how sure the first one is.

use crate::reference::Text;
use crate::verify::End;

/// A hit of a read. The order is that in which hits are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    pub(crate) edits: u32,
    pub(crate) contig: u32,
    /// The position of the last base.
    pub(crate) end: u32,
    pub(crate) reverse: bool,
    /// Where its script begins, if a device made one: see [`crate::trace::Alignment::follow`].
    pub(crate) script: u32,
}

/// A hit without a script.
pub(crate) const NO_SCRIPT: u32 = u32::MAX;

/// The mapping quality of a hit that is the only one, and the highest of one that is not.
const ONLY: u32 = 60;
const MOST: u32 = 50;

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

/// The mapping quality of the first of some hits or combinations, whose edits are given in order.
pub(crate) fn quality(mut edits: impl Iterator<Item = u32>) -> u8 {
    let Some(best) = edits.next() else { return 0 };
    edits.next().map_or(ONLY, |next| (10 * (next - best)).min(MOST)) as u8
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

    #[test]
    fn qualities() {
        let of = |edits: &[u32]| quality(edits.iter().copied());
        assert_eq!([of(&[3]), of(&[1, 1]), of(&[0, 2, 2]), of(&[0, 9])], [60, 0, 20, 50]);
    }
}
