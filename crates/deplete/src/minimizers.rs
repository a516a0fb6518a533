//! Computes the minimizers of several sequences at a time, one stretch per lane. `naive::minimizers` is the
//! definition.
//!
//! Hashes of k-mers are rolling. The high half of a k-mer's hash and its position are combined into one number, so
//! that the smallest number of a window belongs to the first of its smallest hashes. With the hash complemented, the
//! largest number belongs to the last of them. Minima and maxima of windows are computed with van Herk's method: from
//! prefixes of a block of w numbers, and suffixes of the block before.

use merganser_seq::dispatch;
use merganser_seq::simd::Level;

use crate::Params;
use crate::word::Word;

/// The number of stretches that are computed together: the lanes of a vector of 512 bits.
const LANES: usize = 16;
/// The maximum number of windows in a stretch: the data of a group stays in a core's cache, and positions fit in 16
/// bits.
const STRETCH: usize = 1024;
/// The bit of a code that marks a letter that is not a base.
const NO_BASE: u8 = 4;
/// The position of a window without a minimizer.
const NONE: u16 = u16::MAX;

/// The seeds of ntHash for A, C, T and G, the order of bases in Deacon (Mohamadi and others, 2016); low halves.
const SEEDS: [u32; 4] = [0x95c6_0474, 0x62a0_2b4c, 0x8257_2324, 0x4be2_4456];

/// A number for each lane.
type Row = [u32; LANES];

/// Finds the minimizers of sequences. It keeps its memory for reuse.
#[derive(Debug)]
pub struct Minimizers {
    params: Params,
    level: Level,
    /// The codes of the letters of all sequences.
    codes: Vec<u8>,
    /// These bases with two bits each, 32 in a word, the first in the lowest bits.
    packed: Vec<u64>,
    stretches: Vec<Stretch>,
    sequences: usize,
    group: Group,
}

/// Consecutive windows of a sequence.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    sequence: usize,
    /// The position of the first window in the codes.
    at: usize,
    windows: usize,
}

/// The working space of a group of lanes.
#[derive(Debug, Default)]
struct Group {
    /// The codes of all lanes by step.
    codes: Vec<[u8; LANES]>,
    /// The position of each window's minimizer.
    places: Vec<[u16; LANES]>,
    distinct: Vec<u16>,
}

impl Minimizers {
    /// Makes a finder of minimizers with these parameters.
    pub fn new(params: Params) -> Minimizers {
        Minimizers {
            params,
            level: Level::best(),
            codes: Vec::new(),
            packed: Vec::new(),
            stretches: Vec::new(),
            sequences: 0,
            group: Group::default(),
        }
    }

    /// Returns the parameters of the minimizers.
    pub fn params(&self) -> Params {
        self.params
    }

    /// Adds a sequence. Letters may be in either case; only A, C, G and T are bases, U is not.
    pub fn push(&mut self, sequence: &[u8]) {
        let number = self.sequences;
        self.sequences += 1;
        let bases = self.params.bases();
        if sequence.len() < bases {
            return;
        }
        let (mut at, mut left) = (self.codes.len(), sequence.len() + 1 - bases);
        encode(self.level, sequence, &mut self.codes);
        while left > 0 {
            let windows = left.min(STRETCH);
            self.stretches.push(Stretch { sequence: number, at, windows });
            at += windows;
            left -= windows;
        }
    }

    /// Appends the minimizers of all added sequences to `values`, sequence by sequence in the order of windows.
    /// Adjacent windows with the same minimizer at the same position give one entry. Appends to `bounds` where the
    /// entries of each sequence end. Then removes all sequences.
    ///
    /// # Panics
    /// If `W` is `u64` and minimizers have more than 31 bases.
    pub fn take<W: Word>(&mut self, values: &mut Vec<W>, bounds: &mut Vec<usize>) {
        assert!(self.params.k() <= W::MAX_K, "minimizers of {} bases", self.params.k());
        let Minimizers { params, level, codes, packed, stretches, sequences, group } = self;
        // All lanes run to the end of the longest stretch, past their own.
        codes.resize(codes.len() + STRETCH + params.bases() + 64, 0);
        pack(*level, codes, packed);
        let mut ended = 0;
        for stretches in stretches.chunks(LANES) {
            places(*level, *params, codes, stretches, group);
            for (lane, stretch) in stretches.iter().enumerate() {
                bounds.resize(bounds.len() + stretch.sequence - ended, values.len());
                ended = stretch.sequence;
                group.distinct(lane, stretch.windows);
                for &place in &group.distinct {
                    values.push(value(*params, packed, stretch.at + usize::from(place)));
                }
            }
        }
        bounds.resize(bounds.len() + *sequences - ended, values.len());
        codes.clear();
        stretches.clear();
        *sequences = 0;
    }
}

