//! What the published GateKeeper-GPU (2024-06) computes, bit for bit: its masks have 32 bases a word,
//! the first base in the top bit, and its amendment does not see all that crosses from one word to
//! the next. `naive::gatekeeper_original` has the steps one by one.

use super::masks::Masks;

/// The edits that the program counts for the pair that was loaded, of 17 bases or more and without
/// other letters, if they are at most `e`, which is at most 32.
pub(crate) fn edits(masks: &Masks, e: usize, scratch: &mut [Vec<u64>; 2]) -> Option<usize> {
    let [wide, all] = scratch;
    // Words of 16 bases, and masks of two of those; positions up to whole words count.
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

/// The program's amendment, in its order.
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

/// Within a word, its table of four bits at a time from the lowest on fills all runs of one or two
/// zeros between ones: a bit that it sets belongs to such a run, so that it makes no new ones. Only
/// the zero of 101 in the top bits stays, if 0 follows: the table's 1010 leaves it to a next step,
/// which there is none of.
fn amend_word(word: u32) -> u32 {
    let (before1, before2, after1, after2) = (word << 1, word << 2, word >> 1, word >> 2);
    let filled = word | before1 & (after1 | after2) | before2 & after1;
    let stays = word >> 29 == 0b101 && filled >> 28 & 1 == 0;
    if stays { filled & !(1 << 30) } else { filled }
}

fn count_groups(word: u32) -> usize {
    let [a, b, c, d] = [0, 1, 2, 3].map(|bit| word >> bit & 0x1111_1111);
    let some = a | b | c | d;
    // 5, 6, 9, 10, 11 and 13: two bits or three that are not neighbours all, or the two in the middle.
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
