//! The exact method for 512 pairs at once: the band of [`super::banded`], with one bit per pair.
//!
//! The band of a global alignment with at most e edits has at most e + 1 diagonals ([`Band::global`]). The
//! vertical differences of each diagonal are two words with one bit per pair, and the addition of bit vectors
//! becomes a carry from diagonal to diagonal. This takes about nine logical operations per diagonal and column,
//! for all pairs. It requires transposed planes: words with a base of 64 pairs instead of words with 64 bases
//! of a pair.
//!
//! Differences between the pairs are encoded in the data when a pair is loaded: the read's planes are moved by
//! the band's lowest diagonal, the last diagonal is selected by a mask, and columns past the segment's end do
//! not count.

mod least;
mod score;
pub(crate) mod semi_global;

use std::ops::Range;

use merganser_seq::dispatch;
#[cfg(target_arch = "aarch64")]
use merganser_seq::lanes::Quarter;
use merganser_seq::lanes::{Bits, LANES, Part, each, transpose};
#[cfg(target_arch = "aarch64")]
use merganser_seq::simd::Features;
use merganser_seq::simd::Level;

use crate::band::Band;
use crate::batch::SequenceView;
use score::Score;

/// The number of pairs of a group.
pub(crate) const PAIRS: usize = LANES;

/// The maximum width of a band: wider bands and longer segments would not stay in the cache.
pub(crate) const MAX_WIDTH: usize = 128;
/// The maximum length of a segment, in bases.
pub(crate) const MAX_COLUMNS: usize = 4096;

/// The number of columns that are counted together.
const COLUMNS: usize = 8;

const NONE: Bits = Bits::NONE;

/// A group of pairs that are decided together. Groups reuse their memory.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The low and high bits of the reads, then of the segments, by base.
    planes: [Vec<Bits>; 4],
    /// The pairs for which each diagonal is the last one.
    select: Vec<Bits>,
    up: Vec<Bits>,
    down: Vec<Bits>,
    score: Score,
    /// The lengths of the segments, and the pairs.
    ends: Vec<(usize, usize)>,
    /// The bands, each with the first pair that uses it.
    bands: Vec<(usize, Band)>,
    /// The number of words of 64 bases for each pair.
    blocks: usize,
}

impl Group {
    /// Empties the group for bands of at most `width` diagonals, segments of at most `columns` bases, and up to
    /// `most` edits.
    pub(crate) fn start(&mut self, width: usize, columns: usize, most: usize) {
        self.blocks = (columns + width).div_ceil(64);
        for plane in &mut self.planes {
            plane.resize(plane.len().max(64 * self.blocks), NONE);
        }
        for vector in [&mut self.select, &mut self.up, &mut self.down] {
            vector.clear();
            vector.resize(width, NONE);
        }
        self.score.start(most);
        self.ends.clear();
        self.bands.clear();
    }

