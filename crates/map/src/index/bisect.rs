//! Interleaved bisections: many words are looked up in turn, so that the memory each one needs next is
//! prefetched while the others proceed.

use std::cmp::Ordering;
use std::ops::Range;

use merganser_seq::simd::prefetch;

use super::{IndexView, Key};

/// A word of up to 32 bases that is looked up, with the range of its positions so far.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    /// The number of the query, and the offset of the word in it.
    pub(crate) query: u32,
    pub(crate) offset: u32,
    /// The length of the word; the key may hold more bases.
    pub(crate) len: u32,
    /// The end, in the query, of the stretch that begins with this word and is searched for as a whole.
    pub(crate) until: u32,
    pub(crate) key: Key,
    /// The positions that match the part of the word that has been looked up.
    pub(crate) positions: Range<usize>,
}

/// Ranges of at most this many positions are compared one by one: prefetching all of them at once is faster
/// than bisecting.
const SHORT: u32 = 3;

/// Working space of one thread.
#[derive(Debug, Default)]
pub(crate) struct Bisections {
    active: Vec<Bisection>,
}

/// The target of a bisection: any position with the word, the first one, or the end of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Any,
    First,
    Last,
}

#[derive(Clone, Copy, Debug)]
struct Bisection {
    lookup: u32,
    /// The remaining range, as numbers of positions; there are fewer than 2^32.
    from: u32,
    to: u32,
    /// The position in the middle of the range.
    at: u32,
    wanted: Wanted,
}

impl Bisections {
    /// Narrows the positions of some look-ups from those that match the first k bases of their word to those
    /// that match all of it. Look-ups of at most k bases are left unchanged.
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

    /// Whether the remaining positions are few enough to compare one by one.
    fn is_short(&self) -> bool {
        self.to - self.from <= SHORT
    }

    fn positions<'v>(&self, view: &IndexView<'v>) -> &'v [u32] {
        &view.positions[self.from as usize..self.to as usize]
    }

    /// Completes the bisection by comparing all remaining positions.
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

    /// Halves the range by comparing its middle, and returns a second bisection for the end if the word was
    /// just found.
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
        // The comparison is unpredictable, so these are conditional moves instead of a branch.
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
