//! Minimizers of reads.
//!
//! The minimizer of a k-mer is the smallest of its l-mers (canonical, masked, XORed with the toggle mask).
//! For a stretch of bases, all l-mers are computed first. Then the minimum of each window of l-mers is
//! computed from the minima of windows of 2, 4, 8, … l-mers: without branches, and mostly in SIMD lanes.

use merganser_seq::base::code_unchecked;
use merganser_seq::dispatch;
use merganser_seq::simd::Level;

use super::options::Kraken2Options;

/// The number of l-mers that are computed at a time, if this is at least four windows of them.
const AT_A_TIME: usize = 4096;
/// The number of lower bits of a run that hold its number of entries.
const COUNT_BITS: u32 = 29;
const MAX: usize = (1 << COUNT_BITS) - 1;

/// A run of equal entries of a read. A read has an entry for each k-mer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryRun(u32);

/// The kind of the entries of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// K-mers with the next minimizer of the list, which differs from the one before it.
    Next,
    /// K-mers with the previous minimizer again.
    Same,
    /// K-mers with a letter that is not a base.
    Ambiguous,
    /// The border between mates; not an entry.
    Border,
    /// The end of a read; not an entry.
    End,
}

impl EntryRun {
    pub(super) const BORDER: EntryRun = EntryRun::new(Kind::Border, 1);
    pub(super) const END: EntryRun = EntryRun::new(Kind::End, 1);

    const fn new(kind: Kind, count: usize) -> EntryRun {
        EntryRun((kind as u32) << COUNT_BITS | count as u32)
    }

    /// Decodes a run of a device, which produces only the first three kinds.
    pub(super) const fn of_device(run: u32) -> EntryRun {
        EntryRun(run)
    }

    #[inline(always)]
    pub(super) fn kind(self) -> Kind {
        match self.0 >> COUNT_BITS {
            0 => Kind::Next,
            1 => Kind::Same,
            2 => Kind::Ambiguous,
            3 => Kind::Border,
            _ => Kind::End,
        }
    }

    #[inline(always)]
    pub(super) fn count(self) -> u64 {
        u64::from(self.0) & MAX as u64
    }
}

/// The entries of reads: runs, and the minimizers of the runs of kind [`Kind::Next`].
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) runs: Vec<EntryRun>,
    pub(super) minimizers: Vec<u64>,
}

impl Entries {
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.minimizers.clear();
    }

    fn push(&mut self, kind: Kind, mut count: usize) {
        while count > 0 {
            let some = count.min(MAX);
            self.runs.push(EntryRun::new(kind, some));
            count -= some;
        }
    }
}

/// The parameters of l-mers.
#[derive(Clone, Copy, Debug)]
struct Rule {
    k: usize,
    l: usize,
    /// The mask of the bits of an l-mer.
    lmer: u64,
    /// The mask of the bits of an l-mer that count.
    spaced: u64,
    toggle: u64,
    old_complement: bool,
}

impl Rule {
    fn new(options: &Kraken2Options) -> Rule {
        let lmer = (1 << (2 * options.l)) - 1;
        let spaced = if options.spaced_mask == 0 { lmer } else { options.spaced_mask & lmer };
        Rule {
            k: options.k,
            l: options.l,
            lmer,
            spaced,
            toggle: options.toggle_mask & lmer,
            old_complement: options.old_complement,
        }
    }

    /// Returns the number of l-mers of a k-mer.
    fn window(&self) -> usize {
        self.k - self.l + 1
    }
}

/// Computes the entries of reads; keeps its memory from read to read.
#[derive(Debug)]
pub(super) struct Minimizers {
    rule: Rule,
    level: Level,
    codes: Vec<u8>,
    candidates: Vec<u64>,
    spare: Vec<u64>,
    /// Positions at which the minimizer changes.
    changes: Vec<u32>,
    /// The previous minimizer; all bits are set before the first.
    last: u64,
}

impl Minimizers {
    pub(super) fn new(options: &Kraken2Options) -> Minimizers {
        Minimizers {
            rule: Rule::new(options),
            level: Level::best(),
            codes: Vec::new(),
            candidates: Vec::new(),
            spare: Vec::new(),
            changes: Vec::new(),
            last: u64::MAX,
        }
    }

    /// Appends the entries of a mate. Calls `full` after every few thousand entries, which may take the
    /// entries out.
    pub(super) fn scan<E>(
        &mut self,
        letters: &[u8],
        entries: &mut Entries,
        mut full: impl FnMut(&mut Entries) -> Result<(), E>,
    ) -> Result<(), E> {
        self.last = u64::MAX;
        let Rule { k, l, .. } = self.rule;
        if letters.len() < k {
            return Ok(());
        }
        // A k-mer in which only the first letter is not a base still has a minimizer, if it has more than
        // one l-mer.
        let lacking = usize::from(k > l);
        // The end of the next k-mer without an entry.
        let mut next = k;
        let mut start = 0;
        while start < letters.len() {
            let end = start + bases(self.level, &letters[start..]);
            let good = (start + k - lacking).max(k);
            if good <= end {
                entries.push(Kind::Ambiguous, good - next);
                self.stretch(&letters[start..end], good - start, entries, &mut full)?;
                next = end + 1;
            }
            start = end + 1;
        }
        entries.push(Kind::Ambiguous, letters.len() + 1 - next);
        Ok(())
    }