impl Group {
    /// Sets `distinct` to the distinct positions of a lane.
    #[inline]
    fn distinct(&mut self, lane: usize, windows: usize) {
        self.distinct.clear();
        self.distinct.resize(windows, 0);
        let (mut count, mut last) = (0, NONE);
        for places in &self.places[..windows] {
            let place = places[lane];
            self.distinct[count] = place;
            // The outcome is unpredictable, so this avoids a branch.
            count += usize::from(place != last && place != NONE);
            last = place;
        }
        self.distinct.truncate(count);
    }
}

/// Returns the k-mer at a position, or its reverse complement if that is smaller.
#[inline(always)]
fn value<W: Word>(params: Params, packed: &[u64], at: usize) -> W {
    let forward = W::unpack(packed, at) & params.mask();
    // The codes of A and T, and of C and G, differ by 2 here, and by 3 in the codes that the complement is of.
    let reverse = forward.reverse_complement(params.k()) ^ W::LOWER & params.mask();
    forward.least(reverse)
}

dispatch! {
    fn encode(letters: &[u8], codes: &mut Vec<u8>) = encode_here
}

#[inline(always)]
fn encode_here(letters: &[u8], codes: &mut Vec<u8>) {
    let start = codes.len();
    codes.resize(start + letters.len(), 0);
    for (code, &letter) in codes[start..].iter_mut().zip(letters) {
        let upper = letter & 0xdf;
        let is_base = (upper == b'A') | (upper == b'C') | (upper == b'G') | (upper == b'T');
        *code = letter >> 1 & 3 | if is_base { 0 } else { NO_BASE };
    }
}

dispatch! {
    fn pack(codes: &[u8], packed: &mut Vec<u64>) = pack_here
}

#[inline(always)]
fn pack_here(codes: &[u8], packed: &mut Vec<u64>) {
    packed.clear();
    packed.resize(codes.len() / 32, 0);
    for (word, codes) in packed.iter_mut().zip(codes.chunks_exact(32)) {
        for (at, codes) in codes.chunks_exact(8).enumerate() {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(codes);
            let x = u64::from_le_bytes(bytes) & 0x0303_0303_0303_0303;
            let x = (x | x >> 6) & 0x000f_000f_000f_000f;
            let x = (x | x >> 12) & 0x0000_00ff_0000_00ff;
            *word |= ((x | x >> 24) & 0xffff) << (16 * at);
        }
    }
}

dispatch! {
    fn places(params: Params, codes: &[u8], stretches: &[Stretch], group: &mut Group) = places_here
}

/// Finds the positions of the minimizers of all windows of some stretches, relative to the start of each stretch.
#[inline(always)]
fn places_here(params: Params, codes: &[u8], stretches: &[Stretch], group: &mut Group) {
    let windows = stretches.iter().map(|stretch| stretch.windows).max().unwrap_or(0);
    let steps = windows + params.bases() - 1;
    group.codes.clear();
    group.codes.resize(steps, [0; LANES]);
    for (lane, stretch) in stretches.iter().enumerate() {
        let own = &codes[stretch.at..stretch.at + steps];
        for (row, &code) in group.codes.iter_mut().zip(own) {
            row[lane] = code;
        }
    }
    group.places.clear();
    group.places.resize(windows, [NONE; LANES]);
    roll(params, &group.codes, &mut group.places);
}

/// A table of the four codes that is evaluated with the bits of a code.
#[derive(Clone, Copy)]
struct Pick([u32; 4]);

impl Pick {
    fn of(numbers: [u32; 4]) -> Pick {
        let [a, c, t, g] = numbers;
        Pick([a, a ^ c, a ^ t, a ^ c ^ t ^ g])
    }

    #[inline(always)]
    fn pick(self, code: u8) -> u32 {
        let [low, high] = [u32::from(code & 1), u32::from(code >> 1 & 1)];
        let (low, high) = (low.wrapping_neg(), high.wrapping_neg());
        let Pick([base, one, two, both]) = self;
        base ^ (one & low) ^ (two & high) ^ (both & low & high)
    }
}

/// The numbers that enter the hashes of both strands with a base, and those that leave them.
struct Tables {
    enters: [Pick; 2],
    leaves: [Pick; 2],
}

