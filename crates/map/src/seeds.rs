//! Which stretches of a read are looked up: disjoint ones, one more than the edits allowed, so that
//! at least one of them is free of edits in every hit; and of all such sets one that occurs seldom.

use std::ops::Range;

use crate::NMode;
use crate::index::{LONGEST, SHORTEST, View};
use crate::queries::Query;

/// A seed that occurs: its first base in the read, and where its positions are in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seed {
    pub(crate) offset: u32,
    pub(crate) positions: Range<usize>,
}

/// How a query's hits can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// There are none.
    Nothing,
    /// Around the seeds' positions.
    Seeds,
    /// Anywhere: the reference has to be scanned.
    Scan,
}

/// A thread's memory.
#[derive(Debug, Default)]
pub(crate) struct Chooser {
    bounds: Vec<usize>,
    /// How often stretches occur, by begin and length.
    counts: Vec<u32>,
    /// The fewest positions of the first seeds up to a place, and the last seed of these.
    costs: Vec<u64>,
    last: Vec<u32>,
}

/// With so many positions the equal division is not worth improving: looking for a better one
/// takes longer than to verify them.
const CHEAP: usize = if cfg!(test) { 4 } else { 96 };
/// Distance of the places at which a better division may cut, in bases.
const STEP: usize = 4;

impl Chooser {
    /// Replaces `seeds` by those of a query that occur.
    pub(crate) fn choose(
        &mut self,
        view: &View<'_>,
        query: &Query<'_>,
        mode: NMode,
        seeds: &mut Vec<Seed>,
    ) -> Plan {
        seeds.clear();
        let count = query.edits + 1;
        if query.len <= query.edits || (mode == NMode::Mismatch && query.unknown > query.edits) {
            return Plan::Nothing;
        }
        if query.len / count < SHORTEST {
            return Plan::Scan;
        }
        let bounds = (0..=count).map(|number| number * query.len / count);
        self.bounds.clear();
        self.bounds.extend(bounds);
        if mode == NMode::Match && query.unknown > 0 {
            let clean = |pair: &[usize]| !query.has_others(pair[0], pair[1]);
            if !self.bounds.windows(2).all(clean) {
                return Plan::Scan;
            }
        }
        let found = look_up(view, query, &self.bounds, seeds);
        if found > CHEAP {
            self.improve(view, query, found, seeds);
        }
        Plan::Seeds
    }

    /// Looks for a division that occurs less often: all divisions into seeds that begin and end at
    /// multiples of [`STEP`] are compared (dynamic programming over the places of cuts).
    fn improve(&mut self, view: &View<'_>, query: &Query<'_>, found: usize, seeds: &mut Vec<Seed>) {
        let (len, count) = (query.len, query.edits + 1);
        let places = len / STEP;
        let lengths = LONGEST / STEP;
        self.count(view, query, places);
        // costs[s][p]: the fewest positions of s seeds that end by place p.
        self.costs.clear();
        self.costs.resize((count + 1) * (places + 1), u64::MAX);
        self.last.clear();
        self.last.resize((count + 1) * (places + 1), 0);
        self.costs[..=places].fill(0);
        for seed in 1..=count {
            for place in 1..=places {
                let row = seed * (places + 1);
                let before = row - (places + 1);
                let (mut best, mut from) =
                    (self.costs[row + place - 1], self.last[row + place - 1]);
                for length in SHORTEST / STEP..=lengths.min(place) {
                    let begin = place - length;
                    let cost = self.costs[before + begin];
                    if cost == u64::MAX {
                        continue;
                    }
                    let cost = cost + u64::from(self.counts[begin * (lengths + 1) + length]);
                    if cost < best {
                        (best, from) = (cost, (begin * (lengths + 1) + length) as u32);
                    }
                }
                self.costs[row + place] = best;
                self.last[row + place] = from;
            }
        }
        if self.costs[count * (places + 1) + places] >= found as u64 {
            return;
        }
        seeds.clear();
        let mut place = places;
        for seed in (1..=count).rev() {
            let from = self.last[seed * (places + 1) + place] as usize;
            let (begin, length) = (from / (lengths + 1), from % (lengths + 1));
            let (offset, len) = (begin * STEP, length * STEP);
            if !query.has_others(offset, offset + len) {
                let positions = view.find(&query.key(offset), len);
                if !positions.is_empty() {
                    seeds.push(Seed { offset: offset as u32, positions });
                }
            }
            place = begin;
        }
    }

    /// How often each stretch between two places occurs, by its begin, then by its length.
    fn count(&mut self, view: &View<'_>, query: &Query<'_>, places: usize) {
        let lengths = LONGEST / STEP;
        self.counts.clear();
        self.counts.resize((places + 1) * (lengths + 1), 0);
        for begin in 0..places {
            let key = query.key(begin * STEP);
            let mut range = 0..0;
            for length in SHORTEST / STEP..=lengths.min(places - begin) {
                let len = length * STEP;
                if query.has_others(begin * STEP, begin * STEP + len) {
                    break;
                }
                range = match len <= view.k() || length == SHORTEST / STEP {
                    true => view.find(&key, len),
                    false if (len - STEP) < view.k() => view.find(&key, len),
                    false => view.narrow(range, &key, len),
                };
                if range.is_empty() {
                    break;
                }
                self.counts[begin * (lengths + 1) + length] = range.len() as u32;
            }
        }
    }
}

/// Looks up the stretches between neighbouring bounds, and returns how many positions they have.
fn look_up(view: &View<'_>, query: &Query<'_>, bounds: &[usize], seeds: &mut Vec<Seed>) -> usize {
    let mut found = 0;
    for pair in bounds.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        if query.has_others(from, to) {
            continue;
        }
        let positions = view.find(&query.key(from), (to - from).min(LONGEST));
        found += positions.len();
        if !positions.is_empty() {
            seeds.push(Seed { offset: from as u32, positions });
        }
    }
    found
}
