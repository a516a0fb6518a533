//! The exact method for many pairs at once: the band of [`super::banded`] in lanes of 8, 16, 32 or
//! 64 bits, a pair a lane.
//!
//! The band of a global alignment with at most e edits is at most e + 1 diagonals wide
//! ([`Band::global`]), so that lanes of 8 bits do for e up to 7. What differs between pairs is put
//! into the data when a lane is filled: the read's planes are moved by the band's lowest diagonal,
//! columns past the segment's end do not count. So all lanes take the same steps, in plain loops
//! that the compiler turns into vector instructions. Pairs of one group should have segments of
//! about the same length.

use merganser_seq::dispatch;
use merganser_seq::simd::Level;

use super::banded::Band;
use crate::batch::View;

/// A lane's word.
pub(crate) trait Lane: Copy + Default + PartialOrd {
    /// Bits, and columns of a block.
    const BITS: usize;
    /// Lanes of a group: four vectors of 512 bits, so that one waits for its results while the
    /// others compute.
    const LANES: usize = 2048 / Self::BITS;
    /// The low bits of a number.
    fn of(word: u64) -> Self;
    /// The vectors of the next column: vertical differences up and down, and 1 if the diagonal
    /// difference at `bit` is 1 in a column that counts.
    fn column(bits: Column<Self>) -> (Self, Self, Self);
    /// A sum that stays at the largest number.
    fn add(self, other: Self) -> Self;
}

/// What a column of a lane needs.
#[derive(Clone, Copy)]
pub(crate) struct Column<T> {
    k: u32,
    /// Low and high bits of the read from this block's first row on, and of the next block.
    read: [T; 4],
    /// Low and high bits of the segment's columns, and which of them count.
    segment: [T; 3],
    up: T,
    down: T,
    bit: T,
}

macro_rules! lane {
    ($($T:ty, $signed:ty, $add:ident;)*) => {$(
        impl Lane for $T {
            const BITS: usize = <$T>::BITS as usize;

            #[inline(always)]
            fn of(word: u64) -> Self {
                word as $T
            }

            #[inline(always)]
            fn column(column: Column<Self>) -> (Self, Self, Self) {
                let Column { k, read, segment, up, down, bit } = column;
                let top = <$T>::BITS - 1;
                let window = |first: $T, next: $T| first >> k | next << 1 << (top - k);
                let spread = |bits: $T| ((bits << (top - k)) as $signed >> top) as $T;
                let differs = (window(read[0], read[2]) ^ spread(segment[0]))
                    | (window(read[1], read[3]) ^ spread(segment[1]));
                let equal = !differs;
                let zero = ((equal & up).wrapping_add(up) ^ up) | equal | down;
                let (more, less) = (down | !(zero | up), zero & up);
                let below = zero >> 1;
                let counts = <$T>::from(zero & bit == 0) & (segment[2] >> k);
                (less | !(below | more), below & more, counts)
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.$add(other)
            }
        }
    )*};
}

// The wider lanes cannot overflow: a sequence has fewer than 2^32 bases, and a score counts columns.
lane! {
    u8, i8, saturating_add;
    u16, i16, saturating_add;
    u32, i32, wrapping_add;
    u64, i64, wrapping_add;
}

/// Pairs that are decided together; kept between batches for its memory.
#[derive(Debug, Default)]
pub(crate) struct Group<T> {
    /// By 64 rows or columns, the planes below, each by lane.
    wide: Vec<Vec<u64>>,
    /// By block of `T::BITS` rows or columns, then by lane.
    read: [Vec<T>; 2],
    segment: [Vec<T>; 3],
    up: Vec<T>,
    down: Vec<T>,
    score: Vec<T>,
    /// The bit of the last cell's diagonal.
    bit: Vec<T>,
    limit: Vec<T>,
    columns: usize,
    /// Blocks of the segments that the planes have room for.
    blocks: usize,
}

impl<T: Lane> Group<T> {
    /// Empties it, for segments of at most `columns` bases.
    pub(crate) fn start(&mut self, columns: usize) {
        self.columns = 0;
        self.blocks = columns.div_ceil(T::BITS);
        for vector in
            [&mut self.up, &mut self.down, &mut self.score, &mut self.bit, &mut self.limit]
        {
            vector.clear();
            // Lanes that stay empty never end a run early: their score is their limit's equal.
            vector.resize(T::LANES, T::default());
        }
        let words = self.blocks * T::BITS / 64 + 1;
        if self.wide.len() < words {
            self.wide.resize_with(words, || vec![0; 5 * T::LANES]);
        }
        for plane in &mut self.read {
            plane.resize((self.blocks + 1) * T::LANES, T::default());
        }
        for plane in &mut self.segment {
            plane.resize(self.blocks * T::LANES, T::default());
        }
    }

