//! The literal definition of every method, base by base, to which the tests compare the fast code. Sequences
//! are letters; any ambiguous letter is N.

use super::{Align, Code, Config, Method, NMode, REJECTED, UNDEFINED};
use merganser_seq::base::{code, is_base};

/// The minimum length of a read for GateKeeper's published kernel, in bases.
const MIN_ORIGINAL: usize = 17;

/// The maximum number of edits that it has masks for.
const MAX_ORIGINAL: usize = 32;

/// Decides a pair.
pub fn decide(config: &Config, read: &[u8], segment: &[u8]) -> Code {
    let e = config.threshold.edits(read.len());
    let others = read.iter().chain(segment).any(|&letter| !is_base(letter));
    if others && config.n_mode == NMode::Pass {
        return UNDEFINED;
    }
    let equal = |a: u8, b: u8| letters_match(config.n_mode, a, b);
    let comparable = config.align == Align::Global && read.len() == segment.len();
    let edits = match config.method {
        Method::GateKeeper if comparable => gatekeeper(read, segment, e, equal),
        Method::Snake if comparable => snake(read, segment, e, equal),
        Method::GateKeeperOriginal
            if comparable && !others && read.len() >= MIN_ORIGINAL && e <= MAX_ORIGINAL =>
        {
            gatekeeper_original(read, segment, e)
        }
        _ => Some(distance(read, segment, config.align, equal)).filter(|&d| d <= e),
    };
    edits.map_or(REJECTED, |edits| edits as Code)
}

/// Whether two letters match.
pub fn letters_match(mode: NMode, a: u8, b: u8) -> bool {
    match (code(a), code(b)) {
        (Some(a), Some(b)) => a == b,
        _ => mode == NMode::Match,
    }
}

