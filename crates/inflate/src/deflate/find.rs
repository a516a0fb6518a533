//! Finds positions at which a deflate block can begin.

use super::Fault;
use super::bits::Bits;
use super::lengths::{Lengths, Room, room};

/// The part of the code space that four code lengths of 3 bits take, in units of 1/128.
static TAKEN: [u16; 4096] = {
    let mut taken = [0; 4096];
    let mut index = 0;
    while index < 4096 {
        let mut code = 0;
        while code < 4 {
            let length = (index >> (3 * code)) & 7;
            if length > 0 {
                taken[index] += 128 >> length;
            }
            code += 1;
        }
        index += 1;
    }
    taken
};

/// Returns the first bit from `from` (inclusive) to `to` (exclusive) at which a block can begin that is not the last
/// of its member and has complete dynamic Huffman codes. Other blocks have too few recognizable features.
///
/// The first `length` bytes of `bytes` are data. About 1 of 10^9 random positions is found (Knespel and Brunst 2023,
/// section 3.4.2: most are rejected by the first 17 bits, then by the code of code lengths).
pub(crate) fn find(bytes: &[u8], length: usize, from: usize, to: usize) -> Option<usize> {
    (from..to.min(length * 8)).find(|&at| can_begin(bytes, at) && findable(bytes, length, at))
}

/// Runs the fast part of the test.
#[inline(always)]
fn can_begin(bytes: &[u8], at: usize) -> bool {
    let head = word(bytes, at);
    // Not final, dynamic codes; at most 286 literal and length symbols, at most 30 distance symbols.
    if head & 7 != 4 || (head >> 3) & 31 > 29 || (head >> 8) & 31 > 29 {
        return false;
    }
    let codes = 4 + ((head >> 13) & 15);
    let lengths = word(bytes, at + 17) & ((1 << (3 * codes)) - 1);
    let taken = |part: u64| TAKEN[((lengths >> (12 * part)) & 4095) as usize];
    taken(0) + taken(1) + taken(2) + taken(3) + taken(4) == 128
}

/// Returns at least 57 bits from bit `at`; zero near the end of `bytes`.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at / 8..).and_then(|rest| rest.first_chunk()) {
        Some(&word) => u64::from_le_bytes(word) >> (at % 8),
        None => 0,
    }
}

/// Whether [`find`] would find a block at bit `at`.
pub(super) fn findable(bytes: &[u8], length: usize, at: usize) -> bool {
    let mut bits = Bits::new(bytes, at);
    if bits.take(3) != 4 {
        return false;
    }
    match Lengths::read(&mut bits, length * 8) {
        Ok(lengths) => {
            room(lengths.literals()) == Room::Complete
                && room(lengths.distances()) == Room::Complete
        }
        Err(Fault::Input | Fault::Invalid(_)) => false,
    }
}
