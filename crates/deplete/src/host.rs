//! A set for look-ups: a hash table in [sections] that threads fill concurrently. A number may be in two of the cache
//! lines of its section: in the line of its range, its home, or, if that was full, in another line that depends on the
//! rest of the number (cuckoo hashing). As a line tells the leading bits, slots store only the rest. Each line marks
//! which of its numbers may be elsewhere, so that most look-ups read only one line.

use merganser_run::prefer_huge_pages;
use merganser_seq::dispatch;
use merganser_seq::simd::{Level, equal_words, prefetch};

use crate::sections::{self, SECTIONS, each_section};
use crate::{MinimizerSet, Params};

/// The part of the slots that is planned to be occupied, in percent. With more, more numbers are not in their home.
const LOAD: usize = 92;
/// The load of sets that then have up to [`HALF_BYTES`], and have more with the usual load.
const HIGH_LOAD: usize = 97;
/// The memory of a number that large sets do not exceed, in half bytes.
const HALF_BYTES: u64 = 11;
/// The words of a line, of which each has 32 bits.
const WORDS: usize = 16;
/// The maximum number of slots in a line: a word has the number of those that are occupied.
const MAX_SLOTS: usize = WORDS - 1;
/// The number of bits of a line with the number of occupied slots: its last bits.
const COUNT_BITS: u32 = 4;
/// The minimum number of marks in a line. More let fewer look-ups read a second line.
const MIN_MARKS: u32 = 2;
/// The maximum number of numbers that are moved for a new one. Then the section grows.
const MAX_MOVES: usize = 500;
/// The number of look-ups whose memory is prefetched together.
const TOGETHER: usize = 32;

/// A cache line: the lowest 32 bits of the rest of each number, the fields with its other bits, the marks, and the
/// number of occupied slots.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
struct Line([u32; WORDS]);

/// The minimizers of a host, for look-ups. Each is stored as its number, shifted to the highest bits of a word.
#[derive(Clone, Debug)]
pub struct MinimizerLookup {
    params: Params,
    level: Level,
    len: usize,
    /// The form of each section's lines, and the index of its first line.
    sections: Vec<(Form, usize)>,
    lines: Vec<Line>,
}

/// The numbers of a [section](crate::sections).
#[derive(Clone, Debug)]
pub(crate) struct Section {
    form: Form,
    /// The number of numbers that the section was made for.
    room: usize,
    len: usize,
    /// Appended numbers whose home was full, which have no slot yet.
    left: Vec<u64>,
    /// The lines; allocated by the first thread that inserts (first touch).
    lines: Vec<Line>,
    /// The state of the random numbers that choose which number is moved.
    random: u32,
}

/// The layout of a section's lines.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Form {
    /// The number of lines, each of which is home to an equal part of the section's range.
    lines: u64,
    /// 2^32 divided by the number of lines, rounded up: the range of the leading bits within a line.
    steps: u64,
    /// The number of bits of a number after the section's and the next 32.
    low_bits: u32,
    slots: usize,
    /// The number of bits of a field: those of the rest above the lowest 32, and whether the line is not the home.
    field_bits: u32,
    marks: u32,
}

/// A place of a number in a section: its home, and the rest, which tells it from all numbers with the same home.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Place {
    home: usize,
    rest: u64,
}

impl Form {
    /// Returns a layout for `count` numbers.
    fn of(params: Params, count: usize) -> Form {
        let [usual, dense] = [LOAD, HIGH_LOAD].map(|load| Form::with_load(params, count, load));
        let is_small = |form: Form| form.bytes() <= HALF_BYTES * count as u64 / 2;
        if is_small(dense) && !is_small(usual) { dense } else { usual }
    }

    /// Returns the smallest layout for `count` numbers and a load in percent.
    fn with_load(params: Params, count: usize, load: usize) -> Form {
        let forms = (1..=MAX_SLOTS).filter_map(|slots| {
            let lines = (count * 100).div_ceil(slots * load).max(1);
            Form::with_lines(params, slots, lines as u64)
        });
        forms.min_by_key(|form| form.lines).unwrap_or_else(|| unreachable!("one slot always fits"))
    }

