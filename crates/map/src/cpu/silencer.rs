//! Selection of hits among good ends: a hit silences the other good ends near it, and those whose alignments begin
//! near its first base.

use merganser_run::Cancel;

use super::circles;
use super::verify::End;
use crate::hits::{Hit, NO_SCRIPT};
use crate::queries::Query;
use crate::reference::Text;
use crate::trace::Alignment;
use crate::{Config, NMode};

/// Working space of one thread.
#[derive(Debug, Default)]
pub(crate) struct Silencer {
    order: Vec<(u32, u32)>,
    states: Vec<State>,
    /// The positions of the first bases of the ends' alignments; [`UNKNOWN`] until they are needed.
    starts: Vec<u32>,
    alignment: Alignment,
    /// The good ends with those of circular contigs each at one place.
    unrolled: Vec<End>,
    /// The number of hits of the current query by their edits.
    counts: Vec<usize>,
    /// The total number of hits of the current query.
    all: usize,
}

/// The start of an alignment that is not traced yet.
const UNKNOWN: u32 = u32::MAX;

/// The state of a good end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Silenced,
    Taken,
}

/// The rule by which hits silence good ends of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SilenceRule<'a> {
    pub(crate) query: Query<'a>,
    pub(crate) text: &'a Text<'a>,
    pub(crate) mode: NMode,
    /// The distance in bases within which a hit silences; `None` if all good ends are hits.
    pub(crate) reach: Option<u32>,
    /// Whether hits silence by their first bases, too.
    pub(crate) by_start: bool,
}

impl<'a> SilenceRule<'a> {
    /// Returns the rule for hits of a query with up to `edits` edits.
    pub(crate) fn new(
        query: Query<'a>,
        text: &'a Text<'a>,
        edits: u32,
        config: &Config,
    ) -> SilenceRule<'a> {
        let reach = (!config.hamming).then_some(edits);
        SilenceRule { query, text, mode: config.n_mode, reach, by_start: !config.echoes }
    }

    /// Returns the distance in bases between two ends beyond which neither silences the other.
    pub(super) fn farthest(&self) -> u32 {
        let reach = self.reach.unwrap_or(0);
        if self.by_start { reach.saturating_mul(4) } else { reach }
    }
}

