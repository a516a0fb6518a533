//! A set for look-ups: a hash set with open addressing, in sections that threads fill concurrently. Its slots are
//! sorted, so that a look-up ends at the first larger number. Slots are grouped in cache lines, and most look-ups
//! read only one line.

use merganser_seq::dispatch;
use merganser_seq::simd::{Level, prefetch};

use crate::sections::{self, SECTIONS};
use crate::{MinimizerSet, Params};

/// The number of slots in a cache line.
const LINE: usize = 8;
/// The denominator of the load factor: at most `TAKEN / SLOTS` of the slots are occupied.
const SLOTS: usize = 4;
/// The numerator of the load factor.
const TAKEN: usize = 3;
/// Additional lines at the end of a section, because probing does not wrap around.
const BEYOND: usize = 4;
/// The value of an empty slot. Numbers cannot have it, because their lowest bits are 0.
const EMPTY: u64 = u64::MAX;
/// The number of look-ups whose memory is prefetched together.
const TOGETHER: usize = 32;

/// A cache line: sorted numbers, then empty slots.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u64; LINE]);

/// The minimizers of a host, for look-ups. Each is stored as its number, shifted to the highest bits of a word.
#[derive(Clone, Debug)]
pub struct MinimizerLookup {
    params: Params,
    level: Level,
    len: usize,
    sections: Vec<Section>,
}

/// The numbers of a [section](crate::sections).
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    len: usize,
    /// The number of lines that numbers are assigned to, in proportion to the section's range.
    own: usize,
    /// The lines; allocated by the first thread that inserts (first touch).
    lines: Vec<Line>,
    /// The slot after the last number that was appended.
    end: usize,
}

impl Section {
    /// Returns the number of lines for `count` numbers.
    fn lines(count: usize) -> usize {
        count / TAKEN * SLOTS / LINE + 1
    }

    /// Makes a section for about `count` numbers.
    pub(crate) fn with_room(count: usize) -> Section {
        Section { own: Section::lines(count), ..Section::default() }
    }

    /// Returns the line that a number is assigned to, which grows with the number.
    #[inline(always)]
    fn line(&self, number: u64) -> usize {
        ((u128::from(number << sections::BITS) * self.own as u128) >> 64) as usize
    }

    fn make_lines(&mut self) {
        if self.lines.is_empty() {
            self.lines = vec![Line([EMPTY; LINE]); self.own + BEYOND];
        }
    }

    /// Appends sorted numbers that are larger than all numbers in the section.
    pub(crate) fn append(&mut self, numbers: impl ExactSizeIterator<Item = u64>) {
        self.make_lines();
        self.len += numbers.len();
        for number in numbers {
            let at = self.end.max(self.line(number) * LINE);
            self.lines[at / LINE].0[at % LINE] = number;
            self.end = at + 1;
            if self.end == self.lines.len() * LINE {
                self.lines.push(Line([EMPTY; LINE]));
            }
        }
    }

    /// Adds numbers in any order; those that are present are ignored.
    pub(crate) fn add_all(&mut self, numbers: &[u64]) {
        self.make_lines();
        for (at, &number) in numbers.iter().enumerate() {
            if let Some(&later) = numbers.get(at + TOGETHER) {
                prefetch(&self.lines, self.line(later));
            }
            self.add(number);
        }
    }

    fn add(&mut self, number: u64) {
        let mut line = self.line(number);
        while self.lines[line].0[LINE - 1] < number {
            line += 1;
        }
        let smaller = |line: &[u64; LINE]| line.iter().take_while(|&&slot| slot < number).count();
        let mut at = smaller(&self.lines[line].0);
        if self.lines[line].0[at] == number {
            return;
        }
        // Move all numbers up to the next empty slot by one.
        let mut moved = number;
        while moved != EMPTY {
            let slots = &mut self.lines[line].0;
            let last = slots[LINE - 1];
            slots.copy_within(at..LINE - 1, at + 1);
            slots[at] = moved;
            (moved, at) = (last, 0);
            line += 1;
            if line == self.lines.len() {
                self.lines.push(Line([EMPTY; LINE]));
            }
        }
        self.len += 1;
    }

    #[inline(always)]
    fn has(&self, number: u64) -> bool {
        let mut line = self.line(number);
        // The last line has an empty slot, which is larger than any number.
        while let Some(Line(slots)) = self.lines.get(line) {
            let mut is_there = false;
            for &slot in slots {
                is_there |= slot == number;
            }
            if slots[LINE - 1] >= number {
                return is_there;
            }
            line += 1;
        }
        false
    }
}

impl MinimizerLookup {
    /// Returns the memory of a set of `count` minimizers, in bytes.
    pub(crate) fn bytes(count: usize) -> u64 {
        ((Section::lines(count) + SECTIONS * (BEYOND + 1)) * size_of::<Line>()) as u64
    }

