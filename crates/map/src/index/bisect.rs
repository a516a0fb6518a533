//! Many words looked up at a time: bisections that take turns, so that the memory that each waits
//! for is fetched while the others go on.

use std::cmp::Ordering;
use std::ops::Range;

use merganser_seq::simd::prefetch;

use super::{IndexView, Key};

/// A word of up to 32 bases that is looked up, and where its positions are so far.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    /// Whose it is, and where it begins there.
    pub(crate) query: u32,
    pub(crate) offset: u32,
    /// Its bases, of which the key has them and what follows.
    pub(crate) len: u32,
    /// Where the stretch of the query ends that begins with it, and is looked for as a whole.
    pub(crate) until: u32,
    pub(crate) key: Key,
    /// Positions that have as much of the word as was looked up.
    pub(crate) positions: Range<usize>,
}

/// Positions that are looked at one by one: their text is fetched at once, that of bisections in turn.
const SHORT: u32 = 3;

/// A thread's memory.
#[derive(Debug, Default)]
pub(crate) struct Bisections {
    active: Vec<Bisection>,
}

/// What a bisection looks for: any position that has the word, the first one, or the one behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Any,
    First,
    Last,
}

#[derive(Clone, Copy, Debug)]
struct Bisection {
    lookup: u32,
    /// Where it is looked for: numbers of positions, of which there are fewer than 2^32.
    from: u32,
    to: u32,
    /// The position in the middle.
    at: u32,
    wanted: Wanted,
}

impl Bisections {
    /// Leaves of the positions of some look-ups, all of which have the first k bases of their word, those
    /// that have all of it. Look-ups of no more than k bases are left as they are.
    pub(crate) fn narrow(
        &mut self,
        view: &IndexView<'_>,
        lookups: &mut [Lookup],
        numbers: impl Iterator<Item = u32>,
    ) {
        self.active.clear();
        for number in numbers {
            let lookup = &lookups[number as usize];
            if lookup.len as usize > view.k && !lookup.positions.is_empty() {
                let [from, to] = [lookup.positions.start, lookup.positions.end].map(|at| at as u32);
                let wanted = Wanted::Any;
                let bisection = Bisection { lookup: number, from, to, at: 0, wanted };
                prefetch(view.positions, bisection.middle() as usize);
                self.active.push(bisection);
            }
        }
        while !self.active.is_empty() {
            for bisection in &mut self.active {
                if bisection.is_short() {
                    for &at in bisection.positions(view) {
                        view.text.prefetch(at as usize);
                    }
                } else {
                    bisection.at = view.positions[bisection.middle() as usize];
                    view.text.prefetch(bisection.at as usize);
                }
            }
            for number in 0..self.active.len() {
                let lookup = &mut lookups[self.active[number].lookup as usize];
                if self.active[number].is_short() {
                    self.active[number].finish(view, lookup);
                } else {
                    let more = self.active[number].step(view, lookup);
                    self.active.extend(more);
                }
            }
            self.active.retain(|bisection| bisection.from < bisection.to);
            for bisection in &self.active {
                prefetch(view.positions, bisection.middle() as usize);
            }
        }
    }
}

impl Bisection {
    fn middle(&self) -> u32 {
        self.from + (self.to - self.from) / 2
    }

    /// Whether so few positions are left that each is looked at.
    fn is_short(&self) -> bool {
        self.to - self.from <= SHORT
    }

    fn positions<'v>(&self, view: &IndexView<'v>) -> &'v [u32] {
        &view.positions[self.from as usize..self.to as usize]
    }

    /// Ends with a look at all positions.
    fn finish(&mut self, view: &IndexView<'_>, lookup: &mut Lookup) {
        let mask = u64::MAX >> (64 - lookup.len);
        let (mut before, mut equal) = (0, 0);
        for &at in self.positions(view) {
            let order = view.compare(at, &lookup.key, mask);
            before += usize::from(order == Ordering::Less);
            equal += usize::from(order == Ordering::Equal);
        }
        let start = self.from as usize + before;
        match self.wanted {
            Wanted::Any => lookup.positions = start..start + equal,
            Wanted::First => lookup.positions.start = start,
            Wanted::Last => lookup.positions.end = start + equal,
        }
        self.from = self.to;
    }

    /// Goes on by a look at the middle, and says what else is to be looked for.
    fn step(&mut self, view: &IndexView<'_>, lookup: &mut Lookup) -> Option<Bisection> {
        let (middle, mut more) = (self.middle(), None);
        let mask = u64::MAX >> (64 - lookup.len);
        let order = view.compare(self.at, &lookup.key, mask);
        if order == Ordering::Equal && self.wanted == Wanted::Any {
            lookup.positions = middle as usize..middle as usize + 1;
            more = Some(Bisection { wanted: Wanted::Last, from: middle + 1, ..*self });
            self.wanted = Wanted::First;
        }
        let ahead =
            order == Ordering::Less || (order == Ordering::Equal && self.wanted == Wanted::Last);
        // Nobody could foretell where it goes on: there should be no branch.
        self.from = if ahead { middle + 1 } else { self.from };
        self.to = if ahead { self.to } else { middle };
        if self.from == self.to {
            let at = self.from as usize;
            match self.wanted {
                Wanted::Any => lookup.positions = at..at,
                Wanted::First => lookup.positions.start = at,
                Wanted::Last => lookup.positions.end = at,
            }
        }
        more
    }
}
