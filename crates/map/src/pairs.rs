//! Pairs: the concordant combinations of the mates' hits.
//!
//! In repeats, a pair can have as many combinations as the product of the mates' numbers of hits. If there are
//! at most [`MAX_LISTED`], all are listed. If there are more, they are only counted, and are enumerated a
//! second time when they are needed.

use std::ops::ControlFlow;

use merganser_run::Cancel;

use crate::Config;
use crate::hits::Hit;
use crate::index::IndexView;
use crate::orientation::Span;
use crate::queries::Queries;
use crate::trace::Alignment;

/// The mates of a pair.
#[derive(Clone, Copy)]
pub(crate) struct Mates<'a> {
    pub(crate) queries: &'a Queries,
    /// The index of the first mate; the second one follows.
    pub(crate) read: usize,
    /// The hits of each mate, sorted.
    pub(crate) hits: [&'a [Hit]; 2],
    /// The edit scripts that the hits refer to.
    pub(crate) scripts: &'a [u16],
}

/// A concordant combination. Combinations are ordered by the sum of both mates' edits, then by the contig, both ends
/// and the first mate's strand. They are reported in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Combination {
    pub(crate) edits: u32,
    contig: u32,
    ends: [u32; 2],
    reverse: bool,
    /// The index of each mate's hit.
    pub(crate) hits: [u32; 2],
}

/// The maximum number of combinations of a pair that are listed; more are counted.
const MAX_LISTED: usize = if cfg!(test) { 1 << 4 } else { 1 << 17 };
/// Bytes of working space for each hit of a mate.
pub(crate) const HIT_BYTES: usize = size_of::<Span>() + size_of::<u32>();

/// The span of a hit that is not traced yet.
const UNKNOWN: Span = [u32::MAX; 2];

/// A finder of concordant combinations, one for each thread.
pub(crate) struct Pairing<'r> {
    view: IndexView<'r>,
    config: &'r Config,
    alignment: Alignment,
    /// The span of each hit of each mate; [`UNKNOWN`] until it is needed.
    spans: [Vec<Span>; 2],
    /// The hits of the first mate by contig, end and strand; those of the second mate by strand, contig and
    /// end.
    order: [Vec<u32>; 2],
    /// The number of the second mate's hits on the forward strand.
    forward: usize,
    /// Cancellation, which also stops the work on a pair with very many combinations.
    cancel: Cancel,
    found: Found,
    /// Working space: the combinations with the same contig and end of the first mate.
    together: Vec<Combination>,
}

/// The combinations of a pair.
enum Found {
    /// All combinations, sorted.
    Listed(Vec<Combination>),
    /// The number of combinations by number of edits. If the number of reported combinations is limited, the
    /// enumeration may have ended early; the counts then include at least one combination with the fewest possible
    /// edits more than are reported.
    Counted(Vec<u64>),
}

impl Found {
    fn add(&mut self, combination: &Combination) {
        if let Found::Listed(list) = self {
            if list.len() < MAX_LISTED {
                list.push(*combination);
                return;
            }
            let listed = std::mem::take(list);
            *self = Found::Counted(Vec::new());
            listed.iter().for_each(|earlier| self.add(earlier));
        }
        if let Found::Counted(counts) = self {
            let edits = combination.edits as usize;
            if counts.len() <= edits {
                counts.resize(edits + 1, 0);
            }
            counts[edits] += 1;
        }
    }

    /// Whether at least `number` combinations with this many edits have been counted.
    fn has_counted(&self, edits: u32, number: u64) -> bool {
        let counts = match self {
            Found::Listed(_) => return false,
            Found::Counted(counts) => counts,
        };
        counts.get(edits as usize).is_some_and(|&count| count >= number)
    }
}

/// Returns the number of combinations with the fewest possible edits that decide everything that is reported about
/// a pair: once they are found, the enumeration may stop. Returns `None` if all combinations are needed.
fn deciding(config: &Config) -> Option<u64> {
    // One more than are reported, to know whether some are left out.
    config.max_reported().map(|most| u64::from(most) + 1)
}

