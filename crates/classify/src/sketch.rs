//! Sketches of windows, optimized. `naive` has the definition.

use merganser_seq::base;
use merganser_seq::dispatch;
use merganser_seq::simd::Level;

use crate::hash::{HashRule, NO_KMER};
use crate::params::Params;

/// Sketches the windows of sequences, one sequence at a time. Reuses its memory.
#[derive(Debug)]
pub struct Sketcher {
    k: usize,
    size: usize,
    rule: HashRule,
    limit: u64,
    level: Level,
    codes: Vec<u8>,
    /// The hash of the k-mer that starts at each base, [`NO_KMER`] if there is no k-mer.
    hashes: Vec<u64>,
    chosen: Vec<u64>,
    seen: Seen,
}

/// A set of the lower 16 bits of hashes, as bits. Empty between uses.
type Seen = Box<[u64; 1024]>;

impl Sketcher {
    /// Creates a sketcher for valid parameters, using the best vector instructions of this machine.
    pub fn new(params: &Params) -> Sketcher {
        Sketcher::at_level(params, Level::best())
    }

    /// Creates a sketcher that uses a given vector level, for tests.
    pub(crate) fn at_level(params: &Params, level: Level) -> Sketcher {
        let rule = params.hash_rule();
        Sketcher {
            k: params.k as usize,
            size: params.sketch as usize,
            rule,
            limit: rule.limit(params.density),
            level,
            codes: Vec::new(),
            hashes: Vec::new(),
            chosen: Vec::new(),
            seen: Box::new([0; 1024]),
        }
    }

    /// Loads the sequence whose windows are to be sketched. Any letters are allowed.
    pub fn load(&mut self, letters: &[u8]) {
        self.codes.clear();
        let clean = base::encode(self.level, letters, &mut self.codes);
        match self.rule {
            HashRule::Bits32 => hashes32(self.level, &self.codes, self.k, &mut self.hashes),
            HashRule::Bits64 => hashes64(self.level, &self.codes, self.k, &mut self.hashes),
        }
        if !clean {
            mask(letters, self.k, &mut self.hashes);
        }
    }

    /// Returns the hash and the feature of each k-mer of the loaded sequence; `None` for k-mers that cannot be
    /// features.
    pub(crate) fn eligible(&self) -> impl Iterator<Item = Option<(u64, u64)>> + '_ {
        let kept = |&hash: &u64| (hash < self.limit).then(|| (hash, self.rule.feature(hash)));
        self.hashes.iter().map(kept)
    }

    /// Appends the features of the window of bases `start..end` of the loaded sequence, each once, in no particular
    /// order.
    pub fn sketch(&mut self, start: usize, end: usize, features: &mut Vec<u64>) {
        let kmers = (end + 1).saturating_sub(self.k).min(self.hashes.len());
        let Some(hashes) = self.hashes.get(start..kmers) else { return };
        choose(self.level, hashes, self.size, self.limit, &mut self.chosen, &mut self.seen);
        features.extend(self.chosen.iter().map(|&hash| self.rule.feature(hash)));
    }

    /// Calls `take` with the features of the window of bases `start..end` of the loaded sequence, in the order of
    /// their first bases, which are the second argument. Repeated k-mers are not left out.
    fn each_placed(&mut self, start: usize, end: usize, mut take: impl FnMut(u64, usize)) {
        let kmers = (end + 1).saturating_sub(self.k).min(self.hashes.len());
        let Some(hashes) = self.hashes.get(start..kmers) else { return };
        choose(self.level, hashes, self.size, self.limit, &mut self.chosen, &mut self.seen);
        // The chosen hashes are the smallest ones.
        let Some(&most) = self.chosen.iter().max() else { return };
        for (at, &hash) in hashes.iter().enumerate().filter(|(_, hash)| **hash <= most) {
            take(self.rule.feature(hash), start + at);
        }
    }
}

/// Appends the features of all windows of a sequence.
pub(crate) fn sketch_all(
    letters: &[u8],
    params: &Params,
    sketcher: &mut Sketcher,
    features: &mut Vec<u64>,
) {
    let windows = params.windows(letters.len() as u64) as usize;
    let mut first = 0;
    while first < windows {
        first = sketch_some(letters, params, first, sketcher, features);
    }
}

