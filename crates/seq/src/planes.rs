//! Sequences as bit planes: the low bits of all codes, then the high bits of all codes.
//!
//! Base i of a sequence is bit i % 64 of word i / 64 of each plane. Unlike in [`packed`](crate::packed), the first base
//! is the least significant. Two sequences are compared with two XORs and an OR per 64 bases, and a shift by one base
//! is a shift by one bit. Converting text to planes is fast, because vector instructions collect one bit of each byte.

mod block;

use crate::simd::Level;
pub use block::Block;

/// The number of bases in a word of a plane.
pub const BASES_PER_WORD: usize = 64;

/// The kinds of letters that [`encode`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// Only bases: two planes were appended.
    Bases,
    /// Bases and other IUPAC letters: three planes were appended. The bits of the other letters are set in the third
    /// plane and arbitrary in the first two.
    Others,
    /// A byte that is not an IUPAC letter, at this index: nothing was appended.
    Foreign(usize),
}

/// Appends the planes of `letters` to `words`: the low bits, the high bits and, if there are any, the letters that are
/// not bases. Each plane has ⌈length / 64⌉ words, and its bits past the end are 0.
///
/// Both cases are read: A, C, G, T and U are bases, and N, R, Y, S, W, K, M, B, D, H and V are other letters.
pub fn encode(level: Level, letters: &[u8], words: &mut Vec<u64>) -> Encoded {
    let (at, plane) = (words.len(), letters.len().div_ceil(BASES_PER_WORD));
    words.resize(at + 2 * plane, 0);
    let (low, high) = words[at..].split_at_mut(plane);
    if block::encode(level, letters, low, high) {
        return Encoded::Bases;
    }
    if let Some(foreign) = letters.iter().position(|&letter| !is_letter(letter)) {
        words.truncate(at);
        return Encoded::Foreign(foreign);
    }
    words.extend(letters.chunks(BASES_PER_WORD).map(|chunk| {
        let bit = |(i, &letter): (usize, &u8)| u64::from(!crate::base::is_base(letter)) << i;
        chunk.iter().enumerate().map(bit).sum::<u64>()
    }));
    Encoded::Others
}

/// The planes of a text of arbitrary bytes. Each sequence in the text is a stretch of its planes. The value is reused
/// between texts to reuse its memory.
#[derive(Clone, Debug, Default)]
pub struct TextPlanes {
    low: Vec<u64>,
    high: Vec<u64>,
    bases: Vec<u64>,
    len: usize,
}

impl TextPlanes {
    /// Replaces the planes with those of `text`.
    pub fn scan(&mut self, level: Level, text: &[u8]) {
        let words = text.len().div_ceil(BASES_PER_WORD);
        // One more word, so that a stretch may read one word past its end.
        for plane in [&mut self.low, &mut self.high, &mut self.bases] {
            plane.resize(words + 1, 0);
        }
        self.len = text.len();
        block::scan(level, text, [&mut self.low, &mut self.high, &mut self.bases]);
    }

    /// Returns the length of the text in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the index of the first byte at or after `at` that is not a base, or the length of the text.
    #[inline]
    pub fn next_other(&self, at: usize) -> usize {
        let mut w = at / 64;
        let Some(&word) = self.bases.get(w) else { return self.len };
        let mut others = !word & u64::MAX << (at % 64);
        while others == 0 {
            w += 1;
            match self.bases.get(w) {
                Some(&word) => others = !word,
                None => return self.len,
            }
        }
        (64 * w + others.trailing_zeros() as usize).min(self.len)
    }

    /// Appends the two planes of the `len` bases that start at byte `at`, in the layout of [`encode`].
    ///
    /// # Panics
    /// If the stretch is not within the text.
    #[inline]
    pub fn stretch(&self, at: usize, len: usize, words: &mut Vec<u64>) {
        let (count, first, shift) = (len.div_ceil(BASES_PER_WORD), at / 64, (at % 64) as u32);
        let kept = u64::MAX >> ((64 - len % 64) % 64);
        for plane in [&self.low, &self.high] {
            let pairs = plane[first..=first + count].windows(2);
            // Two shifts: a single shift by 64 would overflow when `shift` is 0.
            words.extend(pairs.map(|pair| pair[0] >> shift | pair[1] << 1 << (63 - shift)));
            if let (Some(last), true) = (words.last_mut(), count > 0) {
                *last &= kept;
            }
        }
    }
}

/// Whether a byte is a letter of the IUPAC nucleic acid alphabet, in either case. Gap symbols are not letters.
pub fn is_letter(letter: u8) -> bool {
    matches!(
        letter & 0xdf,
        b'A' | b'C'
            | b'G'
            | b'T'
            | b'U'
            | b'N'
            | b'R'
            | b'Y'
            | b'S'
            | b'W'
            | b'K'
            | b'M'
            | b'B'
            | b'D'
            | b'H'
            | b'V'
    )
}

/// Returns the 64 bits of a plane that start at bit `at`; bits past its end are 0.
#[inline(always)]
pub fn window(plane: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / 64, (at % 64) as u32);
    let get = |i: usize| plane.get(i).copied().unwrap_or(0);
    // Two shifts: a single shift by 64 would overflow when `shift` is 0.
    get(word) >> shift | get(word + 1) << 1 << (63 - shift)
}

