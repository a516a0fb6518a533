//! Writes literals and matches. A symbol of text has `W` bytes: one if the text before is known, otherwise two (see
//! [`markers`](super::markers)). Matches are copied in the same manner in both cases.

/// The number of bytes that are copied at a time.
const STEP: usize = 32;

/// Writes the lower two bytes of `literals` as two symbols. If there is only one literal, the second symbol is
/// overwritten later.
#[inline(always)]
pub(super) fn put<const W: usize>(out: &mut [u8], at: usize, literals: u32) {
    if W == 1 {
        let both = (literals as u16).to_le_bytes();
        out[at..at + 2].copy_from_slice(&both);
    } else {
        let both = (literals & 0xff) | (literals & 0xff00) << 8;
        out[at..at + 4].copy_from_slice(&both.to_le_bytes());
    }
}

/// Copies `length` symbols from `distance` symbols before `at`. May also overwrite up to 31 bytes after them. The
/// copied symbols must be within `out`.
#[inline(always)]
pub(super) fn copy<const W: usize>(out: &mut [u8], at: usize, distance: usize, length: usize) {
    let (bytes, back) = (length * W, distance * W);
    if back < STEP {
        return repeat::<W>(out, at, back, bytes);
    }
    let mut done = 0;
    loop {
        let from = at - back + done;
        let mut block = [0; STEP];
        block.copy_from_slice(&out[from..from + STEP]);
        out[at + done..at + done + STEP].copy_from_slice(&block);
        done += STEP;
        if done >= bytes {
            break;
        }
    }
}

/// Copies a match that overlaps itself closely: a few symbols that are repeated.
#[inline(always)]
fn repeat<const W: usize>(out: &mut [u8], at: usize, back: usize, bytes: usize) {
    if back == W {
        if W == 1 {
            let byte = out[at - 1];
            out[at..at + bytes].fill(byte);
        } else {
            let symbol = [out[at - 2], out[at - 1]];
            out[at..at + bytes].as_chunks_mut::<2>().0.fill(symbol);
        }
        return;
    }
    let mut done = 0;
    while done < bytes {
        // The symbols written so far are a whole number of repeats.
        let step = (back + done).min(bytes - done);
        out.copy_within(at - back..at - back + step, at + done);
        done += step;
    }
}