/// Appends the features of some windows of a sequence, starting at the existing window `first`. Returns the number
/// of the next window.
pub(crate) fn sketch_some(
    letters: &[u8],
    params: &Params,
    first: usize,
    sketcher: &mut Sketcher,
    features: &mut Vec<u64>,
) -> usize {
    sketch_windows(letters, params, first, sketcher, features, |_| {})
}

/// Appends the features of some windows as [`sketch_some`] does, and calls `end_window` after each window with the number of
/// features so far.
pub(crate) fn sketch_windows(
    letters: &[u8],
    params: &Params,
    first: usize,
    sketcher: &mut Sketcher,
    features: &mut Vec<u64>,
    mut end_window: impl FnMut(usize),
) -> usize {
    some_windows(letters, params, first, sketcher, |sketcher, from, to| {
        sketcher.sketch(from, to, features);
        end_window(features.len());
    })
}

/// Calls `take` with the features of some windows of a sequence and the first base of each, starting at the existing
/// window `first`. Returns the number of the next window.
pub(crate) fn place_some(
    letters: &[u8],
    params: &Params,
    first: usize,
    sketcher: &mut Sketcher,
    mut take: impl FnMut(u64, usize),
) -> usize {
    let start = first * params.stride as usize;
    some_windows(letters, params, first, sketcher, |sketcher, from, to| {
        sketcher.each_placed(from, to, |feature, at| take(feature, start + at));
    })
}

/// Loads some windows of a sequence, starting at the existing window `first`, and calls `take` with the range of each
/// in the loaded sequence. Returns the number of the next window.
fn some_windows(
    letters: &[u8],
    params: &Params,
    first: usize,
    sketcher: &mut Sketcher,
    mut take: impl FnMut(&mut Sketcher, usize, usize),
) -> usize {
    let (window, stride) = (params.window as usize, params.stride as usize);
    // Long reads are processed in runs of whole windows, which limits the working space.
    let step = (1 << 16) / stride.max(1) + 1;
    let windows = params.windows(letters.len() as u64) as usize;
    let count = step.min(windows - first);
    let start = first * stride;
    let end = (start + (count - 1) * stride + window).min(letters.len());
    sketcher.load(&letters[start..end]);
    for number in 0..count {
        let from = number * stride;
        take(sketcher, from, (from + window).min(end - start));
    }
    first + count
}

/// Marks all k-mers that contain a letter other than a base.
fn mask(letters: &[u8], k: usize, hashes: &mut [u64]) {
    for (at, _) in letters.iter().enumerate().filter(|&(_, &letter)| !base::is_base(letter)) {
        let from = (at + 1).saturating_sub(k).min(hashes.len());
        let to = (at + 1).min(hashes.len());
        hashes[from..to].fill(NO_KMER);
    }
}

dispatch! {
    fn hashes32(codes: &[u8], k: usize, hashes: &mut Vec<u64>) = hashes32_body
}

#[inline(always)]
fn hashes32_body(codes: &[u8], k: usize, hashes: &mut Vec<u64>) {
    canonical(codes, k, hashes);
    for kmer in hashes.iter_mut() {
        *kmer = HashRule::Bits32.hash(*kmer);
    }
}

dispatch! {
    fn hashes64(codes: &[u8], k: usize, hashes: &mut Vec<u64>) = hashes64_body
}

#[inline(always)]
fn hashes64_body(codes: &[u8], k: usize, hashes: &mut Vec<u64>) {
    canonical(codes, k, hashes);
    for kmer in hashes.iter_mut() {
        *kmer = HashRule::Bits64.hash(*kmer);
    }
}

/// Replaces `kmers` by the canonical k-mers that start at each base except the last k - 1.
#[inline(always)]
fn canonical(codes: &[u8], k: usize, kmers: &mut Vec<u64>) {
    kmers.clear();
    if codes.len() < k {
        return;
    }
    let mask = u64::MAX >> (64 - 2 * k);
    let top = 2 * (k - 1);
    let (mut forward, mut reverse) = (0, 0);
    for &code in &codes[..k - 1] {
        forward = forward << 2 | u64::from(code);
        reverse = reverse >> 2 | u64::from(3 - code) << top;
    }
    kmers.extend(codes[k - 1..].iter().map(|&code| {
        forward = (forward << 2 | u64::from(code)) & mask;
        reverse = reverse >> 2 | u64::from(3 - code) << top;
        forward.min(reverse)
    }));
}