    /// Returns the layout with at least this many lines, and with no more than are necessary for this many slots.
    fn with_lines(params: Params, slots: usize, lines: u64) -> Option<Form> {
        let low_bits = (2 * params.k() as u32).saturating_sub(sections::BITS + 32);
        let room = 32 * WORDS as u32 - COUNT_BITS;
        let rest_bits = (room - MIN_MARKS) / slots as u32 - 1;
        let step_bits = rest_bits.checked_sub(low_bits)?.min(32);
        let lines = lines.max(1 << (32 - step_bits));
        let steps = (1u64 << 32).div_ceil(lines);
        let rest_bits = u64::BITS - (steps - 1).leading_zeros() + low_bits;
        let field_bits = rest_bits.saturating_sub(32) + 1;
        let marks = room.checked_sub(slots as u32 * (32 + field_bits))?.min(32 - COUNT_BITS);
        Some(Form { lines, steps, low_bits, slots, field_bits, marks })
    }

    /// Returns the memory of a section, in bytes.
    fn bytes(&self) -> u64 {
        self.lines * size_of::<Line>() as u64
    }

    /// Returns the place of a number.
    #[inline(always)]
    fn place(&self, number: u64) -> Place {
        let own = number << sections::BITS;
        let at = (own >> 32) * self.lines;
        // Different leading bits of a line differ by at least the number of lines here, and so by 1 in steps.
        let step = ((at & 0xffff_ffff) * self.steps) >> 32;
        let low = (own & 0xffff_ffff) >> (32 - self.low_bits);
        Place { home: (at >> 32) as usize, rest: step << self.low_bits | low }
    }

    /// Returns the number of a place, without its section.
    fn number(&self, Place { home, rest }: Place) -> u64 {
        let step = ((rest >> self.low_bits) << 32).div_ceil(self.steps);
        let leading = ((home as u64) << 32 | step).div_ceil(self.lines);
        let low = (rest & ((1 << self.low_bits) - 1)) << (32 - self.low_bits);
        (leading << 32 | low) >> sections::BITS
    }

    /// Returns the distance of a number's other line from its home, from 1, and its mark in its home.
    #[inline(always)]
    fn other(&self, rest: u64) -> (usize, u32) {
        let mixed = rest.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let distance = 1 + (((mixed >> 32) * (self.lines - 1)) >> 32);
        let mark = ((mixed & 0xffff_ffff) * u64::from(self.marks)) >> 32;
        (distance as usize, 1 << (32 - COUNT_BITS - 1 - mark as u32))
    }

    /// Returns the line where a number is if it is not in its home.
    #[inline(always)]
    fn other_line(&self, Place { home, rest }: Place) -> usize {
        let line = home + self.other(rest).0;
        let lines = self.lines as usize;
        if line < lines { line } else { line - lines }
    }

    /// Returns the place of a number that is in a line that is not its home.
    fn place_of(&self, line: usize, rest: u64) -> Place {
        let distance = self.other(rest).0;
        Place {
            home: if line < distance { line + self.lines as usize } else { line } - distance,
            rest,
        }
    }
}

impl Line {
    const EMPTY: Line = Line([0; WORDS]);

    #[inline(always)]
    fn count(&self) -> usize {
        (self.0[WORDS - 1] >> (32 - COUNT_BITS)) as usize
    }

    /// Returns the word and the bit where a field starts.
    #[inline(always)]
    fn start(form: &Form, slot: usize) -> (usize, u32) {
        let bit = 32 * form.slots as u32 + slot as u32 * form.field_bits;
        ((bit / 32) as usize % WORDS, bit % 32)
    }

    #[inline(always)]
    fn field(&self, form: &Form, slot: usize) -> u64 {
        let (word, bit) = Line::start(form, slot);
        // A field that begins in the last word ends there.
        let words = u64::from(self.0[word]) | u64::from(self.0[(word + 1) % WORDS]) << 32;
        words >> bit & ((1 << form.field_bits) - 1)
    }

