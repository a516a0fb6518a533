//! A set that reads are held against: a hash map of open addressing without values. Its slots are in order, so that a
//! look-up ends where a larger number stands, and lie in lines of the cache, one of which tells mostly.

use merganser_seq::dispatch;
use merganser_seq::simd::{Level, prefetch};

use crate::Params;

/// Slots of a line of the cache.
const LINE: usize = 8;
/// Of so many slots
const SLOTS: usize = 4;
/// so many are taken, at most.
const TAKEN: usize = 3;
/// Lines beyond the last one that a number can belong to: there is no way round to the first.
const BEYOND: usize = 32;
/// No number: these have 62 bits at most.
const EMPTY: u64 = u64::MAX;
/// Look-ups whose memory is fetched together.
const TOGETHER: usize = 32;

/// A line of the cache: numbers in order, and behind them what is empty.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u64; LINE]);

/// The minimizers of a host, to be looked up.
#[derive(Clone, Debug)]
pub struct Host {
    params: Params,
    level: Level,
    len: usize,
    /// Lines that a number can belong to, by its share of the range.
    own: usize,
    lines: Vec<Line>,
}

impl Host {
    /// Lines for so many minimizers.
    fn lines(count: usize) -> usize {
        count / TAKEN * SLOTS / LINE + 1
    }

    /// Bytes that so many minimizers take.
    pub(crate) fn bytes(count: usize) -> u64 {
        ((Host::lines(count) + BEYOND) * size_of::<Line>()) as u64
    }

    /// With room for so many.
    pub(crate) fn with_room(params: Params, count: usize) -> Host {
        let own = Host::lines(count);
        let lines = vec![Line([EMPTY; LINE]); own + BEYOND];
        Host { params, level: Level::best(), len: 0, own, lines }
    }

    /// Which minimizers these are.
    pub fn params(&self) -> Params {
        self.params
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The line that a number belongs to: those in order have lines in order.
    #[inline(always)]
    fn line(&self, spread: u64) -> usize {
        let shift = 64 - 2 * self.params.k() as u32;
        ((u128::from(spread << shift) * self.own as u128) >> 64) as usize
    }

    /// Adds one; nothing changes if it is there. Fastest in order.
    pub(crate) fn add(&mut self, spread: u64) {
        let mut number = self.line(spread);
        while self.lines[number].0[LINE - 1] < spread {
            number += 1;
        }
        let smaller = |line: &[u64; LINE]| line.iter().take_while(|&&slot| slot < spread).count();
        let mut at = smaller(&self.lines[number].0);
        if self.lines[number].0[at] == spread {
            return;
        }
        // All up to the next empty slot go on by one.
        let mut moved = spread;
        while moved != EMPTY {
            let line = &mut self.lines[number].0;
            let last = line[LINE - 1];
            line.copy_within(at..LINE - 1, at + 1);
            line[at] = moved;
            (moved, at) = (last, 0);
            number += 1;
            if number == self.lines.len() {
                self.lines.push(Line([EMPTY; LINE]));
            }
        }
        self.len += 1;
    }

    /// Whether it has a minimizer, as [`values`](crate::MinimizerSet::values) has them.
    pub fn contains(&self, value: u64) -> bool {
        self.has(self.params.spread(value))
    }

    #[inline(always)]
    fn has(&self, spread: u64) -> bool {
        let mut number = self.line(spread);
        // The last line has an empty slot, which is larger than any number.
        loop {
            let line = &self.lines[number].0;
            let mut is_there = false;
            for &slot in line {
                is_there |= slot == spread;
            }
            if line[LINE - 1] >= spread {
                return is_there;
            }
            number += 1;
        }
    }

    /// Appends to `found` those of some places of values at which there is a minimizer that it has.
    pub(crate) fn look_up(&self, values: &[u64], asked: &[u32], found: &mut Vec<u32>) {
        look_up(self.level, self, values, asked, found);
    }
}

dispatch! {
    fn look_up(host: &Host, values: &[u64], asked: &[u32], found: &mut Vec<u32>) = look_up_here
}

#[inline(always)]
fn look_up_here(host: &Host, values: &[u64], asked: &[u32], found: &mut Vec<u32>) {
    let mut count = found.len();
    found.resize(count + asked.len(), 0);
    let mut spread = [0; TOGETHER];
    let mut next = [0; TOGETHER];
    let ask = |asked: &[u32], spread: &mut [u64; TOGETHER]| {
        for (spread, &at) in spread.iter_mut().zip(asked) {
            *spread = host.params.spread(values[at as usize]);
            prefetch(&host.lines, host.line(*spread));
        }
    };
    let mut parts = asked.chunks(TOGETHER);
    let mut part = parts.next().unwrap_or_default();
    ask(part, &mut spread);
    while !part.is_empty() {
        let rest = parts.next().unwrap_or_default();
        ask(rest, &mut next);
        for (&spread, &at) in spread.iter().zip(part) {
            found[count] = at;
            // Nobody could foretell which: there should be no branch.
            count += usize::from(host.has(spread));
        }
        (part, spread) = (rest, next);
    }
    found.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_added_is_there_and_nothing_else(
            values in proptest::collection::btree_set(0u64..1024, 0..700),
            crowded in any::<bool>(),
        ) {
            let params = Params::new(5, 3).unwrap();
            let room = if crowded { values.len() / 8 } else { values.len() };
            let mut host = Host::with_room(params, room);
            for &value in values.iter().rev().chain(&values) {
                host.add(params.spread(value));
            }
            prop_assert_eq!(host.len(), values.len());
            let slots = host.lines.iter().flat_map(|line| line.0);
            prop_assert!(slots.filter(|&slot| slot != EMPTY).is_sorted());
            let (all, asked): (Vec<u64>, Vec<u32>) = (0..1024).map(|value| (value, value as u32)).unzip();
            let mut found = Vec::new();
            host.look_up(&all, &asked, &mut found);
            prop_assert!(found.iter().map(|&at| u64::from(at)).eq(values.iter().copied()));
            prop_assert!(all.iter().all(|&value| host.contains(value) == values.contains(&value)));
        }
    }
}