    /// Puts a pair without other letters, whose band is `band` and at most `T::BITS` wide, into a
    /// lane.
    pub(crate) fn fill(&mut self, lane: usize, pair: [&View<'_>; 2], band: Band, e: usize) {
        let [read, segment] = pair;
        self.columns = self.columns.max(segment.len());
        let above = (-band.low) as u32;
        let down = !(u64::MAX << above);
        self.up[lane] = T::of(!down);
        self.down[lane] = T::of(down);
        self.score[lane] = T::of(band.last.unsigned_abs() as u64);
        self.limit[lane] = T::of(e as u64);
        self.bit[lane] = T::of(1 << (band.last - band.low));
        let mut before = [0; 2];
        for w in 0..self.blocks * T::BITS / 64 + 1 {
            let word = read.word(w);
            let moved = [0, 1].map(|p| word[p] << above | before[p] >> 1 >> (63 - above));
            before = word;
            let counts = match segment.len().saturating_sub(64 * w) {
                0 => 0,
                bits @ 1..64 => u64::MAX >> (64 - bits),
                _ => u64::MAX,
            };
            let [low, high] = segment.word(w);
            let row = &mut self.wide[w];
            for (plane, word) in [moved[0], moved[1], low, high, counts].into_iter().enumerate() {
                row[plane * T::LANES + lane] = word;
            }
        }
    }

    /// Cuts the words of all lanes into those of the lanes' width.
    fn narrow(&mut self, level: Level) {
        let per_word = 64 / T::BITS;
        for block in 0..=self.blocks {
            let (wide, shift) = (&self.wide[block / per_word], block % per_word * T::BITS);
            let part = block * T::LANES..(block + 1) * T::LANES;
            let planes = self.read.iter_mut().chain(&mut self.segment);
            for (plane, wide) in planes.zip(wide.chunks_exact(T::LANES)) {
                if let Some(plane) = plane.get_mut(part.clone()) {
                    narrow(level, wide, shift as u32, plane);
                }
            }
        }
    }

    /// Computes the scores: of the lanes filled, the distance where it is at most the limit, else
    /// more than the limit.
    pub(crate) fn run(&mut self, level: Level, filled: usize) {
        let lanes = T::LANES;
        self.narrow(level);
        for block in 0..self.columns.div_ceil(T::BITS) {
            let steps = (self.columns - block * T::BITS).min(T::BITS) as u32;
            let [low, high] = &self.read;
            let [slow, shigh, counts] = &self.segment;
            let part = block * lanes..(block + 1) * lanes;
            let next = (block + 1) * lanes..(block + 2) * lanes;
            columns(
                level,
                steps,
                [&low[part.clone()], &high[part.clone()], &low[next.clone()], &high[next]],
                [&slow[part.clone()], &shigh[part.clone()], &counts[part]],
                &self.bit,
                &mut self.up,
                &mut self.down,
                &mut self.score,
            );
            let open = |(score, limit): (&T, &T)| score <= limit;
            if !self.score.iter().zip(&self.limit).take(filled).any(open) {
                return;
            }
        }
    }

    /// A lane's score if it is within its limit.
    pub(crate) fn score(&self, lane: usize) -> Option<T> {
        Some(self.score[lane]).filter(|score| *score <= self.limit[lane])
    }
}

dispatch! {
    fn narrow[T: Lane](wide: &[u64], shift: u32, plane: &mut [T]) = narrow_body
}

#[inline(always)]
fn narrow_body<T: Lane>(wide: &[u64], shift: u32, plane: &mut [T]) {
    for (piece, &word) in plane.iter_mut().zip(wide) {
        *piece = T::of(word >> shift);
    }
}

dispatch! {
    #[allow(clippy::too_many_arguments, reason = "the compiler must see that none overlap")]
    fn columns[T: Lane](
        steps: u32, read: [&[T]; 4], segment: [&[T]; 3], bit: &[T], up: &mut [T], down: &mut [T],
        score: &mut [T],
    ) = columns_body
}

#[inline(always)]
fn columns_body<T: Lane>(
    steps: u32,
    read: [&[T]; 4],
    segment: [&[T]; 3],
    bit: &[T],
    up: &mut [T],
    down: &mut [T],
    score: &mut [T],
) {
    let n = T::LANES;
    let [r0, r1, r2, r3] = read.map(|part| &part[..n]);
    let [s0, s1, s2] = segment.map(|part| &part[..n]);
    let (bit, up, down, score) = (&bit[..n], &mut up[..n], &mut down[..n], &mut score[..n]);
    for k in 0..steps {
        for l in 0..n {
            let column = Column {
                k,
                read: [r0[l], r1[l], r2[l], r3[l]],
                segment: [s0[l], s1[l], s2[l]],
                up: up[l],
                down: down[l],
                bit: bit[l],
            };
            let counts;
            (up[l], down[l], counts) = T::column(column);
            score[l] = score[l].add(counts);
        }
    }
}