    /// Appends the entries of a stretch of bases; the first k-mer ends at base `first`.
    fn stretch<E>(
        &mut self,
        letters: &[u8],
        first: usize,
        entries: &mut Entries,
        full: &mut impl FnMut(&mut Entries) -> Result<(), E>,
    ) -> Result<(), E> {
        let (l, window) = (self.rule.l, self.rule.window());
        let step = AT_A_TIME.max(4 * window);
        // Whether the first window lacks its first l-mer.
        let mut short = first < self.rule.k;
        let mut start = 0;
        while start + self.rule.k - usize::from(short) <= letters.len() {
            let end = (start + step + self.rule.k - 1).min(letters.len());
            candidates(
                self.level,
                &self.rule,
                &letters[start..end],
                &mut self.codes,
                &mut self.candidates,
            );
            debug_assert_eq!(self.candidates.len(), end - start + 1 - l);
            if std::mem::take(&mut short) {
                let least = self.candidates[..window - 1].iter().copied().min();
                self.append_one(least.unwrap_or(0), entries);
            }
            minima(self.level, window, &mut self.candidates, &mut self.spare);
            self.append(entries);
            start = end + 1 - self.rule.k.min(end + 1);
            full(entries)?;
            if end == letters.len() {
                break;
            }
        }
        Ok(())
    }

    fn append_one(&mut self, candidate: u64, entries: &mut Entries) {
        let minimizer = candidate ^ self.rule.toggle;
        if minimizer == self.last {
            return entries.push(Kind::Same, 1);
        }
        self.last = minimizer;
        entries.minimizers.push(minimizer);
        entries.push(Kind::Next, 1);
    }

    /// Appends the runs of all minima.
    fn append(&mut self, entries: &mut Entries) {
        let count = self.candidates.len();
        let from = entries.minimizers.len();
        entries.minimizers.resize(from + count, 0);
        self.changes.resize(count + 1, 0);
        let toggle = self.rule.toggle;
        let mut last = self.last;
        let mut changes = 0;
        let minimizers = &mut entries.minimizers[from..];
        for (at, &candidate) in self.candidates.iter().enumerate() {
            let minimizer = candidate ^ toggle;
            minimizers[changes] = minimizer;
            self.changes[changes] = at as u32;
            changes += usize::from(minimizer != last);
            last = minimizer;
        }
        self.last = last;
        entries.minimizers.truncate(from + changes);
        self.changes[changes] = count as u32;
        let places = &self.changes[..=changes];
        entries.push(Kind::Same, places[0] as usize);
        let next =
            places.windows(2).map(|both| EntryRun::new(Kind::Next, (both[1] - both[0]) as usize));
        entries.runs.extend(next);
    }
}

dispatch! {
    /// Returns the number of letters before the first one that is not a base.
    fn bases(letters: &[u8]) -> usize = bases_body
}

#[inline(always)]
fn bases_body(letters: &[u8]) -> usize {
    let mut at = 0;
    for block in letters.chunks(64) {
        let bad = block.iter().fold(false, |bad, &letter| bad | !is_base(letter));
        if bad {
            return at + block.iter().position(|&letter| !is_base(letter)).unwrap_or(0);
        }
        at += block.len();
    }
    at
}

/// Whether Kraken 2 treats a letter as a base; U is not one.
#[inline(always)]
pub(super) fn is_base(letter: u8) -> bool {
    let upper = letter & 0xdf;
    (upper == b'A') | (upper == b'C') | (upper == b'G') | (upper == b'T')
}

dispatch! {
    /// Computes the l-mers of `letters`, at least l - 1 letters that are all bases.
    fn candidates(rule: &Rule, letters: &[u8], codes: &mut Vec<u8>, found: &mut Vec<u64>) = candidates_body
}

#[inline(always)]
fn candidates_body(rule: &Rule, letters: &[u8], codes: &mut Vec<u8>, found: &mut Vec<u64>) {
    codes.clear();
    codes.extend(letters.iter().map(|&letter| code_unchecked(letter)));
    found.clear();
    if rule.old_complement {
        roll(rule, codes, found, |rule, rest| {
            let above = 64 - 2 * rule.l as u32;
            (rest << above | ((1 << above) - 1)) & rule.lmer
        });
    } else {
        roll(rule, codes, found, |_, rest| rest);
    }
}

