//! SneakySnake's single net routing: treats the masks as a maze, and always follows the longest free path from
//! the current position.

use super::masks::Masks;

/// Returns the number of obstacles on the path if it is at most `e`. It never exceeds the edit distance.
pub(crate) fn edits(masks: &Masks, e: usize, all: &mut Vec<u64>) -> Option<usize> {
    let (words, len) = (masks.words(), masks.len());
    if len == 0 {
        return Some(0);
    }
    // A shift by the whole length leaves no matches.
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

/// Returns the index of the first set bit at or after `at`, or `len` if no bit is set.
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