    /// Returns the place for loading the next pair, whose segment has `columns` bases.
    #[inline]
    pub(crate) fn next(&mut self, columns: usize, band: Band) -> LanePlace<'_> {
        let lane = self.ends.len();
        self.ends.push((columns, lane));
        if self.bands.last().is_none_or(|(_, last)| *last != band) {
            self.bands.push((lane, band));
        }
        if band.last != 0 {
            self.score.set(lane, band.last.unsigned_abs());
        }
        let blocks = self.blocks;
        LanePlace {
            planes: self.planes.each_mut().map(|plane| &mut plane.as_chunks_mut().0[..blocks]),
            at: (lane % 64, lane / 64 % (PAIRS / 64)),
            above: (-band.low) as usize,
        }
    }

    /// Initializes the vectors of the column before the first one: values increase upwards above the first row.
    fn begin(&mut self) {
        let ends = self.bands.iter().skip(1).map(|(lane, _)| *lane).chain([self.ends.len()]);
        for (&(from, band), to) in self.bands.iter().zip(ends) {
            let lanes = Bits::of_lanes(from..to);
            let put = |bits: &mut Bits| *bits = each(|g| bits[g] | lanes[g]);
            let (above, below) = ((-band.low) as usize, (band.last - band.low) as usize);
            put(&mut self.select[below]);
            self.down[..above].iter_mut().for_each(put);
            self.up[above..].iter_mut().for_each(put);
        }
    }

    /// Computes the scores of all loaded pairs.
    pub(crate) fn run(&mut self, level: Level) {
        let rows = 64 * self.blocks;
        for plane in &mut self.planes {
            for block in plane[..rows].as_chunks_mut::<64>().0 {
                transpose(level, block);
            }
        }
        self.begin();
        if !self.ends.is_sorted() {
            self.ends.sort_unstable();
        }
        let columns = self.ends.last().map_or(0, |&(columns, _)| columns);
        let mut alive = Bits::of_lanes(0..self.ends.len());
        let mut ended = 0;
        for from in (0..columns).step_by(COLUMNS) {
            let to = columns.min(from + COLUMNS);
            let mut counts = [NONE; COLUMNS];
            for (column, counts) in (from..to).zip(&mut counts) {
                while let Some(&(_, lane)) = self.ends.get(ended).filter(|end| end.0 <= column) {
                    alive[lane / 64] &= !(1 << (lane % 64));
                    ended += 1;
                }
                *counts = alive;
            }
            self.columns(level, from..to, &mut counts);
            self.score.add(level, &counts);
            if self.score.all_beyond(&alive) {
                break;
            }
        }
    }

    /// Moves the band through some columns. Of the bits in `counts`, only those of pairs and columns where the
    /// score rises stay set.
    fn columns(&mut self, level: Level, columns: Range<usize>, counts: &mut [Bits; COLUMNS]) {
        let width = self.up.len();
        let [low, high, segment_low, segment_high] = &self.planes;
        let rows = columns.start..columns.end + width;
        let read = [&low[rows.clone()], &high[rows]];
        let segment = [&segment_low[columns.clone()], &segment_high[columns]];
        let (select, up, down) = (&self.select[..], &mut self.up[..], &mut self.down[..]);
        macro_rules! fixed {
            ($($W:literal)*) => {
                match width {
                    $($W => {
                        if let (Some(up), Some(down)) = (up.as_mut_array(), down.as_mut_array()) {
                            narrow::<$W>(level, read, segment, select, up, down, counts);
                        }
                    })*
                    _ => wide(level, read, segment, select, up, down, counts),
                }
            };
        }
        fixed!(1 2 3 4 5 6 7 8);
    }

    /// Returns the score of the pair loaded as number `lane`, if it is at most `e`.
    pub(crate) fn score(&self, lane: usize, e: usize) -> Option<usize> {
        self.score.get(lane).filter(|&score| score <= e)
    }
}

/// The place of a pair in a group. The pair must have no ambiguous letters.
pub(crate) struct LanePlace<'g> {
    planes: [&'g mut [[Bits; 64]]; 4],
    at: (usize, usize),
    /// The number of rows above the read's first row, by which the read is moved.
    above: usize,
}

impl LanePlace<'_> {
    /// Loads any pair.
    pub(crate) fn fill(&mut self, [read, segment]: [&SequenceView<'_>; 2]) {
        let (words, shift) = (self.above / 64, (self.above % 64) as u32);
        let mut before = [0; 2];
        for w in 0..self.planes[0].len() {
            let word = if w < words { [0; 2] } else { read.word(w - words) };
            let moved = [0, 1].map(|p| word[p] << shift | before[p] >> 1 >> (63 - shift));
            before = word;
            self.put(w, moved, segment.word(w));
        }
    }

    /// Whether [`fill_words`](Self::fill_words) can load planes of `plane` words.
    #[inline]
    pub(crate) fn fits(&self, plane: usize) -> bool {
        self.above < 64 && plane <= self.planes[0].len()
    }

    /// Loads a pair whose sequences have planes of the same number of words, low bits then high bits.
    #[inline]
    pub(crate) fn fill_words(&mut self, [read, segment]: [&[u64]; 2]) {
        let ((low, high), (segment_low, segment_high)) =
            (read.split_at(read.len() / 2), segment.split_at(segment.len() / 2));
        let shift = self.above as u32;
        let mut before = [0; 2];
        let words = low.iter().zip(high).zip(segment_low.iter().zip(segment_high));
        for (w, ((&low, &high), (&segment_low, &segment_high))) in words.enumerate() {
            let moved = [
                low << shift | before[0] >> 1 >> (63 - shift),
                high << shift | before[1] >> 1 >> (63 - shift),
            ];
            before = [low, high];
            self.put(w, moved, [segment_low, segment_high]);
        }
        for w in low.len()..self.planes[0].len() {
            self.put(w, before.map(|word| word >> 1 >> (63 - shift)), [0; 2]);
            before = [0; 2];
        }
    }

    #[inline(always)]
    fn put(&mut self, w: usize, read: [u64; 2], segment: [u64; 2]) {
        let (k, g) = self.at;
        let words = [read[0], read[1], segment[0], segment[1]];
        for (plane, word) in self.planes.iter_mut().zip(words) {
            plane[w][k][g] = word;
        }
    }
}