/// Returns the edit distance by dynamic programming, of the read to the whole segment or to the part of it that
/// is most similar.
pub fn distance(
    read: &[u8],
    segment: &[u8],
    align: Align,
    equal: impl Fn(u8, u8) -> bool,
) -> usize {
    // One row of the table: the distances of a prefix of the read to each prefix of the segment.
    let free = align == Align::SemiGlobal;
    let mut row: Vec<usize> = (0..=segment.len()).map(|j| if free { 0 } else { j }).collect();
    for (i, &a) in read.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in segment.iter().enumerate() {
            let substituted = diagonal + usize::from(!equal(a, b));
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    if free { row.into_iter().min().unwrap_or(0) } else { row[segment.len()] }
}

/// Returns mask i of a pair of equal length: for each base of the segment, whether it differs from the read
/// shifted by i bases to later positions (to earlier ones if i is negative). Vacated positions compare with A.
fn shifted_mask(
    read: &[u8],
    segment: &[u8],
    i: isize,
    equal: impl Fn(u8, u8) -> bool,
) -> Vec<bool> {
    let from = |p: usize| read.get((p as isize - i) as usize).copied().unwrap_or(b'A');
    segment.iter().enumerate().map(|(p, &base)| !equal(from(p), base)).collect()
}

fn hamming(mask: &[bool]) -> usize {
    mask.iter().filter(|&&bit| bit).count()
}

/// Applies GateKeeper-GPU's corrected rule: see `docs/methods/filtering.md`.
pub fn gatekeeper(
    read: &[u8],
    segment: &[u8],
    e: usize,
    equal: impl Fn(u8, u8) -> bool + Copy,
) -> Option<usize> {
    let unshifted = shifted_mask(read, segment, 0, equal);
    if hamming(&unshifted) <= e {
        return Some(hamming(&unshifted));
    }
    let len = read.len();
    let mut all = vec![true; len];
    for i in -(e as isize)..=e as isize {
        let mut mask = shifted_mask(read, segment, i, equal);
        amend(&mut mask);
        let shift = i.unsigned_abs().min(len);
        let vacated = if i >= 0 { 0..shift } else { len - shift..len };
        mask[vacated].fill(true);
        all.iter_mut().zip(mask).for_each(|(all, bit)| *all &= bit);
    }
    let groups = all.chunks(4).filter(|group| group.contains(&true)).count();
    Some(groups).filter(|&groups| groups <= e)
}

/// Turns every run of one or two zeros between ones into ones.
fn amend(mask: &mut [bool]) {
    let ones: Vec<usize> = (0..mask.len()).filter(|&p| mask[p]).collect();
    for pair in ones.windows(2) {
        if pair[1] - pair[0] <= 3 {
            mask[pair[0]..pair[1]].fill(true);
        }
    }
}

/// Applies SneakySnake's rule: from the first base on, follows the diagonal with the longest run of matches;
/// each obstacle at the end of a run costs one edit and one base.
pub fn snake(
    read: &[u8],
    segment: &[u8],
    e: usize,
    equal: impl Fn(u8, u8) -> bool + Copy,
) -> Option<usize> {
    let matches = |p: usize, i: isize| {
        let from = read.get((p as isize - i) as usize);
        from.is_some_and(|&base| equal(base, segment[p]))
    };
    let run =
        |start: usize, i: isize| (start..segment.len()).take_while(|&p| matches(p, i)).count();
    let (mut at, mut edits) = (0, 0);
    while at < segment.len() {
        at += (-(e as isize)..=e as isize).map(|i| run(at, i)).max().unwrap_or(0);
        if at < segment.len() {
            edits += 1;
            at += 1;
        }
        if edits > e {
            return None;
        }
    }
    Some(edits)
}

/// Computes what the published GateKeeper-GPU computes, step by step, on the same words: 16 bases in 32 bits
/// with the first base in the top bits, and masks of 32 bases in 32 bits.
pub fn gatekeeper_original(read: &[u8], segment: &[u8], e: usize) -> Option<usize> {
    let words = read.len().div_ceil(16);
    let bits = |text: &[u8]| -> Vec<bool> {
        let code = |i: usize| text.get(i).and_then(|&letter| code(letter)).unwrap_or(0);
        (0..16 * words).flat_map(|i| [code(i) >> 1 == 1, code(i) & 1 == 1]).collect()
    };
    let (read, segment) = (bits(read), bits(segment));
    let mask = |shift: isize| -> Vec<u32> {
        let of_read =
            |bit: isize| usize::try_from(bit).is_ok_and(|bit| read.get(bit) == Some(&true));
        let differs = |bit: usize| of_read(bit as isize - 2 * shift) != segment[bit];
        let base = |p: usize| p < 16 * words && (differs(2 * p) || differs(2 * p + 1));
        (0..words.div_ceil(2))
            .map(|w| (0..32).fold(0, |word, p| word << 1 | u32::from(base(32 * w + p))))
            .collect()
    };
    let unshifted = mask(0);
    let hamming: u32 = unshifted.iter().map(|word| word.count_ones()).sum();
    if hamming as usize <= e {
        return Some(hamming as usize);
    }
    if e == 0 {
        return None;
    }
    let mut all = amended(unshifted);
    for i in 1..=e {
        let mut right = amended(mask(i as isize));
        right[0] |= 1 << (32 - i);
        let mut left = amended(mask(-(i as isize)));
        let last = left.len() - 1;
        left[last] |= 1 << (i - 1);
        for (all, (right, left)) in all.iter_mut().zip(right.into_iter().zip(left)) {
            *all &= right & left;
        }
    }
    let edits = all.iter().map(|&word| count_groups(word)).sum();
    Some(edits).filter(|&edits| edits <= e)
}

fn amended(mut mask: Vec<u32>) -> Vec<u32> {
    const LUT: [u32; 16] = [0, 1, 2, 3, 4, 7, 6, 7, 8, 15, 10, 15, 12, 15, 14, 15];
    for w in 0..mask.len() {
        if mask[w] == 0 {
            continue;
        }
        for j in 0..=28 {
            mask[w] |= LUT[(mask[w] >> j & 15) as usize] << j;
        }
        if w == 0 {
            continue;
        }
        let (mut p, mut t) = (mask[w - 1], mask[w]);
        if p >> 2 & t >> 31 & 1 == 1 {
            p |= 3;
        }
        if p >> 1 & t >> 30 & 1 == 1 {
            t |= 1 << 31;
            p |= 1;
        }
        if p & t >> 29 & 1 == 1 {
            t |= 3 << 30;
        }
        (mask[w - 1], mask[w]) = (p, t);
    }
    mask
}

fn count_groups(word: u32) -> usize {
    let edits = |group: u32| match group {
        0 => 0,
        5 | 6 | 9 | 10 | 11 | 13 => 2,
        _ => 1,
    };
    (0..8).map(|i| edits(word >> (4 * i) & 15)).sum()
}
