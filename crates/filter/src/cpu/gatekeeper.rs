//! GateKeeper-GPU's improved rule (paper §2.1, §3.4), corrected: each group of four bits of the final mask that
//! is not zero counts as one edit. `docs/methods/filtering.md` shows why no pair within the threshold is
//! rejected.

use super::masks::{Masks, cut};

/// Returns the number of edits that the rule counts for the loaded pair, if it is at most `e`.
pub(crate) fn edits(masks: &Masks, e: usize, scratch: &mut [Vec<u64>; 2]) -> Option<usize> {
    let words = masks.words();
    let [mask, all] = scratch;
    mask.clear();
    mask.resize(words, 0);
    masks.shifted(0, mask);
    let hamming: u32 = mask.iter().map(|word| word.count_ones()).sum();
    if hamming as usize <= e {
        return Some(hamming as usize);
    }
    all.clear();
    all.resize(words, u64::MAX);
    for shift in (0..=e as isize).flat_map(|shift| [shift, -shift]) {
        if shift.unsigned_abs() > masks.len() {
            // All bits would be vacated, which leaves the final mask unchanged.
            break;
        }
        masks.shifted(shift, mask);
        amend(mask);
        masks.vacate(shift, mask);
        all.iter_mut().zip(mask.iter()).for_each(|(all, mask)| *all &= mask);
    }
    cut(all, masks.len());
    let groups: usize = all.iter().map(|&word| count_groups(word)).sum();
    Some(groups).filter(|&groups| groups <= e)
}

/// Turns every run of one or two zeros between ones into ones.
#[inline]
fn amend(mask: &mut [u64]) {
    let mut before = 0;
    for w in 0..mask.len() {
        let (word, next) = (mask[w], mask.get(w + 1).copied().unwrap_or(0));
        // Bit p of each says whether the bit one or two before p, or after it, is set.
        let (before1, before2) = (word << 1 | before >> 63, word << 2 | before >> 62);
        let (after1, after2) = (word >> 1 | next << 63, word >> 2 | next << 62);
        mask[w] = word | before1 & (after1 | after2) | before2 & after1;
        before = word;
    }
}

/// Counts the groups of four bits that are not zero.
#[inline]
fn count_groups(word: u64) -> usize {
    let pairs = word | word >> 1;
    ((pairs | pairs >> 2) & 0x1111_1111_1111_1111).count_ones() as usize
}
