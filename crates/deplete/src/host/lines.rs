//! Cache lines of numbers, and the line and the rest of each number.

use merganser_seq::simd::equal_words;

use crate::Params;
use crate::sections;

/// The part of the slots that is planned to be occupied, in percent. With more, more numbers are not in their home.
const LOAD: usize = 92;
/// The load of sets that then have up to [`HALF_BYTES`], and have more with the usual load.
const HIGH_LOAD: usize = 97;
/// The memory of a number that large sets do not exceed, in half bytes.
const HALF_BYTES: u64 = 11;
/// The words of a line, of which each has 32 bits.
pub(super) const WORDS: usize = 16;
/// The maximum number of slots in a line: a word has the number of those that are occupied.
const MAX_SLOTS: usize = WORDS - 1;
/// The number of bits of a line with the number of occupied slots: its last bits.
pub(super) const COUNT_BITS: u32 = 4;
/// The minimum number of marks in a line. More let fewer look-ups read a second line.
pub(super) const MIN_MARKS: u32 = 2;
/// A cache line: the lowest 32 bits of the rest of each number, the fields with its other bits, the marks, and the
/// number of occupied slots.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(super) struct Line(pub(super) [u32; WORDS]);

/// The layout of a section's lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Form {
    /// The number of lines, each of which is home to an equal part of the section's range.
    pub(super) lines: u64,
    /// 2^32 divided by the number of lines, rounded up: the range of the leading bits within a line.
    steps: u64,
    /// The number of bits of a number after the section's and the next 32.
    low_bits: u32,
    pub(super) slots: usize,
    /// The number of bits of a field: those of the rest above the lowest 32, and whether the line is not the home.
    pub(super) field_bits: u32,
    pub(super) marks: u32,
}

/// A place of a number in a section: its home, and the rest, which tells it from all numbers with the same home.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) home: usize,
    pub(super) rest: u64,
}

impl Form {
    /// Returns a layout for `count` numbers.
    pub(super) fn of(params: Params, count: usize) -> Form {
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
    pub(super) fn with_lines(params: Params, slots: usize, lines: u64) -> Option<Form> {
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
    pub(super) fn bytes(&self) -> u64 {
        self.lines * size_of::<Line>() as u64
    }

    /// Returns the place of a number.
    #[inline(always)]
    pub(super) fn place(&self, number: u64) -> Place {
        let own = number << sections::BITS;
        let at = (own >> 32) * self.lines;
        // Different leading bits of a line differ by at least the number of lines here, and so by 1 in steps.
        let step = ((at & 0xffff_ffff) * self.steps) >> 32;
        let low = (own & 0xffff_ffff) >> (32 - self.low_bits);
        Place { home: (at >> 32) as usize, rest: step << self.low_bits | low }
    }

    /// Returns the number of a place, without its section.
    pub(super) fn number(&self, Place { home, rest }: Place) -> u64 {
        let step = ((rest >> self.low_bits) << 32).div_ceil(self.steps);
        let leading = ((home as u64) << 32 | step).div_ceil(self.lines);
        let low = (rest & ((1 << self.low_bits) - 1)) << (32 - self.low_bits);
        (leading << 32 | low) >> sections::BITS
    }

    /// Returns the distance of a number's other line from its home, from 1, and its mark in its home.
    #[inline(always)]
    pub(super) fn other(&self, rest: u64) -> (usize, u32) {
        let mixed = rest.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let distance = 1 + (((mixed >> 32) * (self.lines - 1)) >> 32);
        let mark = ((mixed & 0xffff_ffff) * u64::from(self.marks)) >> 32;
        (distance as usize, 1 << (32 - COUNT_BITS - 1 - mark as u32))
    }

    /// Returns the line where a number is if it is not in its home.
    #[inline(always)]
    pub(super) fn other_line(&self, Place { home, rest }: Place) -> usize {
        let line = home + self.other(rest).0;
        let lines = self.lines as usize;
        if line < lines { line } else { line - lines }
    }

    /// Returns the place of a number that is in a line that is not its home.
    pub(super) fn place_of(&self, line: usize, rest: u64) -> Place {
        let distance = self.other(rest).0;
        Place {
            home: if line < distance { line + self.lines as usize } else { line } - distance,
            rest,
        }
    }
}

impl Line {
    pub(super) const EMPTY: Line = Line([0; WORDS]);

    #[inline(always)]
    pub(super) fn count(&self) -> usize {
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
    pub(super) fn get(&self, form: &Form, slot: usize) -> (u64, bool) {
        let field = self.field(form, slot);
        (field >> 1 << 32 | u64::from(self.0[slot]), field & 1 == 1)
    }

    pub(super) fn set(&mut self, form: &Form, slot: usize, rest: u64, is_away: bool) {
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
    pub(super) fn push(&mut self, form: &Form, rest: u64, is_away: bool) -> bool {
        let slot = self.count();
        if slot == form.slots {
            return false;
        }
        self.set(form, slot, rest, is_away);
        self.0[WORDS - 1] += 1 << (32 - COUNT_BITS);
        true
    }

    #[inline(always)]
    pub(super) fn has(&self, form: &Form, rest: u64, is_away: bool) -> bool {
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