    /// Returns the rest of the number in a slot, and whether this is not its home.
    fn get(&self, form: &Form, slot: usize) -> (u64, bool) {
        let field = self.field(form, slot);
        (field >> 1 << 32 | u64::from(self.0[slot]), field & 1 == 1)
    }

    fn set(&mut self, form: &Form, slot: usize, rest: u64, is_away: bool) {
        self.0[slot] = rest as u32;
        let (word, bit) = Line::start(form, slot);
        let mask = ((1u64 << form.field_bits) - 1) << bit;
        let field = (rest >> 32 << 1 | u64::from(is_away)) << bit;
        for (word, shift) in [(word, 0), ((word + 1) % WORDS, 32)] {
            let kept = self.0[word] & !(mask >> shift) as u32;
            self.0[word] = kept | (field >> shift) as u32;
        }
    }

    /// Adds a number if there is an empty slot.
    fn push(&mut self, form: &Form, rest: u64, is_away: bool) -> bool {
        let slot = self.count();
        if slot == form.slots {
            return false;
        }
        self.set(form, slot, rest, is_away);
        self.0[WORDS - 1] += 1 << (32 - COUNT_BITS);
        true
    }

    #[inline(always)]
    fn has(&self, form: &Form, rest: u64, is_away: bool) -> bool {
        let field = rest >> 32 << 1 | u64::from(is_away);
        let equal = equal_words(&self.0, rest as u32) & ((1 << self.count()) - 1);
        // The outcome is unpredictable, so this avoids a branch.
        let slot = equal.trailing_zeros() as usize % WORDS;
        let is_there = (equal != 0) & (self.field(form, slot) == field);
        if equal & equal.wrapping_sub(1) != 0 {
            self.is_among(form, equal, field)
        } else {
            is_there
        }
    }

    /// Whether one of several slots has this field.
    #[cold]
    #[inline(never)]
    fn is_among(&self, form: &Form, slots: u32, field: u64) -> bool {
        (0..form.slots).any(|slot| slots >> slot & 1 == 1 && self.field(form, slot) == field)
    }
}

impl Section {
    /// Makes a section for about `count` numbers.
    pub(crate) fn with_room(params: Params, count: usize) -> Section {
        let form = Form::of(params, count);
        Section { form, room: count, len: 0, left: Vec::new(), lines: Vec::new(), random: 1 }
    }

    /// Appends numbers that are not in the section, of as many as it was made for. All get their homes before one is put
    /// into another line, so that fewer are.
    pub(crate) fn append(&mut self, params: Params, numbers: impl ExactSizeIterator<Item = u64>) {
        self.make_lines();
        self.len += numbers.len();
        // Sorted numbers mostly have the home of the one before: their line is not in memory meanwhile.
        let (form, mut at, mut line) = (self.form, 0, self.lines[0]);
        for number in numbers {
            let place = form.place(number);
            if place.home != at {
                self.lines[at] = line;
                (at, line) = (place.home, self.lines[place.home]);
            }
            if !line.push(&form, place.rest, false) {
                self.left.push(number);
            }
        }
        self.lines[at] = line;
        if self.len < self.room {
            return;
        }
        for number in std::mem::take(&mut self.left) {
            self.put_or_grow(params, self.form.place(number));
        }
    }

    /// Adds numbers in any order; those that are present are ignored.
    pub(crate) fn add_all(&mut self, params: Params, numbers: &[u64]) {
        self.make_lines();
        for (at, &number) in numbers.iter().enumerate() {
            if let Some(&later) = numbers.get(at + TOGETHER) {
                prefetch(&self.lines, self.form.place(later).home);
            }
            self.add(params, number);
        }
    }

    fn make_lines(&mut self) {
        if self.lines.is_empty() {
            self.lines = vec![Line::EMPTY; self.form.lines as usize];
        }
    }

    fn add(&mut self, params: Params, number: u64) {
        let place = self.form.place(number);
        if self.has(place) {
            return;
        }
        self.len += 1;
        self.put_or_grow(params, place);
    }

    fn put_or_grow(&mut self, params: Params, place: Place) {
        if let Some(left) = self.put(place) {
            self.grow(params, left);
        }
    }

