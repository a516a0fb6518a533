//! Huffman codes as tables: a look-up with the next bits returns one or two symbols and the number of bits to
//! consume. Codewords that are longer than the index of the first table continue in a second table.
//!
//! The bits of an entry, from the lowest:
//!
//! ```text
//! 0..6    number of bits to consume, including the extra bits of a length or distance
//! 6       LITERAL: one or two bytes of text
//! 7       SPECIAL: end of block, second table, or unused codeword
//! 8..13   number of bits of the codeword; for a second table, of its index
//! 13      PAIR: a literal of two bytes
//! 16..32  the bytes, lower first; the base length or distance; the position of the second table
//! ```

use super::lengths::{Lengths, Room, room};
use super::{CORRUPT, Fault};
use std::sync::LazyLock;

pub(super) const LITERAL: u32 = 1 << 6;
pub(super) const SPECIAL: u32 = 1 << 7;
pub(super) const PAIR: u32 = 1 << 13;
/// The entry for the end of a block. Its upper half is not a valid position of a second table.
pub(super) const END: u32 = SPECIAL | 0xffff << 16;
/// The entry for an unused codeword. Its upper half is not a valid position of a second table.
const NOTHING: u32 = SPECIAL | 0xfffe << 16;

/// The number of index bits of the first tables. Larger tables leave the L1 cache and take longer to build than they
/// save.
pub(super) const LITERAL_BITS: u32 = 11;
pub(super) const DISTANCE_BITS: u32 = 8;

/// The sizes of the tables. The largest tables of complete codes have 2342 and 402 entries (zlib's `enough`); powers
/// of two make a bounds check of a masked index unnecessary.
const LITERAL_ROOM: usize = 4096;
const DISTANCE_ROOM: usize = 512;

/// The tables of a block's two codes.
pub(super) struct Tables {
    literals: [u32; LITERAL_ROOM],
    distances: [u32; DISTANCE_ROOM],
}

impl Tables {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self { literals: [NOTHING; LITERAL_ROOM], distances: [NOTHING; DISTANCE_ROOM] })
    }

    /// Returns the tables of blocks with fixed codes (RFC 1951, section 3.2.6).
    pub(super) fn fixed() -> &'static Self {
        static FIXED: LazyLock<Box<Tables>> = LazyLock::new(|| {
            let mut lengths = [8; 288];
            lengths[144..256].fill(9);
            lengths[256..280].fill(7);
            let mut tables = Tables::new();
            build(&mut tables.literals, LITERAL_BITS, &lengths, literal_entry);
            pair(&mut tables.literals);
            build(&mut tables.distances, DISTANCE_BITS, &[5; 32], distance_entry);
            tables
        });
        &FIXED
    }

    /// Builds the tables for `lengths`. Like zlib, this accepts an incomplete code if it has a single codeword of one
    /// bit, and a block without distances.
    pub(super) fn set(&mut self, lengths: &Lengths) -> Result<(), Fault> {
        let most = |lengths: &[u8]| lengths.iter().copied().max().unwrap_or(0);
        let (literals, distances) = (lengths.literals(), lengths.distances());
        match (room(literals), room(distances)) {
            (Room::Over, _) | (_, Room::Over) => return Err(CORRUPT),
            (Room::Left, _) if most(literals) > 1 => return Err(CORRUPT),
            (_, Room::Left) if most(distances) > 1 => return Err(CORRUPT),
            _ => {}
        }
        build(&mut self.literals, LITERAL_BITS, literals, literal_entry);
        pair(&mut self.literals);
        build(&mut self.distances, DISTANCE_BITS, distances, distance_entry);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn literal(&self, index: usize) -> u32 {
        self.literals[index & (LITERAL_ROOM - 1)]
    }

    #[inline(always)]
    pub(super) fn distance(&self, index: usize) -> u32 {
        self.distances[index & (DISTANCE_ROOM - 1)]
    }
}

