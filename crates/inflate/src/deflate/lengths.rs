//! The header of a block with dynamic Huffman codes (RFC 1951, section 3.2.7).

use super::bits::Bits;
use super::{CORRUPT, Fault};

/// The code lengths of a block; 0 for symbols that do not occur.
pub(super) struct Lengths {
    /// The lengths of literal and length symbols, then those of distance symbols.
    all: [u8; 286 + 30],
    literals: usize,
    total: usize,
}

/// The order in which the lengths of the code of code lengths are stored.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The maximum length of a codeword in bits, in the code of code lengths.
const CODE_BITS: u32 = 7;

impl Lengths {
    /// Reads the code lengths, which follow the three bits of the block's final flag and type. `end` is the number of
    /// available bits.
    pub(super) fn read(bits: &mut Bits<'_>, end: usize) -> Result<Self, Fault> {
        let result = Self::read_unchecked(bits, end);
        // Errors after the end are caused by the zeros there.
        if bits.position() > end { Err(Fault::Input) } else { result }
    }

    fn read_unchecked(bits: &mut Bits<'_>, end: usize) -> Result<Self, Fault> {
        bits.refill();
        let (literals, distances) = (bits.take(5) + 257, bits.take(5) + 1);
        let stored = bits.take(4) + 4;
        if literals > 286 || distances > 30 {
            return Err(CORRUPT);
        }
        let mut first = [0u8; 19];
        for &symbol in &ORDER[..stored] {
            bits.refill();
            first[symbol] = bits.take(3) as u8;
        }
        let code = code_of_lengths(&first).ok_or(CORRUPT)?;
        let mut lengths = Self { all: [0; 316], literals, total: literals + distances };
        let mut at = 0;
        while at < lengths.total {
            bits.refill();
            let (symbol, length) = code[bits.peek(CODE_BITS)];
            bits.skip(u32::from(length));
            let (value, repeat) = match symbol {
                0..=15 => (symbol, 1),
                16 if at == 0 => return Err(CORRUPT),
                16 => (lengths.all[at - 1], bits.take(2) + 3),
                17 => (0, bits.take(3) + 3),
                _ => (0, bits.take(7) + 11),
            };
            if at + repeat > lengths.total || bits.position() > end {
                return Err(CORRUPT);
            }
            lengths.all[at..at + repeat].fill(value);
            at += repeat;
        }
        // A block needs a code for its end.
        if lengths.all[256] == 0 { Err(CORRUPT) } else { Ok(lengths) }
    }

    pub(super) fn literals(&self) -> &[u8] {
        &self.all[..self.literals]
    }

    pub(super) fn distances(&self) -> &[u8] {
        &self.all[self.literals..self.total]
    }
}

/// Returns, for each combination of bits, the symbol at its start and the length of its codeword; `None` if the code
/// is incomplete or oversubscribed.
fn code_of_lengths(lengths: &[u8; 19]) -> Option<[(u8, u8); 1 << CODE_BITS]> {
    let mut code = [(0, 0); 1 << CODE_BITS];
    let mut next = 0usize;
    for length in 1..=CODE_BITS as u8 {
        for (symbol, _) in lengths.iter().enumerate().filter(|(_, of)| **of == length) {
            if next >> length != 0 {
                return None;
            }
            let reversed = next.reverse_bits() >> (usize::BITS - u32::from(length));
            for entry in code.iter_mut().skip(reversed).step_by(1 << length) {
                *entry = (symbol as u8, length);
            }
            next += 1;
        }
        next <<= 1;
    }
    (next == 2 << CODE_BITS).then_some(code)
}

/// The completeness of a prefix code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// The code is complete: every sequence of bits is valid.
    Complete,
    /// The code is incomplete.
    Left,
    /// The code is oversubscribed, so no code has these lengths.
    Over,
}

/// Returns the completeness of a code with these lengths, at most 15.
pub(super) fn room(lengths: &[u8]) -> Room {
    let taken: u32 =
        lengths.iter().filter(|length| **length > 0).map(|length| (1 << 15) >> length).sum();
    match taken.cmp(&(1 << 15)) {
        std::cmp::Ordering::Less => Room::Left,
        std::cmp::Ordering::Equal => Room::Complete,
        std::cmp::Ordering::Greater => Room::Over,
    }
}
