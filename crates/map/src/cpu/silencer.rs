//! Selection of hits among good ends: a hit silences the other good ends near it.

use super::verify::End;
use crate::hits::{Hit, NO_SCRIPT};
use crate::reference::Text;

/// Working space of one thread.
#[derive(Debug, Default)]
pub(crate) struct Silencer {
    order: Vec<(u32, u32)>,
    silenced: Vec<bool>,
    /// The number of hits of the current query by their edits.
    counts: Vec<usize>,
    /// The total number of hits of the current query.
    all: usize,
}

/// The maximum number of hits of a query that are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quota {
    /// The maximum number of hits with the same number of edits.
    pub(crate) alike: usize,
    /// The maximum number of hits in total.
    pub(crate) all: usize,
}

impl Quota {
    /// No limits.
    pub(crate) const NONE: Quota = Quota { alike: usize::MAX, all: usize::MAX };
}

impl Silencer {
    /// Appends the hits among the good ends of one query, which are sorted and distinct.
    ///
    /// With `silence`, ends are taken in order of edits, then position, and each one silences the ends of its
    /// contig within that many bases. If the `quota` is exceeded, only the first ones become hits.
    pub(crate) fn take(
        &mut self,
        ends: &[End],
        silence: Option<u32>,
        text: &Text<'_>,
        quota: Quota,
        hits: &mut Vec<Hit>,
    ) {
        self.counts.clear();
        self.all = 0;
        let Some(reach) = silence else {
            ends.iter().for_each(|end| self.add(end, text, quota, hits));
            return;
        };
        // Ends farther apart than `reach` do not silence each other, and neither do ends on different
        // contigs.
        let contig = |end: &End| text.contig_at(i64::from(end.position));
        let close = |a: &End, b: &End| b.position - a.position <= reach && contig(a) == contig(b);
        for cluster in ends.chunk_by(close) {
            if let [end] = cluster {
                self.add(end, text, quota, hits);
                continue;
            }
            self.order.clear();
            self.order.extend((0..).zip(cluster).map(|(at, end)| (end.edits, at)));
            self.order.sort_unstable();
            self.silenced.clear();
            self.silenced.resize(cluster.len(), false);
            for next in 0..cluster.len() {
                let at = self.order[next].1 as usize;
                if self.silenced[at] {
                    continue;
                }
                self.add(&cluster[at], text, quota, hits);
                let near = |other: &&End| other.position.abs_diff(cluster[at].position) <= reach;
                let before = cluster[..at].iter().rev().take_while(near).count();
                let after = cluster[at..].iter().take_while(near).count();
                self.silenced[at - before..at + after].fill(true);
            }
        }
    }
}

impl Silencer {
    /// Appends the hit of an end unless the quota is used up.
    fn add(&mut self, end: &End, text: &Text<'_>, quota: Quota, hits: &mut Vec<Hit>) {
        if self.all == quota.all {
            return;
        }
        if quota.alike < usize::MAX {
            let edits = end.edits as usize;
            if self.counts.len() <= edits {
                self.counts.resize(edits + 1, 0);
            }
            if self.counts[edits] == quota.alike {
                return;
            }
            self.counts[edits] += 1;
        }
        self.all += 1;
        hits.push(hit(end, text));
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
        Silencer::default().take(&ends, Some(3), &reference.text(), Quota::NONE, &mut hits);
        let found: Vec<_> = hits.iter().map(|hit| (hit.contig, hit.end, hit.edits)).collect();
        assert_eq!(found, [(0, 14, 0), (0, 10, 2), (0, 62, 1), (1, 64, 0)]);
        assert!(hits[0].reverse);
        hits.clear();
        Silencer::default().take(&ends, None, &reference.text(), Quota::NONE, &mut hits);
        assert_eq!(hits.len(), 6);
        hits.clear();
        let two = Quota { alike: 2, ..Quota::NONE };
        Silencer::default().take(&ends, None, &reference.text(), two, &mut hits);
        let found: Vec<_> = hits.iter().map(|hit| (hit.end, hit.edits)).collect();
        assert_eq!(found, [(10, 2), (11, 1), (14, 0), (15, 1), (64, 0)]);
    }
}
