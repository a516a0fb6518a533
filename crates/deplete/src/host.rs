//! A set for look-ups: a hash table in [sections] that threads fill concurrently. A number may be in two of the cache
//! lines of its section: in the line of its range, its home, or, if that was full, in another line that depends on the
//! rest of the number (cuckoo hashing). As a line tells the leading bits, slots store only the rest. Each line marks
//! which of its numbers may be elsewhere, so that most look-ups read only one line.

mod lines;
mod section;

use merganser_run::prefer_huge_pages;
use merganser_seq::dispatch;
use merganser_seq::simd::{Level, prefetch};

use crate::Params;
use crate::lookup::{Lookup, TOGETHER};
use crate::sections::{self, SECTIONS, each_section};
use lines::{Form, Line, Place};
pub(crate) use section::Section;
use section::{has, is_away, look};

/// The minimizers of a host of up to 31 bases, for look-ups. Each is stored as its number, shifted to the highest bits
/// of a word.
#[derive(Clone, Debug)]
pub(crate) struct LineLookup {
    params: Params,
    level: Level,
    len: usize,
    /// The form of each section's lines, and the index of its first line.
    sections: Vec<(Form, usize)>,
    lines: Vec<Line>,
}

impl LineLookup {
    /// Returns the memory of a set of `count` minimizers, in bytes.
    pub(crate) fn bytes_for(params: Params, count: usize) -> u64 {
        SECTIONS as u64 * Form::of(params, count.div_ceil(SECTIONS)).bytes()
    }

    /// Makes a set of all its sections.
    pub(crate) fn of_sections(params: Params, mut sections: Vec<Section>) -> LineLookup {
        debug_assert_eq!(sections.len(), SECTIONS);
        // Sections without numbers need their lines, too.
        sections.iter_mut().for_each(|section| section.settle(params));
        let len = sections.iter().map(|section| section.len).sum();
        let mut lines =
            Vec::with_capacity(sections.iter().map(|section| section.lines.len()).sum());
        prefer_huge_pages(lines.spare_capacity_mut());
        // Pages are allocated when they are written, while those of earlier sections are freed.
        let of_section = |section: Section| {
            let start = lines.len();
            lines.extend_from_slice(&section.lines);
            (section.form, start)
        };
        let sections = sections.into_iter().map(of_section).collect();
        LineLookup { params, level: Level::best(), len, sections, lines }
    }

    /// Makes a set of sorted numbers without duplicates.
    pub(crate) fn new(params: Params, numbers: &[u64]) -> LineLookup {
        let mut sections = each_section(|_| Section::with_room(params, 0));
        for own in numbers.chunk_by(|&a, &b| params.section(a) == params.section(b)) {
            let section = &mut sections[params.section(own[0])];
            *section = Section::with_room(params, own.len());
            section.append(params, own.iter().map(|&number| number << params.unused_bits::<u64>()));
        }
        LineLookup::of_sections(params, sections)
    }

    /// Returns the number of a minimizer, shifted to the highest bits of a word.
    #[inline(always)]
    fn number(&self, value: u64) -> u64 {
        self.params.spread(value) << self.params.unused_bits::<u64>()
    }

    #[inline(always)]
    fn section(&self, number: u64) -> (&Form, usize) {
        let (form, start) = &self.sections[(number >> (u64::BITS - sections::BITS)) as usize];
        (form, *start)
    }
}

impl Lookup for LineLookup {
    type Word = u64;

    fn params(&self) -> Params {
        self.params
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> u64 {
        size_of_val(&self.lines[..]) as u64
    }

    fn contains(&self, value: u64) -> bool {
        let number = self.number(value);
        let section = self.section(number);
        has(&self.lines, section, section.0.place(number))
    }

    fn look_up(&self, values: &[u64], asked: &[u32], found: &mut Vec<u32>) {
        look_up(self.level, self, values, asked, found);
    }
}

dispatch! {
    fn look_up(host: &LineLookup, values: &[u64], asked: &[u32], found: &mut Vec<u32>) = look_up_here
}

/// A value that is looked up: its section, its place, and its index.
type Asked<'h> = ((&'h Form, usize), Place, u32);