    /// Puts a number that is not in the section into a line, moving other numbers if necessary. Returns the number that
    /// found no slot.
    fn put(&mut self, place: Place) -> Option<Place> {
        let form = self.form;
        let (mut place, mut is_away) = (place, false);
        if self.lines[place.home].push(&form, place.rest, false) {
            return None;
        }
        for _ in 0..MAX_MOVES {
            // The other of the number's lines: the one that it comes from is full.
            is_away = !is_away;
            let at = if is_away {
                self.lines[place.home].0[WORDS - 1] |= form.other(place.rest).1;
                form.other_line(place)
            } else {
                place.home
            };
            let line = &mut self.lines[at];
            if line.push(&form, place.rest, is_away) {
                return None;
            }
            self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let slot = ((u64::from(self.random) * form.slots as u64) >> 32) as usize;
            let (rest, was_away) = line.get(&form, slot);
            line.set(&form, slot, place.rest, is_away);
            place = if was_away { form.place_of(at, rest) } else { Place { home: at, rest } };
            is_away = was_away;
        }
        Some(place)
    }

    /// Adds lines, and puts all numbers and one more into them.
    fn grow(&mut self, params: Params, left: Place) {
        let mut numbers: Vec<u64> = self.numbers().collect();
        numbers.push(self.form.number(left));
        let is_full = |section: &mut Section| {
            let mut each = numbers.iter();
            each.any(|&number| section.put(section.form.place(number)).is_some())
        };
        loop {
            let Form { lines, slots, .. } = self.form;
            let Some(form) = Form::with_lines(params, slots, lines + lines / 16 + 1) else {
                unreachable!("as many slots fit with fewer lines")
            };
            self.form = form;
            self.lines.clear();
            self.make_lines();
            if !is_full(self) {
                return;
            }
        }
    }

    /// Returns all numbers, without the bits of the section.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        let form = &self.form;
        self.lines.iter().enumerate().flat_map(move |(at, line)| {
            (0..line.count()).map(move |slot| match line.get(form, slot) {
                (rest, true) => form.number(form.place_of(at, rest)),
                (rest, false) => form.number(Place { home: at, rest }),
            })
        })
    }

    fn has(&self, place: Place) -> bool {
        has(&self.lines, (&self.form, 0), place)
    }
}

/// Whether a number is in the section with this form whose lines start here.
fn has(lines: &[Line], section: (&Form, usize), place: Place) -> bool {
    let [is_there, is_open] = look(lines, section, place);
    is_there || (is_open && is_away(lines, section, place))
}

/// Looks for a number in its home: whether it is there, and whether it may be in its other line.
#[inline(always)]
fn look(lines: &[Line], (form, start): (&Form, usize), place: Place) -> [bool; 2] {
    let Some(line) = lines.get(start + place.home) else { return [false; 2] };
    let is_there = line.has(form, place.rest, false);
    let is_marked = line.0[WORDS - 1] & form.other(place.rest).1 != 0;
    [is_there, is_marked & !is_there]
}

/// Whether a number is in its other line.
#[inline(always)]
fn is_away(lines: &[Line], (form, start): (&Form, usize), place: Place) -> bool {
    let line = lines.get(start + form.other_line(place));
    line.is_some_and(|line| line.has(form, place.rest, true))
}

impl MinimizerLookup {
    /// Returns the memory of a set of `count` minimizers, in bytes.
    pub(crate) fn bytes_for(params: Params, count: usize) -> u64 {
        SECTIONS as u64 * Form::of(params, count.div_ceil(SECTIONS)).bytes()
    }

    /// Makes a set of all its sections.
    pub(crate) fn of_sections(params: Params, mut sections: Vec<Section>) -> MinimizerLookup {
        debug_assert_eq!(sections.len(), SECTIONS);
        debug_assert!(sections.iter().all(|section| section.left.is_empty()));
        // Sections without numbers need their lines, too.
        sections.iter_mut().for_each(Section::make_lines);
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
        MinimizerLookup { params, level: Level::best(), len, sections, lines }
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

    /// Returns the memory of the minimizers, in bytes.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.lines[..]) as u64
    }