impl Tables {
    fn of(k: usize) -> Tables {
        let [a, c, t, g] = SEEDS;
        let (own, other) = ([a, c, t, g], [t, g, a, c]);
        let rotated = |numbers: [u32; 4], by: i32| {
            Pick::of(numbers.map(|number| number.rotate_left(by.rem_euclid(32) as u32)))
        };
        Tables {
            enters: [rotated(own, 0), rotated(other, k as i32 - 1)],
            leaves: [rotated(own, k as i32), rotated(other, -1)],
        }
    }
}

/// The minima and maxima of the last w numbers. Rows are aligned to cache lines; otherwise the work takes 5 % longer.
#[repr(C, align(64))]
struct Extremes {
    blocks: [[Row; Params::MAX_BASES]; 2],
    prefixes: [Row; 2],
    next: usize,
    w: usize,
}

impl Extremes {
    #[inline(always)]
    fn of(w: usize) -> Extremes {
        let none = [[u32::MAX; LANES], [0; LANES]];
        let blocks = [[none[0]; Params::MAX_BASES], [none[1]; Params::MAX_BASES]];
        Extremes { blocks, prefixes: none, next: 0, w }
    }

    /// Adds a number per lane to the minima and one to the maxima, and returns the current extremes.
    #[inline(always)]
    fn push(&mut self, low: Row, high: Row) -> [Row; 2] {
        let (mut least, mut greatest) = (self.prefixes[0], self.prefixes[1]);
        for lane in 0..LANES {
            least[lane] = least[lane].min(low[lane]);
            greatest[lane] = greatest[lane].max(high[lane]);
        }
        self.blocks[0][self.next] = low;
        self.blocks[1][self.next] = high;
        self.next += 1;
        if self.next == self.w {
            self.next = 0;
            for at in (0..self.w - 1).rev() {
                for lane in 0..LANES {
                    let [low, high] = [self.blocks[0][at + 1][lane], self.blocks[1][at + 1][lane]];
                    self.blocks[0][at][lane] = self.blocks[0][at][lane].min(low);
                    self.blocks[1][at][lane] = self.blocks[1][at][lane].max(high);
                }
            }
            self.prefixes = [[u32::MAX; LANES], [0; LANES]];
            return [self.blocks[0][0], self.blocks[1][0]];
        }
        self.prefixes = [least, greatest];
        let (before_low, before_high) = (self.blocks[0][self.next], self.blocks[1][self.next]);
        for lane in 0..LANES {
            least[lane] = least[lane].min(before_low[lane]);
            greatest[lane] = greatest[lane].max(before_high[lane]);
        }
        [least, greatest]
    }
}

