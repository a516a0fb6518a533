//! Sequences with 2 bits per base in 64-bit words, the first base in the top bits of the first word.

use crate::dispatch;

/// The number of bases in one word.
pub const BASES_PER_WORD: usize = 32;

/// The number of padding words after a packed sequence, so that [`window`] can read past its end.
const PADDING: usize = 2;

dispatch! {
    /// Packs codes (one byte per base, each 0 to 3) into words, replacing the contents of `words`. The rest of the last
    /// word is 0, and two zero words follow.
    pub fn pack(codes: &[u8], words: &mut Vec<u64>) = pack_body
}

#[inline(always)]
fn pack_body(codes: &[u8], words: &mut Vec<u64>) {
    words.clear();
    words.resize(codes.len().div_ceil(BASES_PER_WORD) + PADDING, 0);
    let mut chunks = codes.chunks_exact(BASES_PER_WORD);
    for (word, chunk) in words.iter_mut().zip(&mut chunks) {
        let mut packed = 0;
        for eight in chunk.chunks_exact(8) {
            let bytes = u64::from_be_bytes([
                eight[0], eight[1], eight[2], eight[3], eight[4], eight[5], eight[6], eight[7],
            ]);
            packed = packed << 16 | squeeze(bytes);
        }
        *word = packed;
    }
    let tail = chunks.remainder();
    let last = codes.len() / BASES_PER_WORD;
    for (i, &code) in tail.iter().enumerate() {
        words[last] |= u64::from(code) << (62 - 2 * i);
    }
}

/// Returns the low two bits of each of eight bytes, as 16 bits in the same order.
#[inline(always)]
fn squeeze(bytes: u64) -> u64 {
    let x = bytes & 0x0303_0303_0303_0303;
    let x = (x | x >> 6) & 0x000f_000f_000f_000f;
    let x = (x | x >> 12) & 0x0000_00ff_0000_00ff;
    (x | x >> 24) & 0xffff
}

/// Returns the 32 bases that start at base `at`, left-aligned; bases past the end of the sequence are 0.
///
/// # Panics
/// If `at` is beyond the sequence that was given to [`pack`].
#[inline(always)]
pub fn window(words: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / BASES_PER_WORD, 2 * (at % BASES_PER_WORD) as u32);
    // Two shifts: a single shift by 64 would overflow when `shift` is 0.
    words[word] << shift | words[word + 1] >> 1 >> (63 - shift)
}

/// Returns the reverse complement of the 32 bases of a word.
#[inline(always)]
pub fn reverse_complement_word(word: u64) -> u64 {
    let x = (!word).swap_bytes();
    let x = (x >> 4) & 0x0f0f_0f0f_0f0f_0f0f | (x & 0x0f0f_0f0f_0f0f_0f0f) << 4;
    (x >> 2) & 0x3333_3333_3333_3333 | (x & 0x3333_3333_3333_3333) << 2
}

/// Replaces `out` with the packed reverse complement of a sequence of `len` bases packed by [`pack`], with the same
/// padding.
pub fn reverse_complement(words: &[u64], len: usize, out: &mut Vec<u64>) {
    let full = len.div_ceil(BASES_PER_WORD);
    out.clear();
    out.extend(words[..full].iter().rev().map(|&w| reverse_complement_word(w)));
    out.resize(full + PADDING, 0);
    // The unused bits of the last word are now at the front (as complemented zeros): shift them out.
    let filling = 2 * (full * BASES_PER_WORD - len) as u32;
    if filling > 0 {
        for i in 0..full {
            let next = if i + 1 < full { out[i + 1] } else { 0 };
            out[i] = out[i] << filling | next >> (64 - filling);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;
    use proptest::prelude::*;

    fn unpack(words: &[u64], len: usize) -> Vec<u8> {
        (0..len).map(|i| (words[i / 32] >> (62 - 2 * (i % 32)) & 3) as u8).collect()
    }

    proptest! {
        #[test]
        fn packing_and_its_window_keep_every_base(codes in proptest::collection::vec(0u8..4, 0..400)) {
            for level in Level::available() {
                let mut words = vec![7; 3];
                pack(level, &codes, &mut words);
                prop_assert_eq!(&unpack(&words, codes.len()), &codes);
                for at in 0..codes.len() {
                    let mut expected: Vec<u8> = codes[at..].iter().copied().take(32).collect();
                    expected.resize(32, 0);
                    prop_assert_eq!(unpack(&[window(&words, at)], 32), expected);
                }
            }
        }

        #[test]
        fn reverse_complement_equals_the_naive_one(codes in proptest::collection::vec(0u8..4, 0..400)) {
            let (mut words, mut reverse) = (Vec::new(), Vec::new());
            pack(Level::best(), &codes, &mut words);
            reverse_complement(&words, codes.len(), &mut reverse);
            let naive: Vec<u8> = codes.iter().rev().map(|c| 3 - c).collect();
            prop_assert_eq!(unpack(&reverse, codes.len()), naive);
        }
    }
}
