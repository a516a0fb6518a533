//! Checks the sizes in the headers of blocks, and the sizes in the compressed data, before the decoder allocates
//! memory for them (CRAM specification 3.1, section 8; CRAM codecs 3.1).

use std::io;

use super::invalid;

/// The maximum size of a block in bytes. Writers end a slice after a few million bases.
const MAX_BYTES: u32 = 256 << 20;

/// Checks consecutive blocks. Truncated blocks are left to the decoder, which reports them.
///
/// # Errors
/// If a block is too large, or if its codec gives a larger size than the block header allows.
pub(super) fn check_all(mut bytes: &[u8]) -> io::Result<()> {
    while let Some((block, rest)) = Block::split(bytes) {
        if block.size > MAX_BYTES || block.makes_room_for() > room(block.size) {
            return Err(invalid("a block whose size is invalid: is the file damaged?".into()));
        }
        bytes = rest;
    }
    Ok(())
}

/// Returns the maximum size that codec data may give for a block of `size` bytes. It is larger than `size`: the
/// tokenizer, for example, splits names before it compresses them.
fn room(size: u32) -> u64 {
    4 * u64::from(size) + 1024
}

struct Block<'b> {
    /// The number of the compression method.
    method: u8,
    /// The uncompressed size in bytes.
    size: u32,
    data: &'b [u8],
}

impl<'b> Block<'b> {
    /// Splits off the first block and its checksum; returns the block and the rest.
    fn split(bytes: &'b [u8]) -> Option<(Block<'b>, &'b [u8])> {
        let (&[method, _type], rest) = bytes.split_first_chunk::<2>()?;
        let (_number, rest) = itf8(rest)?;
        let (compressed, rest) = itf8(rest)?;
        let (size, rest) = itf8(rest)?;
        let (data, rest) = rest.split_at_checked(compressed as usize)?;
        let (_checksum, rest) = rest.split_first_chunk::<4>()?;
        Some((Block { method, size, data }, rest))
    }

    /// Returns the largest number of bytes or names that the codec data give; 0 if they give none.
    fn makes_room_for(&self) -> u64 {
        let size = match self.method {
            // rANS 4x8: the size follows the order and the compressed size.
            4 => self.data.get(5..).and_then(u32_le),
            // rANS Nx16 and the arithmetic coder.
            5 => own_size(self.data, true),
            6 => own_size(self.data, false),
            // fqzcomp, for qualities. Method 8 is the name tokenizer.
            7 => uint7(self.data).map(|(size, _)| size),
            8 => of_names(self.data),
            _ => None,
        };
        size.unwrap_or(0)
    }
}

/// Returns the largest size in data of rANS Nx16 or the arithmetic coder: the size of the whole, of its stripes, of the
/// data before bit unpacking or (only rANS) before run-length expansion. 0 if the size is only in the block header.
fn own_size(data: &[u8], of_rans: bool) -> Option<u64> {
    const STRIPES: u8 = 0x08;
    const NO_SIZE: u8 = 0x10;
    const RUNS: u8 = 0x40;
    const PACKED: u8 = 0x80;
    let (flags, mut rest) = data.split_first()?;
    let mut most = if flags & NO_SIZE == 0 { take_uint7(&mut rest)? } else { 0 };
    if flags & STRIPES != 0 {
        return Some(most.max(of_stripes(rest, of_rans)));
    }
    if flags & PACKED != 0 {
        let (&symbols, behind) = rest.split_first()?;
        rest = behind.get(usize::from(symbols)..)?;
        most = most.max(take_uint7(&mut rest)?);
    }
    if of_rans && flags & RUNS != 0 {
        let _context = take_uint7(&mut rest)?;
        most = most.max(take_uint7(&mut rest)?);
    }
    Some(most)
}

/// Returns the largest size in the stripes. Each is compressed separately; their number and sizes come first.
fn of_stripes(data: &[u8], of_rans: bool) -> u64 {
    let Some((&count, mut rest)) = data.split_first() else { return 0 };
    let sizes: Vec<u64> = (0..count).map_while(|_| take_uint7(&mut rest)).collect();
    let mut most = 0;
    for size in sizes {
        let Some((stripe, behind)) = rest.split_at_checked(size as usize) else { break };
        // Stripes cannot be striped again.
        let is_one = stripe.first().is_some_and(|flags| flags & 0x08 == 0);
        most = most.max(own_size(stripe, of_rans).filter(|_| is_one).unwrap_or(0));
        rest = behind;
    }
    most
}

/// Returns the largest size in data of the name tokenizer: the bytes of names, the number of names, and compressed
/// streams of tokens.
fn of_names(data: &[u8]) -> Option<u64> {
    /// The flag of a stream that duplicates another one, which the next two bytes identify.
    const SAME: u8 = 0x40;
    let mut most = u32_le(data)?.max(u32_le(data.get(4..)?)?);
    let (of_rans, mut rest) = (data.get(8) == Some(&0), data.get(9..)?);
    while let Some((kind, behind)) = rest.split_first() {
        if kind & SAME != 0 {
            rest = behind.get(2..).unwrap_or(&[]);
            continue;
        }
        let Some((length, behind)) = uint7(behind) else { break };
        let Some((stream, behind)) = behind.split_at_checked(length as usize) else { break };
        most = most.max(own_size(stream, of_rans).unwrap_or(0));
        rest = behind;
    }
    Some(most)
}