/// Moves a band whose vectors stay in registers.
fn narrow<const W: usize>(
    level: Level,
    read: [&[Bits]; 2],
    segment: [&[Bits]; 2],
    select: &[Bits],
    up: &mut [Bits; W],
    down: &mut [Bits; W],
    counts: &mut [Bits; COLUMNS],
) {
    #[cfg(target_arch = "aarch64")]
    if level.features() == Features::Neon {
        return narrow_body::<Quarter, W>(read, segment, select, up, down, counts);
    }
    narrow_whole(level, read, segment, select, up, down, counts);
}

dispatch! {
    fn narrow_whole[const W: usize](
        read: [&[Bits]; 2], segment: [&[Bits]; 2], select: &[Bits], up: &mut [Bits; W],
        down: &mut [Bits; W], counts: &mut [Bits; COLUMNS],
    ) = narrow_body::<Bits, W>
}

#[inline(always)]
fn narrow_body<P: Part, const W: usize>(
    read: [&[Bits]; 2],
    segment: [&[Bits]; 2],
    select: &[Bits],
    up: &mut [Bits; W],
    down: &mut [Bits; W],
    counts: &mut [Bits; COLUMNS],
) {
    let Some(select) = select.as_array::<W>() else { return };
    for from in (0..PAIRS / 64).step_by(P::WORDS) {
        let part = |bits: &Bits| P::load(bits, from);
        let (mut own_up, mut own_down) = (up.each_ref().map(part), down.each_ref().map(part));
        advance(read, segment, select, &mut own_up, &mut own_down, counts, from);
        up.iter_mut().zip(own_up).for_each(|(place, own)| own.store(place, from));
        down.iter_mut().zip(own_down).for_each(|(place, own)| own.store(place, from));
    }
}

dispatch! {
    /// Moves a band of any width.
    fn wide(
        read: [&[Bits]; 2], segment: [&[Bits]; 2], select: &[Bits], up: &mut [Bits],
        down: &mut [Bits], counts: &mut [Bits; COLUMNS],
    ) = wide_body
}

#[inline(always)]
fn wide_body(
    read: [&[Bits]; 2],
    segment: [&[Bits]; 2],
    select: &[Bits],
    up: &mut [Bits],
    down: &mut [Bits],
    counts: &mut [Bits; COLUMNS],
) {
    advance(read, segment, select, up, down, counts, 0);
}

/// Moves the part of a band that begins at word `from` of its vectors.
#[inline(always)]
fn advance<P: Part>(
    read: [&[Bits]; 2],
    segment: [&[Bits]; 2],
    select: &[Bits],
    up: &mut [P],
    down: &mut [P],
    counts: &mut [Bits; COLUMNS],
    from: usize,
) {
    let width = up.len();
    let letters = segment[0].iter().zip(segment[1]);
    for ((column, letter), counts) in letters.enumerate().zip(counts.iter_mut()) {
        let rows = [&read[0][column..column + width], &read[1][column..column + width]];
        let letter = [P::load(letter.0, from), P::load(letter.1, from)];
        let mut level = P::NONE;
        // The horizontal differences of the diagonal before: where they are not 1, and where they are -1. The latter is
        // also the carry of the sum.
        let (mut not_more, mut less) = (P::NONE, P::NONE);
        for i in 0..width {
            let (low, high) = (P::load(&rows[0][i], from), P::load(&rows[1][i], from));
            let differs = (low ^ letter[0]) | (high ^ letter[1]);
            let (this_up, this_down) = (up[i], down[i]);
            let zero = less | this_down | !differs;
            level = level | zero & P::load(&select[i], from);
            if i > 0 {
                (up[i - 1], down[i - 1]) = (less | not_more & !zero, zero & !not_more);
            }
            (not_more, less) = ((zero | this_up) & !this_down, zero & this_up);
        }
        // Nothing below the band has a diagonal difference of zero.
        (up[width - 1], down[width - 1]) = (less | not_more, P::NONE);
        (P::load(counts, from) & !level).store(counts, from);
    }
}

#[cfg(test)]
mod tests;