#[inline(always)]
fn roll(params: Params, codes: &[[u8; LANES]], places: &mut [[u16; LANES]]) {
    let (k, bases) = (params.k(), params.bases());
    let Tables { enters, leaves } = Tables::of(k);
    let zeros = [0u32; LANES];
    let (mut forward, mut reverse, mut odd, mut others) = (zeros, zeros, zeros, zeros);
    let mut extremes = Extremes::of(params.w());
    for (step, row) in codes.iter().enumerate() {
        for lane in 0..LANES {
            let code = row[lane];
            forward[lane] = forward[lane].rotate_left(1) ^ enters[0].pick(code);
            reverse[lane] = reverse[lane].rotate_right(1) ^ enters[1].pick(code);
            odd[lane] += u32::from(code >> 1 & 1);
            others[lane] += u32::from(code >> 2);
        }
        if step >= k {
            let gone = &codes[step - k];
            for lane in 0..LANES {
                forward[lane] ^= leaves[0].pick(gone[lane]);
                reverse[lane] ^= leaves[1].pick(gone[lane]);
            }
        }
        if step >= bases {
            let gone = &codes[step - bases];
            for lane in 0..LANES {
                odd[lane] -= u32::from(gone[lane] >> 1 & 1);
                others[lane] -= u32::from(gone[lane] >> 2);
            }
        }
        let Some(place) = (step + 1).checked_sub(k) else { continue };
        let (mut low, mut high) = (zeros, zeros);
        for lane in 0..LANES {
            let hash = forward[lane].wrapping_add(reverse[lane]) & 0xffff_0000;
            low[lane] = hash | place as u32;
            high[lane] = (hash ^ 0xffff_0000) | place as u32;
        }
        let [least, greatest] = extremes.push(low, high);
        let Some(window) = (step + 1).checked_sub(bases) else { continue };
        let found = &mut places[window];
        for lane in 0..LANES {
            let place = if 2 * odd[lane] > bases as u32 { least[lane] } else { greatest[lane] };
            found[lane] = if others[lane] > 0 { NONE } else { place as u16 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use merganser_test_random::Random;
    use proptest::prelude::*;

    /// Returns the minimizers of sequences, without adjacent duplicates.
    fn found(params: Params, sequences: &[Vec<u8>]) -> Vec<Vec<u128>> {
        match params.are_long() {
            false => found_in::<u64>(params, sequences),
            true => found_in::<u128>(params, sequences),
        }
    }

    fn found_in<W: Word>(params: Params, sequences: &[Vec<u8>]) -> Vec<Vec<u128>> {
        let mut minimizers = Minimizers::new(params);
        let (mut values, mut bounds) = (Vec::<W>::new(), Vec::new());
        // The second time reuses the memory.
        for _ in 0..2 {
            values.clear();
            bounds.clear();
            sequences.iter().for_each(|sequence| minimizers.push(sequence));
            minimizers.take(&mut values, &mut bounds);
        }
        assert_eq!(
            (bounds.len(), bounds.last().copied().unwrap_or(0)),
            (sequences.len(), values.len())
        );
        let mut start = 0;
        let each = bounds.iter().map(|&end| {
            let mut own: Vec<u128> = values[start..end].iter().map(|&value| value.into()).collect();
            start = end;
            own.dedup();
            own
        });
        each.collect()
    }

    fn expected(params: Params, sequence: &[u8]) -> Vec<u128> {
        let mut own = naive::minimizers(params, sequence);
        own.dedup();
        own
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn each_sequence_has_the_oracles(
            sequences in proptest::collection::vec(
                proptest::collection::vec(
                    proptest::sample::select(b"ACGTACGTACGTACGTACGTACGTacgtNU".to_vec()), 0..260
                ),
                0..40
            ),
            (k, w) in proptest::sample::select(vec![(31usize, 15usize), (5, 3), (1, 1), (15, 1), (31, 65), (21, 11)]),
            (long_k, long_w) in (16usize..31, 0usize..32),
        ) {
            // Also any k from 33, with any w that it allows. Long windows of only bases are rare: so most sequences have
            // no other letters.
            let long_k = 2 * long_k + 1;
            let long_w = 2 * long_w.min((Params::MAX_BASES - long_k - 1) / 2) + 1;
            let long = Params::new(long_k, long_w).unwrap();
            let mut bases = sequences.clone();
            let others = bases.iter_mut().skip(4).flatten().filter(|letter| b"NU".contains(*letter));
            others.for_each(|letter| *letter = b'T');
            for (sequence, found) in bases.iter().zip(found(long, &bases)) {
                prop_assert_eq!(found, expected(long, sequence));
            }
            let params = Params::new(k, w).unwrap();
            for (sequence, found) in sequences.iter().zip(found(params, &sequences)) {
                prop_assert_eq!(found, expected(params, sequence));
            }
        }

        #[test]
        fn repeats_and_long_sequences_have_the_oracles(
            unit in proptest::collection::vec(proptest::sample::select(b"ACGT".to_vec()), 1..40),
            other in any::<u16>(),
            (k, w) in proptest::sample::select(vec![(31usize, 15usize), (41, 15), (61, 35)]),
        ) {
            let mut sequence = unit.repeat(4000 / unit.len());
            let at = usize::from(other) % sequence.len();
            sequence[at] = if other % 3 == 0 { b'N' } else { b'G' };
            let params = Params::new(k, w).unwrap();
            let all = found(params, &[sequence.clone(), b"ACGT".to_vec(), sequence.clone()]);
            prop_assert_eq!(&all[0], &expected(params, &sequence));
            prop_assert_eq!(&all[0], &all[2]);
            prop_assert!(all[1].is_empty());
        }
    }

    /// Both strands have the same minimizers.
    #[test]
    fn both_strands_have_the_same() {
        let sequence = Random(7).bases(3000);
        let complement = |&base: &u8| b"TGCA"[b"ACGT".iter().position(|&b| b == base).unwrap()];
        let back: Vec<u8> = sequence.iter().rev().map(complement).collect();
        for (k, w) in [(31, 15), (41, 15)] {
            let params = Params::new(k, w).unwrap();
            let [one, mut other] =
                [&sequence, &back].map(|of| found(params, std::slice::from_ref(of)).remove(0));
            other.reverse();
            assert_eq!(one, other);
            assert!((300..450).contains(&one.len()), "{}", one.len());
        }
    }
}