/// Whether any bit in `from..to` of a plane is set; bits past its end are not.
#[inline]
pub fn has_any(plane: &[u64], from: usize, to: usize) -> bool {
    let kept = |at: usize| u64::MAX >> (64 - (to - at).min(64));
    !plane.is_empty() && (from..to).step_by(64).any(|at| window(plane, at) & kept(at) != 0)
}

/// Returns the code of base `at`, or 4 if it is not a base. `others` may be empty if all letters are bases.
///
/// # Panics
/// If `at` is past the end of the planes.
#[inline]
pub fn code(low: &[u64], high: &[u64], others: &[u64], at: usize) -> u8 {
    let bit = |plane: &[u64]| (plane[at / 64] >> (at % 64) & 1) as u8;
    if !others.is_empty() && bit(others) == 1 {
        return 4;
    }
    bit(high) << 1 | bit(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code_at(words: &[u64], plane: usize, i: usize) -> u8 {
        let bit = |at: usize| (words[at + i / 64] >> (i % 64) & 1) as u8;
        bit(plane) << 1 | bit(0)
    }

    #[test]
    fn bases_and_others_are_found_where_they_are() {
        let letters = b"ACGTN".repeat(40);
        let mut words = Vec::new();
        assert_eq!(encode(Level::best(), &letters, &mut words), Encoded::Others);
        let [low, high, others] = [0, 4, 8].map(|at| &words[at..at + 4]);
        for (at, letter) in letters.iter().enumerate() {
            let expected = crate::base::code(*letter).unwrap_or(4);
            assert_eq!(code(low, high, others, at), expected);
            assert_eq!(code(low, high, &[], at) == expected, *letter != b'N');
        }
        for from in 0..200 {
            for to in [from, from + 1, from + 4, from + 5, from + 64, from + 65, 300] {
                let expected = letters.get(from..to.min(200)).is_some_and(|l| l.contains(&b'N'));
                assert_eq!(has_any(others, from, to), expected, "{from} {to}");
                assert!(!has_any(&[], from, to));
            }
        }
    }

    #[test]
    fn every_byte_is_told_apart() {
        for letter in 0..=255u8 {
            for level in Level::available() {
                let mut words = vec![5];
                let expected = match letter {
                    _ if crate::base::is_base(letter) => Encoded::Bases,
                    _ if b"NRYSWKMBDHV".contains(&letter.to_ascii_uppercase()) => Encoded::Others,
                    _ => Encoded::Foreign(0),
                };
                assert_eq!(encode(level, &[letter], &mut words), expected, "{letter}");
                let planes = match expected {
                    Encoded::Bases => 2,
                    Encoded::Others => 3,
                    Encoded::Foreign(_) => 0,
                };
                assert_eq!(words.len(), 1 + planes);
            }
        }
    }

    proptest! {
        #[test]
        fn planes_hold_the_codes(
            letters in proptest::collection::vec(proptest::sample::select(b"ACGTUacgtu".to_vec()), 0..300),
            n in any::<Option<u16>>(),
        ) {
            let mut letters = letters;
            let n = n.filter(|_| !letters.is_empty()).map(|n| usize::from(n) % letters.len());
            if let Some(n) = n {
                letters[n] = b'n';
            }
            let plane = letters.len().div_ceil(64);
            for level in Level::available() {
                let mut words = Vec::new();
                let met = encode(level, &letters, &mut words);
                prop_assert_eq!(met, if n.is_some() { Encoded::Others } else { Encoded::Bases });
                for (i, &letter) in letters.iter().enumerate() {
                    if let Some(code) = crate::base::code(letter) {
                        prop_assert_eq!(code_at(&words, plane, i), code);
                    }
                }
                if let Some(n) = n {
                    let other: Vec<u64> = (0..plane)
                        .map(|w| if n / 64 == w { 1 << (n % 64) } else { 0 })
                        .collect();
                    prop_assert_eq!(&words[2 * plane..], &other[..]);
                } else if letters.len() % 64 > 0 {
                    let past = u64::MAX << (letters.len() % 64);
                    prop_assert_eq!(words[plane - 1] & past, 0);
                    prop_assert_eq!(words[2 * plane - 1] & past, 0);
                }
            }
        }

        #[test]
        fn stretches_of_a_text_are_its_sequences(
            text in proptest::collection::vec(proptest::sample::select(b"ACGTacgtuACGTACGTACGTACGTACGT\t\nN".to_vec()), 0..400),
        ) {
            for level in Level::available() {
                let mut planes = TextPlanes::default();
                planes.scan(level, b"an earlier text, which must leave nothing behind");
                planes.scan(level, &text);
                let (mut at, mut rest) = (0, &text[..]);
                loop {
                    let end = rest.iter().position(|&letter| !crate::base::is_base(letter));
                    let len = end.unwrap_or(rest.len());
                    prop_assert_eq!(planes.next_other(at), at + len);
                    let (mut words, mut expected) = (vec![7], vec![7]);
                    planes.stretch(at, len, &mut words);
                    encode(level, &rest[..len], &mut expected);
                    prop_assert_eq!(words, expected);
                    if end.is_none() {
                        break;
                    }
                    at += len + 1;
                    rest = &rest[len + 1..];
                }
            }
        }

        #[test]
        fn windows_are_slices(plane in proptest::collection::vec(any::<u64>(), 0..5), at in 0usize..400) {
            let bit = |i: usize| plane.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 == 1);
            let expected = (0..64).map(|i| u64::from(bit(at + i)) << i).sum::<u64>();
            prop_assert_eq!(window(&plane, at), expected);
        }
    }
}
