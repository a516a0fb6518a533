//! The decoder: starts at any block, continues across members, and works in steps of any size.

use super::bits::Bits;
use super::copy::{copy, put};
use super::find::findable;
use super::lengths::Lengths;
use super::member::{footer, header};
use super::sums::MemberEnd;
use super::table::{DISTANCE_BITS, END, LITERAL, LITERAL_BITS, PAIR, SPECIAL, Tables};
use super::{BLOCK_HEADER, CORRUPT, Fault};

/// A stretch of the compressed bytes of a file.
pub(crate) struct Input<'a> {
    /// The data, followed by [`PADDING`](super::PADDING) zeros.
    pub(crate) bytes: &'a [u8],
    /// The number of bytes of data.
    pub(crate) length: usize,
    /// The offset of the data in the file.
    pub(crate) offset: u64,
    /// Whether the file ends with these data.
    pub(crate) ended: bool,
}

/// The buffer for text, in symbols of `W` bytes. All positions are indices of bytes.
pub(crate) struct Output<'a> {
    /// The buffer, [`SLACK`](super::SLACK) bytes longer than the capacity.
    pub(crate) buffer: &'a mut [u8],
    /// The start of the text.
    pub(crate) start: usize,
    /// The position of the next symbol.
    pub(crate) at: usize,
    /// The first byte that matches may refer to.
    pub(crate) floor: usize,
    /// The capacity: no write begins at or after this position.
    pub(crate) capacity: usize,
    /// The ends of members that were reached.
    pub(crate) ends: &'a mut Vec<MemberEnd>,
}

/// The reason why decoding stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// More input is needed, from [`Inflate::position`].
    Input,
    /// The output is full, or has very many ends of members.
    Full,
    /// The next block is one that [`find`](super::find()) finds.
    Boundary,
    /// The file has ended.
    End,
}

/// The state of a decoder between two steps.
pub(crate) struct Inflate {
    phase: Phase,
    /// Whether the current block is the last of its member.
    last: bool,
    /// The position in the file, in bits.
    at: u64,
    fixed: bool,
    tables: Box<Tables>,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Before a member, padding, or the end of the file.
    Member,
    Padding,
    /// Before a block.
    Block,
    /// In a stored block, with the number of bytes that remain.
    Stored(usize),
    /// In a compressed block.
    Codes,
    /// After the last block of a member.
    Footer,
}

/// The maximum number of member ends in a piece of text: without it, a file of empty members would never fill the
/// output.
const MAX_ENDS: usize = 1 << 16;

impl Inflate {
    /// Returns a decoder at the start of a gzip file.
    pub(crate) fn file() -> Self {
        Self { phase: Phase::Member, ..Self::block(0) }
    }

    /// Returns a decoder at a block that begins at bit `at` of the file.
    pub(crate) fn block(at: u64) -> Self {
        Self { phase: Phase::Block, last: false, at, fixed: false, tables: Tables::new() }
    }

    /// Moves the decoder to a block at bit `at`, like [`block`](Self::block), and keeps its memory.
    pub(crate) fn restart(&mut self, at: u64) {
        (self.phase, self.last, self.at) = (Phase::Block, false, at);
    }

