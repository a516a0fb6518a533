//! Letters and their 2-bit codes.

use crate::dispatch;

/// The upper-case letters of the codes 0 to 3.
pub const LETTERS: [u8; 4] = *b"ACGT";

/// Returns the code of a letter: 0, 1, 2, 3 for A, C, G, T (or U) in either case, `None` for any other letter.
pub fn code(letter: u8) -> Option<u8> {
    is_base(letter).then(|| code_unchecked(letter))
}

/// Whether a letter is A, C, G, T or U, in either case.
#[inline(always)]
pub const fn is_base(letter: u8) -> bool {
    let upper = letter & 0xdf;
    (upper == b'A') | (upper == b'C') | (upper == b'G') | (upper == b'T') | (upper == b'U')
}

/// Returns the code of a letter that is known to be a base; any number from 0 to 3 for other letters.
///
/// Bits 1 and 2 of the ASCII letters A C G T are 00, 01, 11, 10; bit 2 XOR bit 1 gives the low
/// bit of the code and bit 2 the high one. U has T's bits.
#[inline(always)]
pub fn code_unchecked(letter: u8) -> u8 {
    ((letter >> 1) ^ (letter >> 2)) & 3
}

/// Finds the starts of homopolymer runs, letter by letter.
///
/// The first letters of all runs form the homopolymer-compressed sequence. Case is ignored, U is T, and every letter
/// that is not a base starts a run of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Homopolymers {
    last: Option<u8>,
}

impl Homopolymers {
    /// Whether the next letter of the sequence starts a run.
    #[inline(always)]
    pub fn begins(&mut self, letter: u8) -> bool {
        let base = code(letter);
        let begins = base.is_none() || base != self.last;
        self.last = base;
        begins
    }

    /// Returns the first letter of each run of a whole sequence.
    pub fn compressed(letters: &[u8]) -> impl Iterator<Item = u8> {
        let mut runs = Homopolymers::default();
        letters.iter().copied().filter(move |&letter| runs.begins(letter))
    }
}

/// The complement of each IUPAC letter, in the same case; U is read as T, and other bytes are unchanged.
pub const COMPLEMENT: [u8; 256] = {
    let pairs = b"ATTACGGCUANNRYYRSSWWKMMKBVVBDHHD";
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte as u8;
        byte += 1;
    }
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = pairs[at + 1];
        table[pairs[at].to_ascii_lowercase() as usize] = pairs[at + 1].to_ascii_lowercase();
        at += 2;
    }
    table
};

/// The complement of each IUPAC letter, in upper case; U is read as T, and other bytes are unchanged.
pub const UPPER_COMPLEMENT: [u8; 256] = {
    let mut table = COMPLEMENT;
    let letters = b"acgtunryswkmbvdh";
    let mut at = 0;
    while at < letters.len() {
        let complement = COMPLEMENT[letters[at] as usize].to_ascii_uppercase();
        table[letters[at] as usize] = complement;
        at += 1;
    }
    table
};

/// Each IUPAC letter in upper case; U is read as T, and other bytes are unchanged.
pub const UPPER: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = UPPER_COMPLEMENT[UPPER_COMPLEMENT[byte] as usize];
        byte += 1;
    }
    table
};

dispatch! {
    /// Appends the codes of `letters` to `codes`, one byte per base, and returns whether all letters are bases.
    ///
    /// Other letters get an arbitrary code from 0 to 3.
    pub fn encode(letters: &[u8], codes: &mut Vec<u8>) -> bool = encode_body
}

#[inline(always)]
fn encode_body(letters: &[u8], codes: &mut Vec<u8>) -> bool {
    let from = codes.len();
    codes.resize(from + letters.len(), 0);
    let mut bad = 0u8;
    for (code, &letter) in codes[from..].iter_mut().zip(letters) {
        *code = code_unchecked(letter);
        bad |= u8::from(!is_base(letter));
    }
    bad == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;
    use proptest::prelude::*;

    #[test]
    fn runs_of_a_base_are_one_letter() {
        let compressed = |letters: &[u8]| Homopolymers::compressed(letters).collect::<Vec<u8>>();
        assert_eq!(compressed(b"AaACCGTUtGGNNNGGA"), b"ACGTGNNNGA");
        assert_eq!(compressed(b""), b"");
    }

    #[test]
    fn every_byte_has_the_documented_code() {
        for letter in 0..=255u8 {
            let expected = match letter {
                b'A' | b'a' => Some(0),
                b'C' | b'c' => Some(1),
                b'G' | b'g' => Some(2),
                b'T' | b't' | b'U' | b'u' => Some(3),
                _ => None,
            };
            assert_eq!(code(letter), expected, "letter {letter}");
        }
    }

    #[test]
    fn complements_are_those_of_iupac() {
        let all = |table: [u8; 256], letters: &[u8]| -> Vec<u8> {
            letters.iter().map(|&letter| table[usize::from(letter)]).collect()
        };
        let letters = b"ACGTUNRYSWKMBVDHacgtunryswkmbvdh-*=x@";
        assert_eq!(all(COMPLEMENT, letters), b"TGCAANYRSWMKVBHDtgcaanyrswmkvbhd-*=x@");
        assert_eq!(all(UPPER_COMPLEMENT, letters), b"TGCAANYRSWMKVBHDTGCAANYRSWMKVBHD-*=x@");
        assert_eq!(all(UPPER, letters), b"ACGTTNRYSWKMBVDHACGTTNRYSWKMBVDH-*=x@");
    }

    proptest! {
        #[test]
        fn every_level_encodes_as_the_table(letters in proptest::collection::vec(any::<u8>(), 0..300)) {
            for level in Level::available() {
                let mut codes = vec![9];
                let clean = encode(level, &letters, &mut codes);
                prop_assert_eq!(clean, letters.iter().all(|&l| code(l).is_some()));
                for (i, &letter) in letters.iter().enumerate() {
                    if let Some(c) = code(letter) {
                        prop_assert_eq!(codes[i + 1], c);
                    }
                }
            }
        }
    }
}