impl<'r> Pairing<'r> {
    pub(crate) fn new(view: IndexView<'r>, config: &'r Config, cancel: &Cancel) -> Pairing<'r> {
        Pairing {
            view,
            config,
            alignment: Alignment::of_run(cancel),
            spans: Default::default(),
            order: Default::default(),
            forward: 0,
            cancel: cancel.clone(),
            found: Found::Listed(Vec::new()),
            together: Vec::new(),
        }
    }

    /// Finds the concordant combinations of the mates' hits.
    ///
    /// A combination is concordant if the hits are on one contig, their strands and their order are those of
    /// [`Config::orientation`], and the insert size is in the configured range. The positions are those of the
    /// reported alignments, before ends are clipped. The alignment with the fewest gaps is reported, which may end
    /// after [`Hit::end`], by at most as many bases as it has edits. At least one mate must be within the number of edits that is allowed for hits; the other may be a rescued
    /// mate with more. After a cancellation, some combinations are missing.
    pub(crate) fn combine(&mut self, mates: &Mates<'_>) {
        match &mut self.found {
            Found::Listed(list) => list.clear(),
            Found::Counted(_) => self.found = Found::Listed(Vec::new()),
        }
        if mates.hits.iter().any(|hits| hits.is_empty()) {
            return;
        }
        self.prepare(mates);
        let mut found = std::mem::replace(&mut self.found, Found::Counted(Vec::new()));
        let fewest = mates.hits.iter().map(|hits| hits[0].edits).sum();
        let deciding = deciding(self.config);
        let _ = self.enumerate(mates, None, |combination| {
            found.add(combination);
            match deciding.is_some_and(|number| found.has_counted(fewest, number)) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        if let Found::Listed(list) = &mut found {
            list.sort_unstable();
        }
        self.found = found;
    }

    /// Whether there is no concordant combination.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.found, Found::Listed(list) if list.is_empty())
    }

    /// Returns each number of edits that combinations have, in ascending order, with the number of these
    /// combinations. If the number of reported combinations is limited, the list may be incomplete, but it
    /// suffices for what is reported.
    pub(crate) fn strata(&self) -> Vec<(u32, u64)> {
        match &self.found {
            Found::Listed(list) => {
                let strata = list.chunk_by(|a, b| a.edits == b.edits);
                strata.map(|stratum| (stratum[0].edits, stratum.len() as u64)).collect()
            }
            Found::Counted(counts) => {
                let strata = (0..).zip(counts.iter().copied());
                strata.filter(|&(_, count)| count > 0).collect()
            }
        }
    }

    /// Calls `take` with the combinations that [`combine`](Self::combine) found for these mates, in the order of
    /// [`Combination`], until it returns [`ControlFlow::Break`].
    pub(crate) fn each<B>(
        &mut self,
        mates: &Mates<'_>,
        mut take: impl FnMut(&Combination) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let found = std::mem::replace(&mut self.found, Found::Counted(Vec::new()));
        let done = match &found {
            Found::Listed(list) => list.iter().try_for_each(take),
            Found::Counted(counts) => {
                let edits = (0..counts.len()).filter(|&edits| counts[edits] > 0);
                let mut edits = edits.map(|edits| edits as u32);
                edits.try_for_each(|edits| self.enumerate(mates, Some(edits), &mut take))
            }
        };
        self.found = found;
        done
    }

    /// Orders the indices of both mates' hits, and resets the spans of the hits.
    fn prepare(&mut self, mates: &Mates<'_>) {
        for (spans, hits) in self.spans.iter_mut().zip(mates.hits) {
            spans.clear();
            spans.resize(hits.len(), UNKNOWN);
        }
        let [first, second] = &mut self.order;
        let [own, others] = mates.hits;
        first.clear();
        first.extend(0..own.len() as u32);
        first.sort_unstable_by_key(|&at| {
            let hit = &own[at as usize];
            (hit.contig, hit.end, hit.reverse)
        });
        second.clear();
        second.extend(0..others.len() as u32);
        second.sort_unstable_by_key(|&at| {
            let hit = &others[at as usize];
            (hit.reverse, hit.contig, hit.end)
        });
        self.forward = second.partition_point(|&at| !others[at as usize].reverse);
    }

    /// Calls `take` with all combinations, ordered by the first mate's contig and end. If `edits` is given,
    /// only combinations with this many edits are included, in the order of [`Combination`].
    fn enumerate<B>(
        &mut self,
        mates: &Mates<'_>,
        edits: Option<u32>,
        mut take: impl FnMut(&Combination) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let order = std::mem::take(&mut self.order);
        let mut together = std::mem::take(&mut self.together);
        let own = mates.hits[0];
        let most = mates.hits[1].last().map_or(0, |hit| hit.edits);
        let place = |at: &u32| (own[*at as usize].contig, own[*at as usize].end);
        let mut done = ControlFlow::Continue(());
        for same in order[0].chunk_by(|a, b| place(a) == place(b)) {
            together.clear();
            for &at in same {
                self.partners(mates, at as usize, &order[1], most, edits, &mut together);
            }
            if edits.is_some() {
                together.sort_unstable();
            }
            done = together.iter().try_for_each(&mut take);
            if done.is_break() || self.cancel.is_cancelled() {
                break;
            }
        }
        (self.order, self.together) = (order, together);
        done
    }

    /// Appends the combinations of one hit of the first mate. `order` lists the second mate's hits by strand, contig
    /// and end; `most_edits` is the maximum number of edits of any of them.
    fn partners(
        &mut self,
        mates: &Mates<'_>,
        at: usize,
        order: &[u32],
        most_edits: u32,
        edits: Option<u32>,
        found: &mut Vec<Combination>,
    ) {
        let (hit, others) = (mates.hits[0][at], mates.hits[1]);
        let orientation = self.config.orientation;
        let [_, reach] = self.config.inserts();
        let len = |mate: usize| mates.queries.get(2 * (mates.read + mate)).len as i64;
        let side = match orientation.partner(hit.reverse) {
            false => &order[..self.forward],
            true => &order[self.forward..],
        };
        // Only partners whose hits end between `from` and `to` are possible. The first base of a hit is known only
        // once the hit is traced; until then, bounds are used.
        let [end, own_edits, most_edits, reach] =
            [hit.end, hit.edits, most_edits, reach].map(i64::from);
        let [from, to] = match orientation.is_left(0, hit.reverse) {
            true => {
                let [least, most] = match self.spans[0][at] {
                    UNKNOWN => [end - len(0) - own_edits, end + own_edits],
                    span => [i64::from(span[0]); 2],
                };
                [least - most_edits, most + reach]
            }
            false => [end - reach - most_edits, end + own_edits + len(1) + most_edits],
        };
        let place = |at: u32| (others[at as usize].contig, others[at as usize].end);
        let before = found.len();
        let contig = &self.view.text.contigs[hit.contig as usize];
        let (is_circular, turn) = (contig.is_circular(), i64::from(contig.len));
        // On a circular contig, the pair may lie across the junction: the second mate is up to a turn farther along than
        // its hit says, or less far.
        for turns in [0, -1, 1].into_iter().take(if is_circular { 3 } else { 1 }) {
            let before_turns = |at: i64| (at - turns * turn).clamp(0, u32::MAX.into()) as u32;
            let [from, to] = [from, to].map(before_turns);
            let first = side.partition_point(|&other| place(other) < (hit.contig, from));
            for &other in &side[first..] {
                let partner = &others[other as usize];
                if place(other) > (hit.contig, to) || self.cancel.is_cancelled() {
                    break;
                }
                let sum = hit.edits + partner.edits;
                // A contig may be so short that both ways around it are concordant.
                let is_known = |found: &Combination| found.hits[1] == other;
                if edits.is_some_and(|edits| edits != sum)
                    || turns != 0 && found[before..].iter().any(is_known)
                    || !self.is_concordant(mates, [at, other as usize], turns)
                {
                    continue;
                }
                found.push(Combination {
                    edits: sum,
                    contig: hit.contig,
                    ends: [hit.end, partner.end],
                    reverse: hit.reverse,
                    hits: [at as u32, other],
                });
            }
        }
    }

    /// Whether the order and the insert size of two hits are allowed, and at least one of them is within the number
    /// of edits that is allowed for hits. The hits must be on the right strands of one contig. `turns` is the number of
    /// turns around a circular contig that are added to the second mate's position.
    fn is_concordant(&mut self, mates: &Mates<'_>, at: [usize; 2], turns: i64) -> bool {
        let hits = [0, 1].map(|mate| mates.hits[mate][at[mate]]);
        // Each read has two queries, one for each strand, with the same maximum number of edits.
        let is_hit = |mate: usize| {
            hits[mate].edits as usize <= mates.queries.get(2 * (mates.read + mate)).most
        };
        let orientation = self.config.orientation;
        let Some(left) = orientation.left(hits.map(|hit| hit.reverse)) else { return false };
        if !(is_hit(0) || is_hit(1)) {
            return false;
        }
        let [least, most] = self.config.inserts();
        let partner = &hits[1 - left];
        // Positions from the beginning of the contig, turned so that none is negative.
        let contig = &self.view.text.contigs[hits[0].contig as usize];
        let is_turned = |mate: usize| turns != 0 && (mate == 1) == (turns > 0);
        let turn = |mate: usize| if is_turned(mate) { contig.len } else { 0 };
        let (start, [of_left, of_partner]) = (contig.start, [turn(left), turn(1 - left)]);
        let own = self.span(mates, left, at[left]).map(|at| at - start + of_left);
        // The partner's alignment ends at its hit, or after it by at most its number of edits. This test rejects
        // most partners before they are traced.
        let end = partner.end - start + of_partner;
        let distance = |end: u32| (end + 1).saturating_sub(own[0]);
        if distance(end) > most || distance(end + partner.edits) < least.max(1) {
            return false;
        }
        let theirs = self.span(mates, 1 - left, at[1 - left]).map(|at| at - start + of_partner);
        orientation.insert(own, theirs).is_some_and(|insert| (least..=most).contains(&insert))
    }

    fn span(&mut self, mates: &Mates<'_>, mate: usize, at: usize) -> Span {
        let span = self.spans[mate][at];
        if span != UNKNOWN {
            return span;
        }
        let (text, mode, hit) = (&self.view.text, self.config.n_mode, &mates.hits[mate][at]);
        self.alignment.of_hit(mates.queries, mates.read + mate, hit, text, mode, mates.scripts);
        let span = [self.alignment.start, self.alignment.end - 1];
        self.spans[mate][at] = span;
        span
    }
}
