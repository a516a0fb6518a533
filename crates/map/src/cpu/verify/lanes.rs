//! Bit-parallel verification of many windows at once, one in each vector lane (Hyyrö, 2003).
//!
//! The diagonals of a window's band are the bits of a word that moves along with the query's bases. The roles
//! of query and text are exchanged compared with the paper, so that after the last row the word holds the edits
//! of all ends.
//!
//! A 32-bit lane holds a band of 16 diagonals, a 64-bit lane one of 32; the other half of the word holds the
//! next bases of the text. Bands of up to 64 diagonals are words of 128 bits, which are not in vectors. A band
//! never computes fewer than the true number of edits, and exactly this number
//! for an alignment that stays within the band.

use std::ops::{Add, BitAnd, BitOr};

use merganser_seq::dispatch;
use merganser_seq::planes::window;
use merganser_seq::simd::Level;

use super::{End, Window};
use crate::queries::{Queries, Query};
use crate::reference::Text;

/// The word of a lane.
pub(crate) trait Lane:
    Copy + Default + Ord + Add<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self>
{
    /// The number of diagonals of a band, and of bases of a block: half of the word's bits.
    const BAND: usize;
    /// The number of bases, in whole blocks, that can be processed with one load of 64 bases of the text.
    const AHEAD: usize = 64 - Self::BAND;
    fn of(word: u64) -> Self;
    fn word(self) -> u64;
    /// Processes the next base. Takes the text (low, high), the query (low, high; its base on top), the
    /// differences up and down between neighbouring ends, and the edits at the band's last end; returns the
    /// latter three.
    fn step(text: [Self; 2], query: [Self; 2], up: Self, down: Self, sum: Self) -> [Self; 3];
    fn shift_right(self) -> Self;
    fn shift_left(self) -> Self;
    /// Returns the number of set bits.
    fn ones(self) -> Self;
}

macro_rules! lane {
    ($($T:ty, $signed:ty;)*) => {$(
        impl Lane for $T {
            const BAND: usize = <$T>::BITS as usize / 2;

            #[inline(always)]
            fn of(word: u64) -> Self {
                word as $T
            }

            #[inline(always)]
            fn word(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn step(text: [Self; 2], query: [Self; 2], up: Self, down: Self, sum: Self) -> [Self; 3] {
                const BAND: u32 = <$T>::BITS / 2;
                let spread = |bits: $T| (bits as $signed >> (<$T>::BITS - 1)) as $T;
                let equal = !((text[0] ^ spread(query[0])) | (text[1] ^ spread(query[1])));
                let zero = ((equal & up).wrapping_add(up) ^ up) | equal | down;
                let (more, less) = (down | !(zero | up), zero & up);
                // Bits above the band must not enter it.
                let below = zero >> 1 & ((1 << (BAND - 1)) - 1);
                let differs = !zero >> (BAND - 1) & 1;
                [less | !(below | more), below & more, sum + differs]
            }

            #[inline(always)]
            fn shift_right(self) -> Self {
                self >> 1
            }

            #[inline(always)]
            fn shift_left(self) -> Self {
                self << 1
            }

            #[inline(always)]
            fn ones(self) -> Self {
                self.count_ones() as $T
            }
        }
    )*};
}

lane! {
    u32, i32;
    u64, i64;
    u128, i128;
}

/// The number of lanes of a group: two 512-bit vectors, so that one computes while the other waits for its results.
const LANES_32: usize = 32;
const LANES_64: usize = 16;

/// The numbers of lanes of a group whose bases are processed before those of the next lanes. On ARM, the state of 256
/// bits of lanes stays in registers.
const AT_ONCE_32: usize = if cfg!(target_arch = "aarch64") { 8 } else { LANES_32 };
const AT_ONCE_64: usize = if cfg!(target_arch = "aarch64") { 4 } else { LANES_64 };

/// Working space of one thread.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    group: Vec<u32>,
}

/// The state of a group of lanes.
struct Group<T, const N: usize> {
    /// The maximum number of edits of each lane.
    edits: [T; N],
    text: [[T; N]; 2],
    query: [[T; N]; 2],
    up: [T; N],
    down: [T; N],
    sum: [T; N],
    /// The next 64 bases of the text, the first one in the lowest bit, and of the query, the first one in the
    /// highest bit; the words above are filled from them.
    text_ahead: [[u64; N]; 2],
    query_ahead: [[u64; N]; 2],
}

