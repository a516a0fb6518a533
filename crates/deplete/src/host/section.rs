//! Sections of a set, which threads fill concurrently.

use merganser_seq::simd::prefetch;

use super::lines::{Form, Line, Place, WORDS};
use crate::Params;
use crate::lookup::TOGETHER;

/// The maximum number of numbers that are moved for a new one. Then the section grows.
const MAX_MOVES: usize = 500;

/// The numbers of a [section](crate::sections).
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(super) form: Form,
    /// The number of numbers that the section was made for.
    room: usize,
    pub(super) len: usize,
    /// Appended numbers whose home was full, which have no slot yet.
    left: Vec<u64>,
    /// The lines; allocated by the first thread that inserts (first touch).
    pub(super) lines: Vec<Line>,
    /// The state of the random numbers that choose which number is moved.
    random: u32,
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
        if self.len >= self.room {
            self.settle(params);
        }
    }

    /// Puts the appended numbers that have no slot yet into one.
    pub(super) fn settle(&mut self, params: Params) {
        self.make_lines();
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
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
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
pub(super) fn has(lines: &[Line], section: (&Form, usize), place: Place) -> bool {
    let [is_there, is_open] = look(lines, section, place);
    is_there || (is_open && is_away(lines, section, place))
}

/// Looks for a number in its home: whether it is there, and whether it may be in its other line.
#[inline(always)]
pub(super) fn look(lines: &[Line], (form, start): (&Form, usize), place: Place) -> [bool; 2] {
    let Some(line) = lines.get(start + place.home) else { return [false; 2] };
    let is_there = line.has(form, place.rest, false);
    let is_marked = line.0[WORDS - 1] & form.other(place.rest).1 != 0;
    [is_there, is_marked & !is_there]
}

/// Whether a number is in its other line.
#[inline(always)]
pub(super) fn is_away(lines: &[Line], (form, start): (&Form, usize), place: Place) -> bool {
    let line = lines.get(start + form.other_line(place));
    line.is_some_and(|line| line.has(form, place.rest, true))
}