    /// Returns the position in the file, in bits.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Decodes until the input or output ends, or to the first block at or after bit `stop` that can be found by a
    /// search.
    ///
    /// # Errors
    ///
    /// If the data are invalid, or end too early ([`Fault::Input`]).
    pub(crate) fn run<const W: usize>(
        &mut self,
        input: &Input<'_>,
        out: &mut Output<'_>,
        stop: u64,
    ) -> Result<Stop, Fault> {
        loop {
            match self.advance::<W>(input, out, stop) {
                Ok(None) => {}
                Ok(Some(stop)) => return Ok(stop),
                Err(Fault::Input) if !input.ended => return Ok(Stop::Input),
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Takes one step. After [`Fault::Input`] it can be repeated with more input.
    fn advance<const W: usize>(
        &mut self,
        input: &Input<'_>,
        out: &mut Output<'_>,
        stop: u64,
    ) -> Result<Option<Stop>, Fault> {
        // Only within a block can the position be between two bytes.
        let next = (self.at.div_ceil(8) - input.offset) as usize;
        let rest = &input.bytes[next..input.length];
        match self.phase {
            Phase::Member => match rest.first() {
                Some(0x1f) => {
                    self.at += 8 * header(rest)? as u64;
                    (self.phase, out.floor) = (Phase::Block, out.at);
                }
                Some(_) => self.phase = Phase::Padding,
                None if input.ended => return Ok(Some(Stop::End)),
                None => return Err(Fault::Input),
            },
            Phase::Padding => {
                if rest.iter().any(|&byte| byte != 0) {
                    return Err(Fault::Invalid("something else follows the compressed data"));
                }
                self.at += 8 * rest.len() as u64;
                return if input.ended { Ok(Some(Stop::End)) } else { Err(Fault::Input) };
            }
            Phase::Block => return self.begin_block(input, stop),
            Phase::Stored(left) => return self.stored::<W>(rest, left, out),
            Phase::Codes => return self.codes::<W>(input, out),
            Phase::Footer => {
                let (crc, size) = footer(rest)?;
                out.ends.push(MemberEnd { at: (out.at - out.start) / W, crc, size });
                self.at = 8 * (input.offset + next as u64 + 8);
                self.phase = Phase::Member;
                if out.ends.len() >= MAX_ENDS {
                    return Ok(Some(Stop::Full));
                }
            }
        }
        Ok(None)
    }

    fn begin_block(&mut self, input: &Input<'_>, stop: u64) -> Result<Option<Stop>, Fault> {
        let (at, end) = ((self.at - 8 * input.offset) as usize, 8 * input.length);
        if self.at >= stop {
            if !input.ended && at + 8 * BLOCK_HEADER > end {
                return Err(Fault::Input);
            }
            if findable(input.bytes, input.length, at) {
                return Ok(Some(Stop::Boundary));
            }
        }
        let mut bits = Bits::new(input.bytes, at);
        let (last, kind) = (bits.take(1) == 1, bits.take(2));
        if bits.position() > end {
            return Err(Fault::Input);
        }
        let phase = match kind {
            0 => {
                let next = bits.position().div_ceil(8);
                let [a, b, c, d] =
                    *input.bytes[next..input.length].first_chunk().ok_or(Fault::Input)?;
                if [a, b] != [!c, !d] {
                    return Err(CORRUPT);
                }
                bits = Bits::new(input.bytes, 8 * (next + 4));
                Phase::Stored(usize::from(u16::from_le_bytes([a, b])))
            }
            1 | 2 => {
                self.fixed = kind == 1;
                if kind == 2 {
                    self.tables.set(&Lengths::read(&mut bits, end)?)?;
                }
                Phase::Codes
            }
            _ => return Err(CORRUPT),
        };
        self.at = 8 * input.offset + bits.position() as u64;
        (self.phase, self.last) = (phase, last);
        Ok(None)
    }

    fn end_block(&mut self) {
        self.phase = if self.last { Phase::Footer } else { Phase::Block };
    }

    fn stored<const W: usize>(
        &mut self,
        rest: &[u8],
        left: usize,
        out: &mut Output<'_>,
    ) -> Result<Option<Stop>, Fault> {
        let room = out.capacity.saturating_sub(out.at).div_ceil(W);
        let length = left.min(rest.len()).min(room);
        let to = &mut out.buffer[out.at..out.at + length * W];
        if W == 1 {
            to.copy_from_slice(&rest[..length]);
        } else {
            for (symbol, &byte) in to.as_chunks_mut::<2>().0.iter_mut().zip(rest) {
                *symbol = [byte, 0];
            }
        }
        out.at += length * W;
        self.at += 8 * length as u64;
        self.phase = Phase::Stored(left - length);
        if left == length {
            self.end_block();
            Ok(None)
        } else if length == room {
            Ok(Some(Stop::Full))
        } else {
            Err(Fault::Input)
        }
    }

    fn codes<const W: usize>(
        &mut self,
        input: &Input<'_>,
        out: &mut Output<'_>,
    ) -> Result<Option<Stop>, Fault> {
        let tables = if self.fixed { Tables::fixed() } else { &*self.tables };
        let mut bits = Bits::new(input.bytes, (self.at - 8 * input.offset) as usize);
        let mut at = out.at;
        // Each step loads at most 14 bytes, so up to here the end of the input need not be checked.
        let safe = input.length.saturating_sub(16);
        let result = loop {
            if at >= out.capacity {
                break Ok(Some(Stop::Full));
            }
            let step = if bits.loaded() <= safe {
                step::<W>(&mut bits, tables, out.buffer, &mut at, out.floor)
            } else {
                let before = (bits, at);
                let step = step::<W>(&mut bits, tables, out.buffer, &mut at, out.floor);
                if bits.position() > 8 * input.length {
                    (bits, at) = before;
                    break Err(Fault::Input);
                }
                step
            };
            match step {
                Step::More => {}
                Step::End => {
                    self.end_block();
                    break Ok(None);
                }
                Step::Invalid => break Err(CORRUPT),
            }
        };
        out.at = at;
        self.at = 8 * input.offset + bits.position() as u64;
        result
    }
}

#[derive(PartialEq, Eq)]
enum Step {
    More,
    End,
    Invalid,
}

/// Decodes up to six literals, or fewer literals and a match, or the end of the block.
#[inline(always)]
fn step<const W: usize>(
    bits: &mut Bits<'_>,
    tables: &Tables,
    out: &mut [u8],
    at: &mut usize,
    floor: usize,
) -> Step {
    bits.refill();
    let mut entry = tables.literal(bits.peek(LITERAL_BITS));
    // Three look-ups take 33 of the 56 bits; after two of them enough bits remain for a length.
    if entry & LITERAL != 0 {
        literals::<W>(bits, entry, out, at);
        entry = tables.literal(bits.peek(LITERAL_BITS));
        if entry & LITERAL != 0 {
            literals::<W>(bits, entry, out, at);
            entry = tables.literal(bits.peek(LITERAL_BITS));
            if entry & LITERAL != 0 {
                literals::<W>(bits, entry, out, at);
                return Step::More;
            }
        }
    }
    if entry & SPECIAL != 0 {
        if entry >> 16 < 0xfffe {
            bits.skip(entry & 63);
            entry = tables.literal((entry >> 16) as usize + bits.peek(entry >> 8 & 31));
        }
        if entry & LITERAL != 0 {
            literals::<W>(bits, entry, out, at);
            return Step::More;
        }
        if entry & SPECIAL != 0 {
            bits.skip(entry & 63);
            return if entry >> 16 == END >> 16 { Step::End } else { Step::Invalid };
        }
    }
    let length = value(bits, entry);
    bits.refill();
    let mut entry = tables.distance(bits.peek(DISTANCE_BITS));
    if entry & SPECIAL != 0 {
        if entry >> 16 >= 0xfffe {
            return Step::Invalid;
        }
        bits.skip(entry & 63);
        entry = tables.distance((entry >> 16) as usize + bits.peek(entry >> 8 & 31));
        if entry & SPECIAL != 0 {
            return Step::Invalid;
        }
    }
    let distance = value(bits, entry);
    if distance * W > *at - floor {
        return Step::Invalid;
    }
    copy::<W>(out, *at, distance, length);
    *at += length * W;
    Step::More
}

#[inline(always)]
fn literals<const W: usize>(bits: &mut Bits<'_>, entry: u32, out: &mut [u8], at: &mut usize) {
    put::<W>(out, *at, entry >> 16);
    *at += if entry & PAIR != 0 { 2 * W } else { W };
    bits.skip(entry & 63);
}

/// Returns a length or distance: the base value of the entry plus its extra bits, which follow the code.
#[inline(always)]
fn value(bits: &mut Bits<'_>, entry: u32) -> usize {
    let extra = bits.peek(entry & 63) >> (entry >> 8 & 31);
    bits.skip(entry & 63);
    (entry >> 16) as usize + extra
}
