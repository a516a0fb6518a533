//! The computation of the published GateKeeper-GPU (2024-06), bit for bit. Its masks have 32 bases per word
//! with the first base in the top bit, and its amendment misses some runs that cross from one word to the next.
//! `naive::gatekeeper_original` shows the single steps.

use super::masks::Masks;

/// Returns the number of edits that the published program counts for the loaded pair, if it is at most `e`. The
/// pair must have at least 17 bases and no ambiguous letters, and `e` must be at most 32.
pub(crate) fn edits(masks: &Masks, e: usize, scratch: &mut [Vec<u64>; 2]) -> Option<usize> {
    let [wide, all] = scratch;
    // Sequences are padded to words of 16 bases, masks consist of two of these; padded positions count.
    let padded = masks.len().next_multiple_of(16);
    let words = padded.div_ceil(32);
    wide.clear();
    wide.resize(masks.words(), 0);
    masks.shifted(0, wide);
    let hamming: u32 = wide.iter().map(|word| word.count_ones()).sum();
    if hamming as usize <= e {
        return Some(hamming as usize);
    }
    if e == 0 {
        return None;
    }
    all.clear();
    all.resize(words, u64::MAX);
    let mut mask = vec![0; words];
    for shift in (0..=e as isize).flat_map(|shift| [shift, -shift]) {
        masks.shifted_padded(shift, padded, wide);
        for (w, word) in mask.iter_mut().enumerate() {
            *word = ((wide[w / 2] >> (32 * (w % 2))) as u32).reverse_bits();
        }
        amend(&mut mask);
        match shift {
            1.. => mask[0] |= 1 << (32 - shift),
            0 => {}
            _ => mask[words - 1] |= 1 << (-shift - 1),
        }
        all.iter_mut().zip(&mask).for_each(|(all, &mask)| *all &= u64::from(mask));
    }
    let edits = all.iter().map(|&word| count_groups(word as u32)).sum();
    Some(edits).filter(|&edits: &usize| edits <= e)
}

/// Amends a mask in the same order as the published program.
fn amend(mask: &mut [u32]) {
    let mut before = 0;
    for w in 0..mask.len() {
        if mask[w] != 0 {
            let mut word = amend_word(mask[w]);
            if w > 0 {
                if before >> 2 & word >> 31 & 1 == 1 {
                    before |= 3;
                }
                if before >> 1 & word >> 30 & 1 == 1 {
                    word |= 1 << 31;
                    before |= 1;
                }
                if before & word >> 29 & 1 == 1 {
                    word |= 3 << 30;
                }
                mask[w - 1] = before;
            }
            mask[w] = word;
        }
        before = mask[w];
    }
}

/// Amends a word. The program applies a table to four bits at a time, from the lowest on, which fills all runs
/// of one or two zeros between ones: a bit that it sets belongs to such a run and makes no new ones. The only
/// exception is the zero of 101 in the top bits if a 0 follows: the table maps 1010 to itself, and no
/// further step follows.
fn amend_word(word: u32) -> u32 {
    let (before1, before2, after1, after2) = (word << 1, word << 2, word >> 1, word >> 2);
    let filled = word | before1 & (after1 | after2) | before2 & after1;
    let stays = word >> 29 == 0b101 && filled >> 28 & 1 == 0;
    if stays { filled & !(1 << 30) } else { filled }
}

fn count_groups(word: u32) -> usize {
    let [a, b, c, d] = [0, 1, 2, 3].map(|bit| word >> bit & 0x1111_1111);
    let some = a | b | c | d;
    // Groups 5, 6, 9, 10, 11 and 13: two or three set bits that are not all adjacent, or the two in the middle.
    let two = (a & c & !b) | (b & c & !a & !d) | (a & d & !c) | (b & d & !c) | (a & d & !b);
    (some.count_ones() + two.count_ones()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_the_published_edits() {
        for group in 0..16u32 {
            let edits = match group {
                0 => 0,
                5 | 6 | 9 | 10 | 11 | 13 => 2,
                _ => 1,
            };
            assert_eq!(count_groups(group), edits, "{group}");
            assert_eq!(count_groups(group << 28), edits, "{group}");
        }
    }

    #[test]
    fn words_are_amended_as_by_the_table() {
        const LUT: [u32; 16] = [0, 1, 2, 3, 4, 7, 6, 7, 8, 15, 10, 15, 12, 15, 14, 15];
        let mut word = 1u32;
        for _ in 0..100_000 {
            word ^= word << 13;
            word ^= word >> 17;
            word ^= word << 5;
            let sparse = word & word.rotate_left(7);
            for word in [word, sparse] {
                let mut expected = word;
                for j in 0..=28 {
                    expected |= LUT[(expected >> j & 15) as usize] << j;
                }
                assert_eq!(amend_word(word), expected, "{word:032b}");
            }
        }
    }
}
