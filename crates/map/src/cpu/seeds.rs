//! Which stretches of a read are looked up: disjoint ones, one more than the edits allowed, so that
//! at least one of them is free of edits in every hit; and of all such sets one that occurs seldom.

use std::ops::Range;

use merganser_seq::simd::prefetch;

use crate::index::{IndexView, Key, LONGEST, SHORTEST};
use crate::queries::{Queries, Query};
use crate::search::{CHEAP, Plan};
use crate::{Error, NMode};

/// A seed that occurs: its first base in the read, and where its positions are in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seed {
    pub(crate) offset: u32,
    pub(crate) positions: Range<usize>,
}

/// A stretch that is being looked up.
#[derive(Clone, Debug)]
struct Lookup {
    query: u32,
    offset: u32,
    len: u32,
    key: Key,
    positions: Range<usize>,
}

/// A thread's memory.
#[derive(Debug, Default)]
pub(crate) struct Chooser {
    lookups: Vec<Lookup>,
    /// How often stretches occur, by begin and length.
    counts: Vec<u32>,
    /// The fewest positions of the first seeds up to a place, and the last seed of these.
    costs: Vec<u64>,
    last: Vec<u32>,
}

/// Distance of the places at which a better division may cut, in bases.
const STEP: usize = 4;

impl Chooser {
    /// Begins with the next queries.
    pub(crate) fn clear(&mut self) {
        self.lookups.clear();
    }

    /// Says how a query's hits can be found, and if by seeds, takes note to look up those of its
    /// division into equal parts.
    pub(crate) fn plan(
        &mut self,
        view: &IndexView<'_>,
        number: u32,
        query: &Query<'_>,
        mode: NMode,
    ) -> Plan {
        let plan = Plan::of(query, mode);
        if plan != Plan::Seeds {
            return plan;
        }
        let count = query.edits + 1;
        let bounds = |part: usize| [part * query.len / count, (part + 1) * query.len / count];
        let clean = |[from, to]: [usize; 2]| !query.has_others(from, to);
        for [from, to] in (0..count).map(bounds).filter(|&part| clean(part)) {
            let (key, len) = (query.key(from), (to - from).min(LONGEST));
            view.prefetch(&key, len);
            let (offset, len) = (from as u32, len as u32);
            self.lookups.push(Lookup { query: number, offset, len, key, positions: 0..0 });
        }
        Plan::Seeds
    }

    /// Looks up what was noted: step by step for all queries, so that memory is fetched for many at
    /// a time.
    pub(crate) fn look_up(&mut self, view: &IndexView<'_>) {
        for lookup in &mut self.lookups {
            lookup.positions = view.find_short(&lookup.key, lookup.len as usize);
            if !lookup.positions.is_empty() {
                prefetch(view.positions, lookup.positions.start);
            }
        }
        let long =
            |lookup: &&mut Lookup| lookup.len as usize > view.k() && !lookup.positions.is_empty();
        for lookup in self.lookups.iter_mut().filter(long) {
            let middle = lookup.positions.start + lookup.positions.len() / 2;
            view.text.prefetch(view.positions[middle] as usize);
        }
        for lookup in self.lookups.iter_mut().filter(long) {
            let positions = lookup.positions.clone();
            lookup.positions = view.narrow(positions, &lookup.key, lookup.len as usize);
        }
    }

    /// Calls `take` with each query that was planned and its seeds that occur.
    pub(crate) fn each(
        &mut self,
        view: &IndexView<'_>,
        queries: &Queries,
        mut take: impl FnMut(u32, &[Seed]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let lookups = std::mem::take(&mut self.lookups);
        let mut seeds = Vec::new();
        let done =
            lookups.chunk_by(|a, b| a.query == b.query).try_for_each(|own| {
                seeds.clear();
                let occurs = |lookup: &&Lookup| !lookup.positions.is_empty();
                seeds.extend(own.iter().filter(occurs).map(|lookup| Seed {
                    offset: lookup.offset,
                    positions: lookup.positions.clone(),
                }));
                let found = seeds.iter().map(|seed| seed.positions.len()).sum();
                if found > CHEAP {
                    self.improve(view, &queries.get(own[0].query as usize), found, &mut seeds);
                }
                take(own[0].query, &seeds)
            });
        self.lookups = lookups;
        done
    }

    /// Looks for a division that occurs less often: all divisions into seeds that begin and end at
    /// multiples of [`STEP`] are compared (dynamic programming over the places of cuts).
    fn improve(
        &mut self,
        view: &IndexView<'_>,
        query: &Query<'_>,
        found: usize,
        seeds: &mut Vec<Seed>,
    ) {
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
    fn count(&mut self, view: &IndexView<'_>, query: &Query<'_>, places: usize) {
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