fn u32_le(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into())
}

fn take_uint7(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = uint7(bytes)?;
    *bytes = rest;
    Some(number)
}

/// Parses a number of 7 bits per byte, most significant first; returns it and the rest.
fn uint7(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let last = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)?;
    let (own, rest) = bytes.split_at(last + 1);
    Some((own.iter().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f)), rest))
}

/// Parses a number in ITF-8; returns it and the rest.
pub(super) fn itf8(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let more = (first.leading_ones() as usize).min(4);
    let (own, behind) = rest.split_at_checked(more)?;
    let kept = u32::from(first) & (0xff >> (more + 1));
    let number = match own {
        // Only the lower half of the last byte is used.
        &[a, b, c, d] => {
            let upper = u32::from_be_bytes([0, a, b, c]);
            u32::from(first) << 28 | upper << 4 | u32::from(d & 0x0f)
        }
        own => own.iter().fold(kept, |number, &byte| number << 8 | u32::from(byte)),
    };
    Some((number, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a block with an uncompressed size given by `size`, in ITF-8. Its checksum is wrong.
    fn block(method: u8, size: &[u8], data: &[u8]) -> Vec<u8> {
        [&[method, 4, 11, data.len() as u8][..], size, data, &[7; 4]].concat()
    }

    #[test]
    fn what_codecs_say_is_held_against_the_block() {
        let huge = [0x7f; 4];
        let streams = |stream: &[u8]| {
            let head = [100, 0, 0, 0, 10, 0, 0, 0, 0, 0x80 | 6];
            [&head, &[stream.len() as u8][..], stream, &[0x40, 1, 2]].concat()
        };
        let sound = [
            block(0, &[100], &[1; 100]),
            block(4, &[100], &[&[0, 9, 0, 0, 0, 100, 0, 0, 0][..], &[1; 9]].concat()),
            block(5, &[100], &[0, 100, 1, 1]),
            block(5, &[100], &[0x10, 0xff, 0xff, 0xff, 0xff]),
            block(5, &[100], &[0xc0, 100, 2, 7, 8, 50, 9, 60, 1]),
            block(6, &[100], &[0xc0, 100, 2, 7, 8, 50, 0xff, 0xff, 0xff, 0xff]),
            block(5, &[100], &[0x08, 100, 2, 3, 3, 0, 50, 1, 0x10, 1, 1]),
            block(7, &[0x81, 0x00], &[0x82, 0x00, 1, 1]),
            block(8, &[100], &streams(&[0, 10, 1, 1])),
        ];
        check_all(&sound.concat()).unwrap();
        let forged = [
            block(0, &[0xe0 | 1, 0, 0, 1], &[1; 9]).to_vec(),
            block(1, &[0xf1, 0, 0, 0, 1], &[1; 9]),
            block(4, &[100], &[&[0, 9, 0, 0, 0][..], &huge].concat()),
            block(5, &[100], &[0, 0x8f, 0xff, 0xff, 0xff, 0x7f]),
            block(6, &[100], &[4, 0x8f, 0xff, 0xff, 0xff, 0x7f]),
            block(5, &[100], &[0x80, 100, 2, 7, 8, 0x8f, 0xff, 0xff, 0xff, 0x7f]),
            block(5, &[100], &[0x40, 100, 9, 0x8f, 0xff, 0xff, 0xff, 0x7f]),
            block(5, &[100], &[0x08, 100, 1, 6, 0, 0x8f, 0xff, 0xff, 0xff, 0x7f]),
            block(7, &[100], &[0x8f, 0xff, 0xff, 0xff, 0x7f]),
            block(8, &[100], &[&huge[..], &[10, 0, 0, 0, 0]].concat()),
            block(8, &[100], &[&[100, 0, 0, 0][..], &huge, &[0]].concat()),
            block(8, &[100], &streams(&[0, 0x8f, 0xff, 0xff, 0xff, 0x7f])),
        ];
        for (at, forged) in forged.iter().enumerate() {
            let whole = [&sound.concat()[..], forged].concat();
            // The first forged block is not larger than the maximum.
            assert_eq!(check_all(&whole).is_ok(), at == 0, "{at}");
            // Truncated blocks are not checked.
            (0..whole.len()).for_each(|end| check_all(&whole[..end]).unwrap());
        }
    }

    #[test]
    fn numbers_are_those_of_the_specification() {
        let cases: [(&[u8], u32); 6] = [
            (&[0x7f], 127),
            (&[0x80, 0x80], 128),
            (&[0xc0, 0x40, 0x00], 1 << 14),
            (&[0xe0, 0x20, 0x00, 0x00], 1 << 21),
            (&[0xf1, 0, 0, 0, 0], 1 << 28),
            (&[0xff, 0xff, 0xff, 0xff, 0x0f], u32::MAX),
        ];
        for (bytes, value) in cases {
            assert_eq!(itf8(&[bytes, b"x"].concat()), Some((value, &b"x"[..])));
            assert_eq!(itf8(&bytes[..bytes.len() - 1]), None);
        }
    }
}
