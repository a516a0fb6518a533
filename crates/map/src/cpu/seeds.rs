//! Choice of seeds: disjoint stretches of a read, one more than the edits allowed, so that at least one of them
//! is free of edits in every hit. Among all such divisions, one with few occurrences is chosen.

use std::ops::Range;

use crate::Select;
use crate::index::{Bisections, IndexView, Key, LONGEST, Lookup, SHORTEST};
use crate::queries::Query;
use crate::search::{CHEAP, CHEAP_STRATA};

/// A seed that occurs in the reference.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    pub(crate) offset: u32,
    pub(crate) positions: Range<usize>,
    /// The bases of the read from the seed's first base on.
    pub(crate) key: Key,
    /// The bases of the key that must match at a position for it to be a candidate; 0 if all positions are
    /// candidates.
    pub(crate) mask: u64,
}

/// Working space of one thread.
#[derive(Debug, Default)]
pub(crate) struct Chooser {
    /// Whether hits are searched stratum by stratum.
    early: bool,
    lookups: Vec<Lookup>,
    /// The first bases and the number of each look-up, sorted.
    order: Vec<u64>,
    bisections: Bisections,
    /// The first look-up whose query has not been requested yet.
    next: usize,
    /// The seeds of the query that was requested last.
    seeds: Vec<Seed>,
    /// One stretch for each place where it may begin.
    stretches: Vec<Lookup>,
    /// The positions of all stretches, by begin and length.
    found: Vec<Range<usize>>,
    /// The fewest positions of the first seeds up to a place, by number of seeds and place.
    costs: Vec<u64>,
    /// The last of these seeds.
    last: Vec<u32>,
}

/// The distance between the places at which an improved division may cut, in bases.
const STEP: usize = 4;

/// Returns the look-up numbers of some entries of [`Chooser::order`].
fn numbers(entries: &[u64]) -> impl Iterator<Item = u32> {
    entries.iter().map(|&entry| entry as u32)
}

/// The number of look-ups that are interleaved: enough to keep many memory accesses in flight, few enough that
/// prefetched data stays in the L1 cache until it is used.
const AT_ONCE: usize = 192;

impl Chooser {
    pub(crate) fn new(select: Select) -> Chooser {
        Chooser { early: select != Select::All, ..Chooser::default() }
    }

    /// Prepares for the next queries.
    pub(crate) fn clear(&mut self) {
        self.lookups.clear();
        self.next = 0;
    }

    /// Returns the number of seeds to look up.
    pub(crate) fn noted(&self) -> usize {
        self.lookups.len()
    }

    /// Registers the seeds of a query for look-up: those of its division into equal parts.
    pub(crate) fn note(&mut self, number: u32, query: &Query<'_>) {
        let count = query.edits + 1;
        let bounds = |part: usize| [part * query.len / count, (part + 1) * query.len / count];
        let clean = |[from, to]: [usize; 2]| !query.has_others(from, to);
        for [from, to] in (0..count).map(bounds).filter(|&part| clean(part)) {
            let (key, len) = (query.key(from), (to - from).min(LONGEST));
            let [offset, len, until] = [from, len, to].map(|at| at as u32);
            self.lookups.push(Lookup { query: number, offset, len, until, key, positions: 0..0 });
        }
    }

    /// Looks up all registered seeds in the order of the index, so that consecutive accesses are close to each
    /// other and hit the TLB.
    pub(crate) fn look_up(&mut self, view: &IndexView<'_>) {
        self.order.clear();
        let first_bases = |lookup: &Lookup| lookup.key.packed >> 32 << 32;
        let numbered = (0..).zip(&self.lookups);
        self.order.extend(numbered.map(|(number, lookup): (u64, _)| first_bases(lookup) | number));
        self.order.sort_unstable();
        for part in self.order.chunks(AT_ONCE) {
            for number in numbers(part) {
                let lookup = &self.lookups[number as usize];
                view.prefetch(&lookup.key, lookup.len as usize);
            }
            for number in numbers(part) {
                let lookup = &mut self.lookups[number as usize];
                lookup.positions = view.find_short(&lookup.key, lookup.len as usize);
            }
            self.bisections.narrow(view, &mut self.lookups, numbers(part));
        }
    }