/// The number of diagonals of the widest band.
const WIDEST: usize = <u128 as Lane>::BAND;
/// The number of diagonals of the widest band in vectors.
const WIDEST_IN_VECTORS: usize = <u64 as Lane>::BAND;
/// The maximum number of edits for which a band in vectors is wide enough.
pub(crate) const MAX_EDITS: usize = (WIDEST_IN_VECTORS - 1) / 2;

/// Returns the number of diagonals of the band for queries with `edits` edits: the narrow band if it leaves
/// room for neighbouring diagonals; `None` if no band is wide enough.
pub(crate) fn band(edits: usize) -> Option<usize> {
    let diagonals = 2 * edits + 1;
    let bands =
        [(13, <u32 as Lane>::BAND), (WIDEST_IN_VECTORS, WIDEST_IN_VECTORS), (WIDEST, WIDEST)];
    bands.into_iter().find(|(most, _)| diagonals <= *most).map(|(_, band)| band)
}

impl Lanes {
    /// Appends the good ends of windows, in any order, and calls `rejected` with the number of candidates of
    /// each window in vectors that has none. All windows must satisfy [`Window::is_plain`] for their [`band`].
    pub(crate) fn run(
        &mut self,
        queries: &Queries,
        windows: &[Window],
        text: &Text<'_>,
        ends: &mut Vec<End>,
        mut rejected: impl FnMut(u32),
    ) {
        let level = Level::best();
        let of = |&at: &u32| {
            let query = queries.get(windows[at as usize].query as usize);
            (band(query.edits), query.len)
        };
        self.group.clear();
        self.group.extend(0..windows.len() as u32);
        // Lanes of a group should end together. Usually all have the same length and need no sorting.
        if !self.group.is_sorted_by_key(of) {
            self.group.sort_by_key(of);
        }
        let job = Job { queries, windows, text: *text };
        for same in self.group.chunk_by(|a, b| of(a).0 == of(b).0) {
            if of(&same[0]).0 == Some(WIDEST) {
                // Devices scan these windows, and count none of their candidates as rejected.
                same.iter().for_each(|&at| wide(&job, &windows[at as usize], ends));
                continue;
            }
            let narrow = of(&same[0]).0 == Some(<u32 as Lane>::BAND);
            let count = if narrow { LANES_32 } else { LANES_64 };
            job.prefetch(&same[..count.min(same.len())]);
            for from in (0..same.len()).step_by(count) {
                let (group, rest) = same[from..].split_at(count.min(same.len() - from));
                job.prefetch(&rest[..count.min(rest.len())]);
                match narrow {
                    true => lanes_32(level, &job, group, ends, &mut rejected),
                    false => lanes_64(level, &job, group, ends, &mut rejected),
                }
            }
        }
    }
}

struct Job<'a> {
    queries: &'a Queries,
    windows: &'a [Window],
    text: Text<'a>,
}

impl Job<'_> {
    /// Prefetches the text of some windows.
    fn prefetch(&self, group: &[u32]) {
        for &at in group {
            let window = &self.windows[at as usize];
            let len = self.queries.get(window.query as usize).len;
            // A cache line holds 512 bases of a plane.
            for at in (0..len).step_by(512).chain([len]) {
                self.text.prefetch(window.first as usize + at);
            }
        }
    }
}

