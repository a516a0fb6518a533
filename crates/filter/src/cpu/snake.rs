//! SneakySnake's single net routing: through the masks as through a maze, always along the longest
//! way that is free from here.

use super::masks::Masks;

/// The obstacles on the way, if they are at most `e`: never more than the edit distance.
pub(crate) fn edits(masks: &Masks, e: usize, all: &mut Vec<u64>) -> Option<usize> {
    let (words, len) = (masks.words(), masks.len());
    if len == 0 {
        return Some(0);
    }
    // A shift by the whole length leaves nothing that matches.
    let most = e.min(len) as isize;
    all.clear();
    all.resize(words * (2 * most as usize + 1), 0);
    for (shift, mask) in (-most..=most).zip(all.chunks_exact_mut(words)) {
        masks.shifted(shift, mask);
        masks.vacate(shift, mask);
    }
    let (mut at, mut edits) = (0, 0);
    loop {
        let reach = all.chunks_exact(words).map(|mask| next_set(mask, at, len)).max();
        at = reach.unwrap_or(len);
        if at >= len {
            return Some(edits);
        }
        edits += 1;
        at += 1;
        if edits > e {
            return None;
        }
        if at >= len {
            return Some(edits);
        }
    }
}

/// The first set bit from bit `at` on, or `len` if there is none.
#[inline]
fn next_set(mask: &[u64], at: usize, len: usize) -> usize {
    let mut w = at / 64;
    let mut word = mask[w] & u64::MAX << (at % 64);
    while word == 0 {
        w += 1;
        match mask.get(w) {
            Some(&next) => word = next,
            None => return len,
        }
    }
    64 * w + word.trailing_zeros() as usize
}