/// Whether the alignments that end at two positions with these edits may begin within `reach` bases of each other. An
/// alignment spans as many bases as its read, or up to as many more or fewer as it has edits, and may end after its
/// end by as many.
pub(crate) fn may_share_start(positions: [u32; 2], edits: [u32; 2], reach: u32) -> bool {
    let [one, two] = edits;
    positions[0].abs_diff(positions[1]) <= reach + one + two + one.max(two)
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
    /// Returns a silencer that stops early, with unspecified results, after the run is cancelled.
    pub(crate) fn of_run(cancel: &Cancel) -> Silencer {
        Silencer { alignment: Alignment::of_run(cancel), ..Silencer::default() }
    }

    /// Appends the hits among the good ends of one query, which are sorted and distinct.
    ///
    /// Ends are taken in order of edits, then position, unless they are silenced, or one base behind an end with fewer
    /// edits. Each one that is taken silences the ends of its contig within the reach of the `rule` and, if hits silence
    /// by their first bases, the ends whose alignments begin within this distance of its own first base. If the `quota`
    /// is exceeded, only the first ones become hits. On a circular contig, which has its first bases twice, ends at the
    /// same base are one.
    pub(crate) fn take(
        &mut self,
        ends: &[End],
        rule: &SilenceRule<'_>,
        quota: Quota,
        hits: &mut Vec<Hit>,
    ) {
        self.counts.clear();
        self.all = 0;
        if !rule.text.has_circles {
            return self.take_linear(ends, rule, quota, hits);
        }
        let mut unrolled = std::mem::take(&mut self.unrolled);
        circles::unroll(ends, rule, &mut unrolled);
        let first = hits.len();
        self.take_linear(&unrolled, rule, quota, hits);
        hits[first..].iter_mut().for_each(|hit| circles::settle(hit, rule));
        self.unrolled = unrolled;
    }

    /// Does the same for ends on linear contigs, or on circular ones of which none silences an end across its junction.
    fn take_linear(
        &mut self,
        ends: &[End],
        rule: &SilenceRule<'_>,
        quota: Quota,
        hits: &mut Vec<Hit>,
    ) {
        let text = rule.text;
        let Some(reach) = rule.reach else {
            ends.iter().for_each(|end| self.add(end, text, quota, hits));
            return;
        };
        // Ends farther apart do not silence each other, and neither do ends on different contigs.
        let farthest = rule.farthest();
        let contig = |end: &End| text.contig_at(i64::from(end.position));
        let close =
            |a: &End, b: &End| b.position - a.position <= farthest && contig(a) == contig(b);
        for cluster in ends.chunk_by(close) {
            if let [end] = cluster {
                self.add(end, text, quota, hits);
                continue;
            }
            self.order.clear();
            self.order.extend((0..).zip(cluster).map(|(at, end)| (end.edits, at)));
            self.order.sort_unstable();
            self.states.clear();
            self.states.resize(cluster.len(), State::Open);
            self.starts.clear();
            self.starts.resize(cluster.len(), UNKNOWN);
            for next in 0..cluster.len() {
                let at = self.order[next].1 as usize;
                if self.states[at] != State::Open {
                    continue;
                }
                if is_extended(cluster, at)
                    || rule.by_start && self.shares_start(cluster, at, rule, reach)
                {
                    self.states[at] = State::Silenced;
                    continue;
                }
                self.add(&cluster[at], text, quota, hits);
                for near in near(cluster, at, reach) {
                    self.states[near] = State::Silenced;
                }
                self.states[at] = State::Taken;
            }
        }
    }

    /// Whether the alignment of an end begins near the first base of a hit that was taken.
    fn shares_start(
        &mut self,
        cluster: &[End],
        at: usize,
        rule: &SilenceRule<'_>,
        reach: u32,
    ) -> bool {
        near(cluster, at, reach.saturating_mul(4)).any(|other| {
            let pair = [at, other].map(|at| &cluster[at]);
            self.states[other] == State::Taken
                && may_share_start(pair.map(|end| end.position), pair.map(|end| end.edits), reach)
                && {
                    let starts = [at, other].map(|at| self.start(cluster, at, rule));
                    starts[0].abs_diff(starts[1]) <= reach
                }
        })
    }

    /// Returns the position of the first base of an end's alignment.
    fn start(&mut self, cluster: &[End], at: usize, rule: &SilenceRule<'_>) -> u32 {
        if self.starts[at] == UNKNOWN {
            let End { position, edits, .. } = cluster[at];
            let contig = &rule.text.contigs[rule.text.contig_at(i64::from(position))];
            self.alignment.trace(&rule.query, rule.text, contig, position, edits, rule.mode);
            self.starts[at] = self.alignment.start;
        }
        self.starts[at]
    }
}

/// Whether an end may be that of an alignment to the end one base before it, with one base of the reference deleted
/// behind it. That alignment is the better one.
pub(crate) fn is_extended(ends: &[End], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &ends[before]);
    let is_before = |before: &End| {
        before.position + 1 == ends[at].position && before.edits + 1 == ends[at].edits
    };
    before.is_some_and(is_before)
}