    /// Makes a set of all its sections.
    pub(crate) fn of_sections(params: Params, sections: Vec<Section>) -> MinimizerLookup {
        debug_assert_eq!(sections.len(), SECTIONS);
        let len = sections.iter().map(|section| section.len).sum();
        MinimizerLookup { params, level: Level::best(), len, sections }
    }

    /// Returns the parameters of the minimizers.
    pub fn params(&self) -> Params {
        self.params
    }

    /// Returns the number of minimizers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the set contains a minimizer, given as by [`values`](crate::MinimizerSet::values).
    pub fn contains(&self, value: u64) -> bool {
        let number = self.number(value);
        self.section(number).has(number)
    }

    /// Returns the number of a minimizer, as slots store it.
    #[inline(always)]
    fn number(&self, value: u64) -> u64 {
        self.params.spread(value) << self.params.unused_bits()
    }

    #[inline(always)]
    fn section(&self, number: u64) -> &Section {
        &self.sections[(number >> (u64::BITS - sections::BITS)) as usize]
    }

    /// Looks up the values at the indices `asked`, and appends the indices of those that the set contains to `found`.
    pub(crate) fn look_up(&self, values: &[u64], asked: &[u32], found: &mut Vec<u32>) {
        look_up(self.level, self, values, asked, found);
    }
}

impl From<&MinimizerSet> for MinimizerLookup {
    fn from(set: &MinimizerSet) -> MinimizerLookup {
        let (params, numbers) = (set.params(), set.spread());
        let room = numbers.len() / SECTIONS;
        let mut sections: Vec<Section> = (0..SECTIONS).map(|_| Section::with_room(room)).collect();
        for own in numbers.chunk_by(|&a, &b| params.section(a) == params.section(b)) {
            let shifted = own.iter().map(|&number| number << params.unused_bits());
            sections[params.section(own[0])].append(shifted);
        }
        MinimizerLookup::of_sections(params, sections)
    }
}

dispatch! {
    fn look_up(host: &MinimizerLookup, values: &[u64], asked: &[u32], found: &mut Vec<u32>) = look_up_here
}

#[inline(always)]
fn look_up_here(host: &MinimizerLookup, values: &[u64], asked: &[u32], found: &mut Vec<u32>) {
    let mut count = found.len();
    found.resize(count + asked.len(), 0);
    let mut numbers = [0; TOGETHER];
    let mut next = [0; TOGETHER];
    let ask = |asked: &[u32], numbers: &mut [u64; TOGETHER]| {
        for (number, &at) in numbers.iter_mut().zip(asked) {
            *number = host.number(values[at as usize]);
            let section = host.section(*number);
            prefetch(&section.lines, section.line(*number));
        }
    };
    let mut parts = asked.chunks(TOGETHER);
    let mut part = parts.next().unwrap_or_default();
    ask(part, &mut numbers);
    while !part.is_empty() {
        let rest = parts.next().unwrap_or_default();
        ask(rest, &mut next);
        for (&number, &at) in numbers.iter().zip(part) {
            found[count] = at;
            // The outcome is unpredictable, so this avoids a branch.
            count += usize::from(host.section(number).has(number));
        }
        (part, numbers) = (rest, next);
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
            let mut sections = vec![Section::with_room(if crowded { 0 } else { values.len() }); SECTIONS];
            let mut appended = sections.clone();
            for &value in values.iter().rev().chain(&values) {
                let spread = params.spread(value);
                sections[params.section(spread)].add_all(&[spread << params.unused_bits()]);
            }
            let mut sorted: Vec<u64> = values.iter().map(|&value| params.spread(value)).collect();
            sorted.sort_unstable();
            for spread in sorted {
                let number = spread << params.unused_bits();
                appended[params.section(spread)].append([number].into_iter());
            }
            let host = MinimizerLookup::of_sections(params, sections);
            prop_assert_eq!(host.len(), values.len());
            let slots = |sections: &[Section]| {
                let lines = sections.iter().flat_map(|section| &section.lines);
                lines.flat_map(|line| line.0).collect::<Vec<u64>>()
            };
            prop_assert_eq!(slots(&host.sections), slots(&appended));
            prop_assert!(slots(&appended).into_iter().filter(|&slot| slot != EMPTY).is_sorted());
            let (all, asked): (Vec<u64>, Vec<u32>) = (0..1024).map(|value| (value, value as u32)).unzip();
            let mut found = Vec::new();
            host.look_up(&all, &asked, &mut found);
            prop_assert!(found.iter().map(|&at| u64::from(at)).eq(values.iter().copied()));
            prop_assert!(all.iter().all(|&value| host.contains(value) == values.contains(&value)));
        }
    }
}