/// Computes the l-mers of `codes`. `complement` maps a reverse complement to the value that the database uses.
#[inline(always)]
fn roll(rule: &Rule, codes: &[u8], found: &mut Vec<u64>, complement: impl Fn(&Rule, u64) -> u64) {
    let top = 2 * rule.l as u32 - 2;
    let (mut forward, mut reverse) = (0u64, 0u64);
    let mut step = |code: u8| {
        forward = forward << 2 | u64::from(code);
        reverse = reverse >> 2 | u64::from(3 - code) << top;
        let canonical = (forward & rule.lmer).min(complement(rule, reverse));
        (canonical & rule.spaced) ^ rule.toggle
    };
    let (head, rest) = codes.split_at(rule.l - 1);
    head.iter().for_each(|&code| {
        step(code);
    });
    found.extend(rest.iter().map(|&code| step(code)));
}

dispatch! {
    /// Replaces each value with the minimum of the `window` values from it on; the list gets shorter.
    fn minima(window: usize, values: &mut Vec<u64>, spare: &mut Vec<u64>) = minima_body
}

#[inline(always)]
fn minima_body(window: usize, values: &mut Vec<u64>, spare: &mut Vec<u64>) {
    if values.len() < window {
        values.clear();
        return;
    }
    let mut width = 1;
    while width < window {
        let step = width.min(window - width);
        let (one, other) = (&values[..values.len() - step], &values[step..]);
        spare.clear();
        // Values have 62 bits, so signed comparison gives the same result; more instruction sets have it.
        spare.extend(one.iter().zip(other).map(|(&a, &b)| (a as i64).min(b as i64) as u64));
        std::mem::swap(values, spare);
        width += step;
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive;
    use super::*;
    use merganser_test_random::Random;
    use proptest::prelude::*;

    /// Returns one item per entry: the minimizer, if there is one.
    fn entries(options: &Kraken2Options, letters: &[u8]) -> Vec<Option<u64>> {
        let mut found = Vec::new();
        let mut scanner = Minimizers::new(options);
        let mut last = None;
        let mut take = |entries: &mut Entries| {
            let mut minimizers = entries.minimizers.drain(..);
            for run in entries.runs.drain(..) {
                let what = match run.kind() {
                    Kind::Ambiguous => None,
                    Kind::Same => last,
                    _ => {
                        let next = minimizers.next();
                        assert!(next.is_some() && next != last);
                        last = next;
                        next
                    }
                };
                found.extend((0..run.count()).map(|_| what));
            }
            assert_eq!(minimizers.next(), None);
            Ok::<(), ()>(())
        };
        let mut entries = Entries::default();
        scanner.scan(letters, &mut entries, &mut take).unwrap();
        take(&mut entries).unwrap();
        found
    }

    fn options() -> impl Strategy<Value = Kraken2Options> {
        let widths = (1usize..=31, prop_oneof![Just(0usize), 0usize..30, Just(4)]);
        let masks = (prop_oneof![Just(0u64), any::<u64>()], any::<u64>());
        (widths, masks, any::<bool>()).prop_map(|((l, more), (spaced_mask, toggle_mask), old)| {
            let (k, minimum_hash) = (l + more, 0);
            Kraken2Options { k, l, spaced_mask, toggle_mask, minimum_hash, old_complement: old }
        })
    }

    fn letters() -> impl Strategy<Value = Vec<u8>> {
        let letter = prop_oneof![
            30 => proptest::sample::select(&b"ACGTacgt"[..]),
            1 => proptest::sample::select(&b"NnUuxRY-*@\x80\xff\0"[..]),
        ];
        let few = prop_oneof![9 => Just(b'A'), 1 => Just(b'N'), 1 => Just(b'C')];
        let mixed = proptest::collection::vec(letter, 0..200);
        let same = proptest::collection::vec(few, 0..200);
        let clean = proptest::collection::vec(proptest::sample::select(&b"ACGT"[..]), 0..200);
        prop_oneof![mixed, same, clean]
    }

    proptest! {
        #[test]
        fn entries_are_those_of_the_definition(options in options(), letters in letters()) {
            prop_assert_eq!(entries(&options, &letters), naive::entries(&options, &letters));
        }
    }

    #[test]
    fn long_sequences_are_scanned_in_stretches() {
        let letters = Random(7).bases(20_000);
        let repeats = b"A".repeat(9000);
        let mut options = Kraken2Options {
            k: 35,
            l: 31,
            spaced_mask: 0x3fff_ffff_3333_3333,
            toggle_mask: 0xe37e_28c4_271b_5a2d,
            minimum_hash: 0,
            old_complement: false,
        };
        for (k, l) in [(35, 31), (31, 31), (45, 21), (5000, 10)] {
            (options.k, options.l) = (k, l);
            for letters in [&letters[..], &repeats, &letters[..4096 + k - 1], &letters[..4096 + k]]
            {
                assert_eq!(entries(&options, letters), naive::entries(&options, letters));
            }
        }
    }
}