/// Returns the numbers of the ends within `reach` bases of an end, including itself.
fn near(cluster: &[End], at: usize, reach: u32) -> std::ops::Range<usize> {
    let is_near = |other: &&End| other.position.abs_diff(cluster[at].position) <= reach;
    let before = cluster[..at].iter().rev().take_while(is_near).count();
    let after = cluster[at..].iter().take_while(is_near).count();
    at - before..at + after
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
    use merganser_test_random::Random;

    use super::*;
    use crate::queries::Queries;
    use crate::reference::Reference;

    #[test]
    fn ends_are_silenced_within_their_contig_alone() {
        let reference = Reference::of(&[b"A".repeat(64), b"A".repeat(64)]);
        let (text, mut queries) = (reference.text(), Queries::default());
        queries.push(b"AAAA", 3).unwrap();
        let query = queries.get(1);
        let rule = |reach| SilenceRule {
            query,
            text: &text,
            mode: NMode::Mismatch,
            reach,
            by_start: false,
        };
        let end = |position, edits| End { query: 1, position, edits };
        let ends = [end(10, 2), end(11, 1), end(14, 0), end(15, 1), end(62, 1), end(64, 0)];
        let mut hits = Vec::new();
        Silencer::default().take(&ends, &rule(Some(3)), Quota::NONE, &mut hits);
        let found: Vec<_> = hits.iter().map(|hit| (hit.contig, hit.end, hit.edits)).collect();
        assert_eq!(found, [(0, 14, 0), (0, 10, 2), (0, 62, 1), (1, 64, 0)]);
        assert!(hits[0].reverse);
        hits.clear();
        Silencer::default().take(&ends, &rule(None), Quota::NONE, &mut hits);
        assert_eq!(hits.len(), 6);
        hits.clear();
        let two = Quota { alike: 2, ..Quota::NONE };
        Silencer::default().take(&ends, &rule(None), two, &mut hits);
        let found: Vec<_> = hits.iter().map(|hit| (hit.end, hit.edits)).collect();
        assert_eq!(found, [(10, 2), (11, 1), (14, 0), (15, 1), (64, 0)]);
    }

    /// An alignment to the end 13 with a deletion behind it ends at 14. At 15, another one has as many edits.
    #[test]
    fn an_end_behind_a_better_one_is_no_hit() {
        let reference = Reference::of(&[b"A".repeat(64)]);
        let (text, mut queries) = (reference.text(), Queries::default());
        queries.push(b"AAAA", 3).unwrap();
        let (query, mode) = (queries.get(0), NMode::Mismatch);
        let rule = SilenceRule { query, text: &text, mode, reach: Some(3), by_start: false };
        let end = |position, edits| End { query: 0, position, edits };
        let ends = [end(10, 0), end(13, 2), end(14, 3), end(15, 3)];
        for (count, expected) in [(3, &[10][..]), (4, &[10, 15])] {
            let mut hits = Vec::new();
            Silencer::default().take(&ends[..count], &rule, Quota::NONE, &mut hits);
            assert_eq!(hits.iter().map(|hit| hit.end).collect::<Vec<_>>(), expected);
        }
    }

    /// 93M1D7M and 93M4I3M begin at the same base: only the first one is a hit, unless echoes are reported.
    #[test]
    fn an_echo_of_a_hit_is_silenced() {
        let contig = Random(3).bases(400);
        let read = [&contig[100..193], &contig[194..201]].concat();
        let reference = Reference::of(std::slice::from_ref(&contig));
        let (text, mut queries) = (reference.text(), Queries::default());
        queries.push(&read, 5).unwrap();
        let query = queries.get(0);
        let rule = SilenceRule {
            query,
            text: &text,
            mode: NMode::Mismatch,
            reach: Some(5),
            by_start: true,
        };
        let end = |position, edits| End { query: 0, position, edits };
        let start = reference.contigs[0].start;
        // The second end has four edits if the last bases are taken for inserted ones.
        let ends = [end(start + 194, 5), end(start + 200, 1)];
        let mut hits = Vec::new();
        Silencer::default().take(&ends, &rule, Quota::NONE, &mut hits);
        assert_eq!(hits.len(), 1);
        let echoes = SilenceRule { by_start: false, ..rule };
        hits.clear();
        Silencer::default().take(&ends, &echoes, Quota::NONE, &mut hits);
        assert_eq!(hits.len(), 2);
    }
}