dispatch! {
    fn lanes_32(job: &Job<'_>, group: &[u32], ends: &mut Vec<End>, rejected: &mut dyn FnMut(u32)) =
        run::<u32, LANES_32, AT_ONCE_32>
}

dispatch! {
    fn lanes_64(job: &Job<'_>, group: &[u32], ends: &mut Vec<End>, rejected: &mut dyn FnMut(u32)) =
        run::<u64, LANES_64, AT_ONCE_64>
}

/// The data from which a lane is filled.
#[derive(Clone, Copy)]
struct LaneInput<'a> {
    /// Planes of the query's reverse complement. Complementing them gives the query's bases from the last one
    /// on, which is the order in which lanes need them.
    back: [&'a [u64]; 2],
    len: usize,
    /// The position in the text where the band begins.
    at: usize,
}

impl<'a> LaneInput<'a> {
    fn of(job: &Job<'a>, window: &Window) -> LaneInput<'a> {
        let query = job.queries.get(window.query as usize);
        let back = job.queries.get(window.query as usize ^ 1);
        let at = (window.first - query.edits as i64) as usize;
        LaneInput { back: [back.low, back.high], len: query.len, at }
    }

    /// Returns the 64 bases of the query from `base` on, the first one in the highest bit.
    #[inline(always)]
    fn query(&self, base: usize) -> [u64; 2] {
        let left = self.len - base;
        let [low, high] = self.back;
        match left.checked_sub(64) {
            Some(from) => [!window(low, from), !window(high, from)],
            None => [!low[0] << (64 - left), !high[0] << (64 - left)],
        }
    }
}

#[inline(always)]
fn run<T: Lane, const N: usize, const C: usize>(
    job: &Job<'_>,
    group: &[u32],
    ends: &mut Vec<End>,
    rejected: &mut dyn FnMut(u32),
) {
    let zeros = [T::default(); N];
    let ahead = [[0; N]; 2];
    let mut lanes = Group {
        edits: zeros,
        text: [zeros; 2],
        query: [zeros; 2],
        up: zeros,
        down: zeros,
        sum: zeros,
        text_ahead: ahead,
        query_ahead: ahead,
    };
    let window = |lane: usize| &job.windows[group[lane] as usize];
    let none = LaneInput { back: [&[]; 2], len: 0, at: 0 };
    let mut sources = [none; N];
    for (lane, source) in sources.iter_mut().enumerate().take(group.len()) {
        *source = LaneInput::of(job, window(lane));
        lanes.edits[lane] = T::of(job.queries.get(window(lane).query as usize).edits as u64);
    }
    let sources = &sources[..group.len()];
    let longest = sources.last().map_or(0, |source| source.len);
    // The first unfinished lane. Lanes are sorted by length, so they finish in order.
    let (mut first, mut base) = (0, 0);
    while base < longest {
        let within = base % T::AHEAD;
        if within == 0 {
            for (lane, source) in sources.iter().enumerate().skip(first) {
                let (text, query) = (job.text.window(source.at + base), source.query(base));
                for plane in 0..2 {
                    lanes.text_ahead[plane][lane] = text[plane];
                    lanes.query_ahead[plane][lane] = query[plane];
                }
            }
        }
        lanes.fill(within as u32);
        let block = T::BAND.min(longest - base);
        let mut done = 0;
        while done < block {
            let next = block.min(sources[first].len - base);
            lanes.steps::<C>(next - done);
            done = next;
            while first < sources.len() && sources[first].len == base + done {
                let state = [lanes.up[first], lanes.down[first], lanes.sum[first]].map(T::word);
                let window = window(first);
                let query = job.queries.get(window.query as usize);
                if !finish(&query, window, state, T::BAND, ends) {
                    rejected(window.candidates);
                }
                first += 1;
            }
        }
        base += T::BAND;
        if first < sources.len() && lanes.are_hopeless(first, sources.len()) {
            (first..sources.len()).for_each(|lane| rejected(window(lane).candidates));
            return;
        }
    }
}

impl<T: Lane, const N: usize> Group<T, N> {
    /// Fills the words of the next block, which begins `within` bases after the first of the preloaded bases.
    #[inline(always)]
    fn fill(&mut self, within: u32) {
        for plane in 0..2 {
            for lane in 0..N {
                self.text[plane][lane] = T::of(self.text_ahead[plane][lane] >> within);
                let query = self.query_ahead[plane][lane] << within;
                self.query[plane][lane] = T::of(query >> (64 - 2 * T::BAND));
            }
        }
    }

    /// Whether all lanes of a range exceed their maximum number of edits at every end of their bands. These
    /// numbers never decrease.
    #[inline(always)]
    fn are_hopeless(&self, from: usize, to: usize) -> bool {
        let mut hopeful = T::default();
        let between = T::of((1 << (T::BAND - 1)) - 1);
        for lane in 0..N {
            // No end of the band has fewer edits than `sum` less the set bits of `up`.
            let spare = self.edits[lane] + (self.up[lane] & between).ones();
            let counts = (from..to).contains(&lane);
            hopeful = hopeful | T::of(u64::from(counts && self.sum[lane] <= spare));
        }
        hopeful == T::default()
    }

    /// Processes the next bases of all lanes, those of `C` lanes at a time.
    #[inline(always)]
    fn steps<const C: usize>(&mut self, bases: usize) {
        if C == N {
            return steps(
                &mut self.text,
                &mut self.query,
                [&mut self.up, &mut self.down, &mut self.sum],
                bases,
            );
        }
        for from in (0..N).step_by(C) {
            let own = |all: &[T; N]| {
                let mut own = [T::default(); C];
                own.copy_from_slice(&all[from..from + C]);
                own
            };
            let mut text = [own(&self.text[0]), own(&self.text[1])];
            let mut query = [own(&self.query[0]), own(&self.query[1])];
            let (mut up, mut down, mut sum) = (own(&self.up), own(&self.down), own(&self.sum));
            steps(&mut text, &mut query, [&mut up, &mut down, &mut sum], bases);
            let put = |all: &mut [T; N], own: &[T; C]| all[from..from + C].copy_from_slice(own);
            for plane in 0..2 {
                put(&mut self.text[plane], &text[plane]);
                put(&mut self.query[plane], &query[plane]);
            }
            put(&mut self.up, &up);
            put(&mut self.down, &down);
            put(&mut self.sum, &sum);
        }
    }
}

/// Processes the next bases of some lanes, given the differences up and down, and the edits.
#[inline(always)]
fn steps<T: Lane, const N: usize>(
    text: &mut [[T; N]; 2],
    query: &mut [[T; N]; 2],
    [up, down, sum]: [&mut [T; N]; 3],
    bases: usize,
) {
    for _ in 0..bases {
        for lane in 0..N {
            let own_text = [text[0][lane], text[1][lane]];
            let own_query = [query[0][lane], query[1][lane]];
            [up[lane], down[lane], sum[lane]] =
                T::step(own_text, own_query, up[lane], down[lane], sum[lane]);
            text[0][lane] = own_text[0].shift_right();
            text[1][lane] = own_text[1].shift_right();
            query[0][lane] = own_query[0].shift_left();
            query[1][lane] = own_query[1].shift_left();
        }
    }
}

/// Appends the good ends of a window whose band is the widest.
fn wide(job: &Job<'_>, window: &Window, ends: &mut Vec<End>) {
    let source = LaneInput::of(job, window);
    let query = job.queries.get(window.query as usize);
    let between = (1 << (WIDEST - 1)) - 1;
    let [mut up, mut down, mut sum] = [0u128; 3];
    for base in (0..source.len).step_by(WIDEST) {
        let [now, next] = [0, WIDEST].map(|ahead| job.text.window(source.at + base + ahead));
        let mut text = [0, 1].map(|plane| u128::from(now[plane]) | u128::from(next[plane]) << 64);
        let mut bases = source.query(base).map(|bases| u128::from(bases) << 64);
        // As in vectors: the edits never decrease.
        if sum > query.edits as u128 + u128::from((up & between).count_ones()) {
            return;
        }
        for _ in 0..WIDEST.min(source.len - base) {
            [up, down, sum] = u128::step(text, bases, up, down, sum);
            text = text.map(Lane::shift_right);
            bases = bases.map(Lane::shift_left);
        }
    }
    finish(&query, window, [up, down, sum].map(Lane::word), WIDEST, ends);
}

/// Appends the good ends of a lane whose query is complete; returns false if it has no good end.
#[inline(always)]
fn finish(
    query: &Query<'_>,
    window: &Window,
    state: [u64; 3],
    band: usize,
    ends: &mut Vec<End>,
) -> bool {
    let [up, down, sum] = state;
    // Bit b is the difference between ends b + 1 and b of the band; the last end has `sum` edits.
    let between = (1u64 << (band - 1)) - 1;
    if (sum as usize) > query.edits + (up & between).count_ones() as usize {
        return false;
    }
    let before = ends.len();
    let first = window.first - query.edits as i64 + query.len as i64 - 1;
    let belong = 2 * query.edits + window.width as usize + 1;
    let mut edits = sum as i64;
    for bit in (0..band).rev() {
        if bit + 1 < band {
            edits -= (up >> bit & 1) as i64 - (down >> bit & 1) as i64;
        }
        if bit < belong && edits <= query.edits as i64 {
            let position = (first + bit as i64) as u32;
            ends.push(End { query: window.query, position, edits: edits as u32 });
        }
    }
    // Into the order of positions, in which windows usually are, too.
    ends[before..].reverse();
    ends.len() > before
}

#[cfg(test)]
mod tests;