dispatch! {
    /// Replaces `chosen` by the `size` smallest distinct hashes below `limit`, in no particular order.
    fn choose(
        hashes: &[u64], size: usize, limit: u64, chosen: &mut Vec<u64>, seen: &mut Seen
    ) = choose_body
}

#[inline(always)]
fn choose_body(hashes: &[u64], size: usize, limit: u64, chosen: &mut Vec<u64>, seen: &mut Seen) {
    let cutoff = expected_cutoff(hashes.len(), size, limit);
    below(hashes, cutoff, chosen);
    // The usual case where the limit bounds the sketch: all hashes are chosen, which needs no sorting.
    if cutoff == limit && chosen.len() <= size && all_differ(chosen, seen) {
        return;
    }
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.len() < size && cutoff < limit {
        // Rare: the estimate was too low, or the window has many repeats.
        below(hashes, limit, chosen);
        chosen.sort_unstable();
        chosen.dedup();
    }
    chosen.truncate(size);
}

/// Whether all hashes differ in their lower 16 bits, and therefore altogether. True for at least nine of ten
/// windows without repeats.
#[inline(always)]
fn all_differ(hashes: &[u64], seen: &mut Seen) -> bool {
    let word = |hash: u64| (hash >> 6) as usize % 1024;
    let mut again = 0;
    for &hash in hashes {
        let place = &mut seen[word(hash)];
        again |= *place >> (hash % 64) & 1;
        *place |= 1 << (hash % 64);
    }
    hashes.iter().for_each(|&hash| seen[word(hash)] = 0);
    again == 0
}

/// Returns a bound, at most `limit`, below which at least `size` of `count` random hashes nearly always lie (four
/// standard deviations), so that few hashes have to be sorted.
#[inline(always)]
fn expected_cutoff(count: usize, size: usize, limit: u64) -> u64 {
    let wanted = size as f64 + 4.0 * (size as f64).sqrt();
    // Hashes below the limit are uniformly distributed; larger ones are ignored.
    let span = if limit <= 1 << 32 { (1u64 << 32) as f64 } else { u64::MAX as f64 };
    let bound = span * (wanted / count as f64);
    if bound >= limit as f64 { limit } else { bound as u64 }
}

#[inline(always)]
fn below(hashes: &[u64], limit: u64, chosen: &mut Vec<u64>) {
    // The buffer has room for all hashes, so that storing needs no branch.
    if chosen.len() < hashes.len() {
        chosen.resize(hashes.len(), 0);
    }
    let mut count = 0;
    for &hash in hashes {
        chosen[count] = hash;
        count += usize::from(hash < limit);
        if count == chosen.len() {
            break;
        }
    }
    chosen.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use crate::params::Preset;
    use proptest::prelude::*;

    fn sequences() -> impl Strategy<Value = Vec<u8>> {
        let letters = prop_oneof![
            30 => proptest::sample::select(b"ACGT".to_vec()),
            1 => proptest::sample::select(b"acgtuUNnRX-\xff".to_vec()),
        ];
        // Repeats give sketches that are smaller than their windows allow.
        (proptest::collection::vec(letters, 0..300), 1usize..4).prop_map(|(s, n)| s.repeat(n))
    }

    proptest! {
        #[test]
        fn every_level_sketches_as_the_definition(
            letters in sequences(),
            k in 1u32..=32,
            sketch in 1u32..=128,
            extra in 0u32..150,
            stride in 1u32..100,
            density in prop_oneof![Just(256u32), 1u32..256],
        ) {
            let window = k + extra;
            let params =
                Params { k, sketch, window, stride: stride.min(window), density, ..Preset::MetaCache.params() };
            let expected = naive::sketches(&letters, &params);
            for level in Level::available() {
                let mut sketcher = Sketcher::at_level(&params, level);
                sketcher.load(b"ACGTACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT");
                sketcher.load(&letters);
                let mut sketches = Vec::new();
                for number in 0..params.windows(letters.len() as u64) as usize {
                    let start = number * params.stride as usize;
                    let end = (start + params.window as usize).min(letters.len());
                    let mut features = Vec::new();
                    sketcher.sketch(start, end, &mut features);
                    features.sort_unstable();
                    sketches.push(features);
                }
                prop_assert_eq!(&sketches, &expected);
            }
        }
    }
}
