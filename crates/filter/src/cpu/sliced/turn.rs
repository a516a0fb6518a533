//! Turning 64 by 64 bits (Warren, Hacker's Delight, 7-3), for eight groups of pairs at once.

use merganser_seq::dispatch;

use super::Bits;

dispatch! {
    /// Of each group: bit b of row k becomes bit k of row b.
    pub(super) fn turn(rows: &mut [Bits; 64]) = turn_body
}

#[inline(always)]
fn turn_body(rows: &mut [Bits; 64]) {
    swap::<32>(rows, 0x0000_0000_ffff_ffff);
    swap::<16>(rows, 0x0000_ffff_0000_ffff);
    swap::<8>(rows, 0x00ff_00ff_00ff_00ff);
    swap::<4>(rows, 0x0f0f_0f0f_0f0f_0f0f);
    swap::<2>(rows, 0x3333_3333_3333_3333);
    swap::<1>(rows, 0x5555_5555_5555_5555);
}

/// Exchanges the high bits of each `J` rows with the low bits of the `J` rows after them.
#[inline(always)]
fn swap<const J: usize>(rows: &mut [Bits; 64], low: u64) {
    for pair in rows.chunks_exact_mut(2 * J) {
        let (first, second) = pair.split_at_mut(J);
        for (a, b) in first.iter_mut().zip(second) {
            for (a, b) in a.0.iter_mut().zip(&mut b.0) {
                let changed = (*a >> J ^ *b) & low;
                *b ^= changed;
                *a ^= changed << J;
            }
        }
    }
}