    /// Returns the occurring seeds of the next registered query, which must be `number`. If they have many
    /// positions, a better division is searched.
    pub(crate) fn seeds(
        &mut self,
        view: &IndexView<'_>,
        number: u32,
        query: &Query<'_>,
    ) -> &[Seed] {
        self.seeds.clear();
        let (mut found, mut next) = (0, self.next);
        while let Some(lookup) = self.lookups.get(next).filter(|lookup| lookup.query == number) {
            next += 1;
            if !lookup.positions.is_empty() {
                found += lookup.positions.len();
                let &Lookup { offset, until, key, .. } = lookup;
                let (positions, mask) = (lookup.positions.clone(), self.mask(until - offset));
                self.seeds.push(Seed { offset, positions, key, mask });
            }
        }
        self.next = next;
        if found > if self.early { CHEAP_STRATA } else { CHEAP } {
            self.improve(view, query, found);
        }
        &self.seeds
    }

    /// Returns the mask of bases to compare for a stretch of `len` bases. The stretches of a read that begin
    /// with its seeds are disjoint, too, so that one of them is free of edits over its whole length, not only
    /// over its seed.
    fn mask(&self, len: u32) -> u64 {
        // Not for searches of all hits: devices do not compare these bases, and both backends must count the
        // same candidates.
        if self.early { u64::MAX >> (64 - len.min(64)) } else { 0 }
    }

    /// Searches for a division with fewer positions, by dynamic programming over the places of cuts: all
    /// divisions into seeds that begin and end at multiples of [`STEP`] are compared.
    fn improve(&mut self, view: &IndexView<'_>, query: &Query<'_>, found: usize) {
        let (len, count) = (query.len, query.edits + 1);
        let places = len / STEP;
        let lengths = LONGEST / STEP;
        self.find_stretches(view, query, places);
        // costs[s][p] is the fewest positions of s seeds that end by place p.
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
                    let stretch = begin * (lengths + 1) + length;
                    let cost = cost + self.found[stretch].len() as u64;
                    if cost < best {
                        (best, from) = (cost, stretch as u32);
                    }
                }
                self.costs[row + place] = best;
                self.last[row + place] = from;
            }
        }
        if self.costs[count * (places + 1) + places] >= found as u64 {
            return;
        }
        self.seeds.clear();
        let (mut place, mut until) = (places, len);
        for seed in (1..=count).rev() {
            let from = self.last[seed * (places + 1) + place] as usize;
            let begin = from / (lengths + 1);
            let positions = self.found[from].clone();
            if !positions.is_empty() {
                let (offset, key) = (begin * STEP, query.key(begin * STEP));
                let mask = self.mask((until - offset) as u32);
                self.seeds.push(Seed { offset: offset as u32, positions, key, mask });
            }
            (place, until) = (begin, begin * STEP);
        }
    }

    /// Looks up all stretches between two places, by start, then by length. A stretch with ambiguous letters
    /// has no positions.
    fn find_stretches(&mut self, view: &IndexView<'_>, query: &Query<'_>, places: usize) {
        let lengths = LONGEST / STEP;
        self.found.clear();
        self.found.resize((places + 1) * (lengths + 1), 0..0);
        self.stretches.clear();
        for begin in 0..places {
            let (offset, key) = (begin * STEP, query.key(begin * STEP));
            view.prefetch(&key, SHORTEST);
            view.prefetch(&key, view.k());
            let (query, offset, positions) = (0, offset as u32, 0..0);
            self.stretches.push(Lookup { query, offset, len: 0, until: 0, key, positions });
        }
        for length in SHORTEST / STEP..=lengths {
            let len = length * STEP;
            self.stretches.retain_mut(|stretch| {
                let from = stretch.offset as usize;
                let is_there = from + len <= places * STEP && !query.has_others(from, from + len);
                if is_there && (stretch.len as usize) < view.k() {
                    stretch.positions = view.find_short(&stretch.key, len);
                }
                stretch.len = len as u32;
                is_there && !stretch.positions.is_empty()
            });
            let all = 0..self.stretches.len() as u32;
            self.bisections.narrow(view, &mut self.stretches, all);
            for stretch in &self.stretches {
                let begin = stretch.offset as usize / STEP;
                self.found[begin * (lengths + 1) + length] = stretch.positions.clone();
            }
        }
    }
}