    /// Whether the set contains a minimizer, given as by [`values`](crate::MinimizerSet::values).
    pub fn contains(&self, value: u64) -> bool {
        let number = self.number(value);
        let section = self.section(number);
        has(&self.lines, section, section.0.place(number))
    }

    /// Returns the number of a minimizer, shifted to the highest bits of a word.
    #[inline(always)]
    fn number(&self, value: u64) -> u64 {
        self.params.spread(value) << self.params.unused_bits()
    }

    #[inline(always)]
    fn section(&self, number: u64) -> (&Form, usize) {
        let (form, start) = &self.sections[(number >> (u64::BITS - sections::BITS)) as usize];
        (form, *start)
    }

    /// Looks up the values at the indices `asked`, and appends the indices of those that the set contains to `found`.
    pub(crate) fn look_up(&self, values: &[u64], asked: &[u32], found: &mut Vec<u32>) {
        look_up(self.level, self, values, asked, found);
    }
}

impl From<&MinimizerSet> for MinimizerLookup {
    fn from(set: &MinimizerSet) -> MinimizerLookup {
        let (params, numbers) = (set.params(), set.spread());
        let mut sections = each_section(|_| Section::with_room(params, 0));
        for own in numbers.chunk_by(|&a, &b| params.section(a) == params.section(b)) {
            let section = &mut sections[params.section(own[0])];
            *section = Section::with_room(params, own.len());
            section.append(params, own.iter().map(|&number| number << params.unused_bits()));
        }
        MinimizerLookup::of_sections(params, sections)
    }
}

dispatch! {
    fn look_up(host: &MinimizerLookup, values: &[u64], asked: &[u32], found: &mut Vec<u32>) = look_up_here
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
    fn ask(&mut self, host: &'h MinimizerLookup, values: &[u64], asked: &[u32]) {
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
    fn look(&mut self, host: &MinimizerLookup) {
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
    fn finish(&self, host: &MinimizerLookup, found: &mut [u32]) -> usize {
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
fn look_up_here(host: &MinimizerLookup, values: &[u64], asked: &[u32], found: &mut Vec<u32>) {
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
    use super::*;
    use merganser_test_random::Random;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Returns the numbers of minimizers, shifted to the highest bits of a word.
    fn shifted(params: Params, values: &BTreeSet<u64>) -> Vec<u64> {
        values.iter().map(|&value| params.spread(value) << params.unused_bits()).collect()
    }

    /// Adds numbers one by one, twice, to sections for `room` numbers.
    fn filled(params: Params, numbers: &[u64], room: usize) -> MinimizerLookup {
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
        MinimizerLookup::of_sections(params, sections)
    }

    fn found(host: &MinimizerLookup, asked: &[u64]) -> Vec<Vec<u64>> {
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
            let of = |value: u64| params.value((cluster & !(u64::MAX >> clustered) | value >> clustered) >> params.unused_bits());
            let values: BTreeSet<u64> = values.into_iter().map(of).collect();
            let numbers = shifted(params, &values);
            let host = filled(params, &numbers, if crowded { 0 } else { values.len() / SECTIONS });
            prop_assert_eq!(host.len(), values.len());
            // Also neighbours of the values, and of their numbers.
            let near = |value: u64| {
                let number = params.spread(value);
                [value, value ^ 1, params.value(number.wrapping_add(1) & params.mask()), params.value(number ^ params.mask())]
            };
            let asked: Vec<u64> = values.iter().copied().flat_map(near).chain([0, params.mask()]).collect();
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
            let number = number >> params.unused_bits() << params.unused_bits();
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
        let bytes = |count: usize| MinimizerLookup::bytes_for(params, count) as f64 / count as f64;
        for count in [25_000_000, 100_000_000, 400_000_000, 1_000_000_000] {
            assert!(bytes(count) <= 5.5, "{count} {}", bytes(count));
        }
        // A number of 62 bits in such a set has 5.1 bytes of information.
        assert!(bytes(7_500_000) < 6.4, "{}", bytes(7_500_000));
    }
}