/// Fills `table` with the canonical code of `lengths`, which must not be oversubscribed.
fn build(table: &mut [u32], first_bits: u32, lengths: &[u8], entry: fn(usize) -> u32) {
    let first = 1 << first_bits;
    table[..first].fill(NOTHING);
    let mut next = next_codes(lengths);
    let mut end = first;
    // The length of the longest codeword in each second table, by its index in the first table.
    let mut longest = [0u8; 1 << LITERAL_BITS];
    if lengths.iter().any(|&length| u32::from(length) > first_bits) {
        let mut next = next;
        for &length in lengths.iter().filter(|length| u32::from(**length) > first_bits) {
            let slot = &mut longest[reversed(&mut next, length) & (first - 1)];
            *slot = length.max(*slot);
        }
    }
    for (symbol, &length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
        let code = reversed(&mut next, length);
        let bits = u32::from(length);
        if bits <= first_bits {
            let entry = entry(symbol) + bits + (bits << 8);
            for slot in table[code..first].iter_mut().step_by(1 << bits) {
                *slot = entry;
            }
            continue;
        }
        let slot = code & (first - 1);
        let second_bits = u32::from(longest[slot]) - first_bits;
        if table[slot] == NOTHING {
            table[slot] = SPECIAL | first_bits | second_bits << 8 | (end as u32) << 16;
            end += 1 << second_bits;
        }
        let start = (table[slot] >> 16) as usize;
        let rest = bits - first_bits;
        let entry = entry(symbol) + rest + (rest << 8);
        let second = &mut table[start..start + (1 << second_bits)];
        for slot in second[code >> first_bits..].iter_mut().step_by(1 << rest) {
            *slot = entry;
        }
    }
}

/// Returns the first codeword of each length.
fn next_codes(lengths: &[u8]) -> [u16; 16] {
    let mut counts = [0u16; 16];
    for &length in lengths {
        counts[usize::from(length)] += 1;
    }
    counts[0] = 0;
    let mut next = [0u16; 16];
    for length in 1..16 {
        next[length] = (next[length - 1] + counts[length - 1]) << 1;
    }
    next
}

/// Returns the next codeword of this length in the bit order of the stream: first bit lowest.
fn reversed(next: &mut [u16; 16], length: u8) -> usize {
    let code = &mut next[usize::from(length)];
    *code += 1;
    usize::from((*code - 1).reverse_bits() >> (16 - length))
}

/// Combines two literals into one entry wherever both codewords fit into the index. Bases and qualities have short
/// codewords.
fn pair(table: &mut [u32; LITERAL_ROOM]) {
    // From the end: the entry of the second literal has a smaller index and must still be a single literal.
    for index in (0..1 << LITERAL_BITS).rev() {
        let entry = table[index];
        let bits = entry & 63;
        let second = table[index >> bits];
        if entry & second & LITERAL != 0 && bits + (second & 63) <= LITERAL_BITS {
            let both = entry >> 16 | second >> 16 << 8;
            table[index] = both << 16 | PAIR | LITERAL | (bits + (second & 63));
        }
    }
}

fn literal_entry(symbol: usize) -> u32 {
    const BASES: [u16; 29] = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
        131, 163, 195, 227, 258,
    ];
    const EXTRA: [u8; 29] =
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
    match symbol {
        0..=255 => (symbol as u32) << 16 | LITERAL,
        256 => END,
        257..=285 => u32::from(BASES[symbol - 257]) << 16 | u32::from(EXTRA[symbol - 257]),
        _ => NOTHING,
    }
}

fn distance_entry(symbol: usize) -> u32 {
    match symbol {
        0..=3 => (symbol as u32 + 1) << 16,
        4..=29 => {
            let extra = symbol as u32 / 2 - 1;
            (((2 + symbol as u32 % 2) << extra) + 1) << 16 | extra
        }
        _ => NOTHING,
    }
}