/// Values that are looked up together, and a bit for each of those that were found, and of those that are still open.
#[derive(Clone, Copy)]
struct Group<'h> {
    asked: [Asked<'h>; TOGETHER],
    len: usize,
    there: u32,
    open: u32,
}

impl<'h> Group<'h> {
    /// Makes a group of the values at the indices `asked`, and prefetches their homes.
    #[inline(always)]
    fn ask(&mut self, host: &'h LineLookup, values: &[u64], asked: &[u32]) {
        self.len = asked.len();
        for (entry, &at) in self.asked.iter_mut().zip(asked) {
            let number = host.number(values[at as usize]);
            let section = host.section(number);
            let place = section.0.place(number);
            prefetch(&host.lines, section.1 + place.home);
            *entry = (section, place, at);
        }
    }

    /// Looks in all homes, and prefetches the other lines of values that may be there.
    #[inline(always)]
    fn look(&mut self, host: &LineLookup) {
        (self.there, self.open) = (0, 0);
        for (bit, &(section, place, _)) in self.asked[..self.len].iter().enumerate() {
            let [is_there, is_open] = look(&host.lines, section, place);
            self.there |= u32::from(is_there) << bit;
            self.open |= u32::from(is_open) << bit;
        }
        for bit in Bits(self.open) {
            let ((form, start), place, _) = self.asked[bit];
            prefetch(&host.lines, start + form.other_line(place));
        }
    }

    /// Looks in the other lines, and writes the indices of the values that were found. Returns their number.
    #[inline(always)]
    fn finish(&self, host: &LineLookup, found: &mut [u32]) -> usize {
        let mut there = self.there;
        for bit in Bits(self.open) {
            let (section, place, _) = self.asked[bit];
            there |= u32::from(is_away(&host.lines, section, place)) << bit;
        }
        let mut count = 0;
        for (bit, &(_, _, at)) in self.asked[..self.len].iter().enumerate() {
            found[count] = at;
            // The outcome is unpredictable, so this avoids a branch.
            count += (there >> bit & 1) as usize;
        }
        count
    }
}

/// The positions of the bits that are set.
struct Bits(u32);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let at = self.0.trailing_zeros() as usize % TOGETHER;
        (self.0 != 0).then(|| {
            self.0 &= self.0 - 1;
            at
        })
    }
}

#[inline(always)]
fn look_up_here(host: &LineLookup, values: &[u64], asked: &[u32], found: &mut Vec<u32>) {
    let mut count = found.len();
    // The indices are written before it is known whether they stay.
    found.resize(count + asked.len() + 1, 0);
    let empty = Group {
        asked: [(host.section(0), Place::default(), 0); TOGETHER],
        len: 0,
        there: 0,
        open: 0,
    };
    // While the lines of a group arrive, the groups before are in work.
    let mut groups = [empty; 3];
    let parts = asked.chunks(TOGETHER).chain([&[][..]; 2]);
    for (turn, part) in parts.enumerate() {
        groups[turn % 3].ask(host, values, part);
        groups[(turn + 2) % 3].look(host);
        count += groups[(turn + 1) % 3].finish(host, &mut found[count..]);
    }
    found.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::lines::{COUNT_BITS, MIN_MARKS};
    use super::*;
    use merganser_test_random::Random;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Returns the numbers of minimizers, shifted to the highest bits of a word.
    fn shifted(params: Params, values: &BTreeSet<u64>) -> Vec<u64> {
        values.iter().map(|&value| params.spread(value) << params.unused_bits::<u64>()).collect()
    }

    /// Adds numbers one by one, twice, to sections for `room` numbers.
    fn filled(params: Params, numbers: &[u64], room: usize) -> LineLookup {
        let mut sections = each_section(|_| Section::with_room(params, room));
        for &number in numbers.iter().chain(numbers.iter().rev()) {
            let section = (number >> (u64::BITS - sections::BITS)) as usize;
            sections[section].add_all(params, &[number]);
        }
        for (section, own) in sections.iter().enumerate() {
            let leading = (section as u64) << (u64::BITS - sections::BITS);
            let own: BTreeSet<u64> = own.numbers().map(|number| leading | number).collect();
            let of_section =
                |&number: &u64| (number >> (u64::BITS - sections::BITS)) as usize == section;
            assert_eq!(own, numbers.iter().copied().filter(of_section).collect());
        }
        LineLookup::of_sections(params, sections)
    }

    fn found(host: &LineLookup, asked: &[u64]) -> Vec<Vec<u64>> {
        let indices: Vec<u32> = (0..asked.len() as u32).collect();
        let of = |level| {
            let mut found = Vec::new();
            look_up(level, host, asked, &indices, &mut found);
            found.iter().map(|&at| asked[at as usize]).collect()
        };
        Level::available().into_iter().map(of).collect()
    }

    proptest! {
        #[test]
        fn what_was_added_is_there_and_nothing_else(
            values in proptest::collection::btree_set(any::<u64>(), 0..700),
            half in 0..16usize,
            cluster in any::<u64>(),
            clustered in 0..64u32,
            crowded in any::<bool>(),
        ) {
            let params = Params::new(2 * half + 1, 3).unwrap();
            // Numbers that share their leading bits.
            let of = |value: u64| params.value((cluster & !(u64::MAX >> clustered) | value >> clustered) >> params.unused_bits::<u64>());
            let values: BTreeSet<u64> = values.into_iter().map(of).collect();
            let numbers = shifted(params, &values);
            let host = filled(params, &numbers, if crowded { 0 } else { values.len() / SECTIONS });
            prop_assert_eq!(host.len(), values.len());
            // Also neighbours of the values, and of their numbers.
            let mask = params.mask::<u64>();
            let near = |value: u64| {
                let number = params.spread(value);
                [value, value ^ 1, params.value(number.wrapping_add(1) & mask), params.value(number ^ mask)]
            };
            let asked: Vec<u64> = values.iter().copied().flat_map(near).chain([0, mask]).collect();
            let expected: Vec<u64> = asked.iter().copied().filter(|value| values.contains(value)).collect();
            for found in found(&host, &asked) {
                prop_assert_eq!(&found, &expected);
            }
            prop_assert!(asked.iter().all(|value| host.contains(*value) == values.contains(value)));
        }

        #[test]
        fn places_are_those_of_one_number(half in 0..16usize, count in 0..1usize << 24, number in any::<u64>()) {
            let params = Params::new(2 * half + 1, 3).unwrap();
            let form = Form::of(params, count);
            let number = number >> params.unused_bits::<u64>() << params.unused_bits::<u64>();
            let place = form.place(number);
            prop_assert_eq!(form.number(place), number << sections::BITS >> sections::BITS);
            prop_assert!(place.home < form.lines as usize);
            let away = form.other_line(place);
            prop_assert!(away < form.lines as usize && form.place_of(away, place.rest) == place);
            let bits = form.slots as u32 * (32 + form.field_bits) + form.marks + COUNT_BITS;
            prop_assert!(bits <= 512 && form.marks >= MIN_MARKS && form.lines as usize * form.slots >= count);
        }
    }

    /// A section that is too small grows, also if many numbers have the same home.
    #[test]
    fn sections_grow() {
        let params = Params::default();
        let mut random = Random(3);
        for spread in [1, 1 << 20, 1 << 44] {
            let numbers =
                (0..20_000).map(|_| params.value(random.next() % spread * 40 % (1 << 54)));
            let numbers: BTreeSet<u64> = numbers.collect();
            let host = filled(params, &shifted(params, &numbers), 100);
            assert_eq!(host.len(), numbers.len());
            assert!(numbers.iter().all(|&value| host.contains(value)));
        }
    }

    /// The memory of large sets.
    #[test]
    fn a_minimizer_takes_up_to_five_and_a_half_bytes() {
        let params = Params::default();
        let bytes = |count: usize| LineLookup::bytes_for(params, count) as f64 / count as f64;
        for count in [25_000_000, 100_000_000, 400_000_000, 1_000_000_000] {
            assert!(bytes(count) <= 5.5, "{count} {}", bytes(count));
        }
        // A number of 62 bits in such a set has 5.1 bytes of information.
        assert!(bytes(7_500_000) < 6.4, "{}", bytes(7_500_000));
    }
}
