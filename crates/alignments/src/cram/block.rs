//! CRAM's encodings of integers and blocks.

use merganser_io::GzipMember;

use super::rans::{Rans, SHORTEST};

/// The content type of a block (CRAM specification, section 8.1).
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Header = 0,
    Compression = 1,
    Slice = 2,
    External = 4,
    Core = 5,
}

/// A compressor of blocks.
pub(super) struct Packer {
    gzip: GzipMember,
    rans: Rans,
}

impl Packer {
    pub(super) fn new() -> Packer {
        Packer { gzip: GzipMember::new(), rans: Rans::new() }
    }

    /// Appends the content, compressed with gzip.
    pub(super) fn gzip(&mut self, content: &[u8], out: &mut Vec<u8>) {
        self.gzip.pack(content, out);
    }

    /// Compresses the content with gzip or rANS, whichever makes it smaller; returns `None` if neither does. Content of
    /// fewer than [`SHORTEST`] bytes is compressed only with gzip. For content of more than [`SAMPLE`] bytes, the first
    /// [`SAMPLE`] bytes decide between the methods.
    fn pack(&mut self, content: &[u8]) -> Option<(Method, Vec<u8>)> {
        let best = match content.len() {
            0..SHORTEST => self.pack_by(Method::Gzip, content),
            SHORTEST..=SAMPLE => self.pack_best(content),
            _ => {
                let (method, _) = self.pack_best(&content[..SAMPLE]);
                self.pack_by(method, content)
            }
        };
        (best.1.len() < content.len()).then_some(best)
    }

    fn pack_best(&mut self, content: &[u8]) -> (Method, Vec<u8>) {
        let [gzip, rans] = [Method::Gzip, Method::Rans].map(|method| self.pack_by(method, content));
        if rans.1.len() < gzip.1.len() { rans } else { gzip }
    }

    fn pack_by(&mut self, method: Method, content: &[u8]) -> (Method, Vec<u8>) {
        let mut packed = Vec::new();
        match method {
            Method::Gzip => self.gzip.pack(content, &mut packed),
            Method::Rans => self.rans.pack(content, &mut packed),
        }
        (method, packed)
    }
}

/// The compression method of a block, with its number in the block header.
#[derive(Clone, Copy)]
enum Method {
    Gzip = 1,
    Rans = 4,
}

/// The number of bytes that decide the method for longer content.
const SAMPLE: usize = 64 << 10;

/// Appends a 32-bit integer in 1 to 5 bytes (CRAM specification, section 2.3: ITF-8).
pub(super) fn put_number(value: i32, out: &mut Vec<u8>) {
    let value = value as u32;
    match value {
        0..0x80 => out.push(value as u8),
        0x80..0x4000 => out.extend_from_slice(&(value | 0x8000).to_be_bytes()[2..]),
        0x4000..0x20_0000 => out.extend_from_slice(&(value | 0xc0_0000).to_be_bytes()[1..]),
        0x20_0000..0x1000_0000 => out.extend_from_slice(&(value | 0xe000_0000).to_be_bytes()),
        // The last byte contains only the lowest 4 bits.
        _ => {
            out.push(0xf0 | (value >> 28) as u8);
            out.extend_from_slice(&[(value >> 20) as u8, (value >> 12) as u8, (value >> 4) as u8]);
            out.push((value & 15) as u8);
        }
    }
}

/// Appends a 64-bit integer in 1 to 9 bytes (CRAM specification, section 2.3: LTF-8): a 1 bit for each byte after the
/// first, a 0 bit if there are fewer than 8 such bytes, then the integer, most significant bits first.
pub(super) fn put_long(value: u64, out: &mut Vec<u8>) {
    let bits = 64 - value.leading_zeros() as usize;
    let more = match bits {
        0..=56 => bits.saturating_sub(1) / 7,
        _ => 8,
    };
    let bytes = value.to_be_bytes();
    let ones = (0xff00u16 >> more) as u8;
    if more < 8 {
        out.push(ones | if more < 7 { bytes[7 - more] } else { 0 });
    } else {
        out.push(0xff);
    }
    out.extend_from_slice(&bytes[8 - more..]);
}

/// Appends an array of integers: its length, then the integers.
pub(super) fn put_numbers(numbers: &[i32], out: &mut Vec<u8>) {
    put_number(numbers.len() as i32, out);
    numbers.iter().for_each(|&number| put_number(number, out));
}

/// Appends the number of bytes, then the bytes.
pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len() as i32, out);
    out.extend_from_slice(bytes);
}

/// Appends a block. File header blocks and external blocks are compressed if that makes them smaller. The others are
/// small (compression and slice headers) or empty (core blocks), and are [stored as they are](put_raw_block).
pub(super) fn put_block(
    kind: Kind,
    id: i32,
    content: &[u8],
    packer: &mut Packer,
    out: &mut Vec<u8>,
) {
    let packed = match kind {
        Kind::Header | Kind::External => packer.pack(content),
        _ => None,
    };
    match packed {
        Some((method, bytes)) => {
            put_packed_block(kind, id, (method as u8, &bytes), content.len(), out);
        }
        None => put_raw_block(kind, id, content, out),
    }
}

/// Appends a block whose content is not compressed.
pub(super) fn put_raw_block(kind: Kind, id: i32, content: &[u8], out: &mut Vec<u8>) {
    const RAW: u8 = 0;
    put_packed_block(kind, id, (RAW, content), content.len(), out);
}

/// Appends a block whose content of `size` bytes was compressed with a method.
fn put_packed_block(
    kind: Kind,
    id: i32,
    (method, bytes): (u8, &[u8]),
    size: usize,
    out: &mut Vec<u8>,
) {
    let begin = out.len();
    out.extend_from_slice(&[method, kind as u8]);
    put_number(id, out);
    put_number(bytes.len() as i32, out);
    put_number(size as i32, out);
    out.extend_from_slice(bytes);
    let sum = crc32fast::hash(&out[begin..]);
    out.extend_from_slice(&sum.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_few_bytes_as_they_can() {
        let number = |value| {
            let mut out = Vec::new();
            put_number(value, &mut out);
            out
        };
        assert_eq!(number(0x7f), [0x7f]);
        assert_eq!(number(0x80), [0x80, 0x80]);
        assert_eq!(number(0x1234), [0x92, 0x34]);
        assert_eq!(number(0x12_3456), [0xd2, 0x34, 0x56]);
        assert_eq!(number(0x123_4567), [0xe1, 0x23, 0x45, 0x67]);
        assert_eq!(number(4_542_278), [0xe0, 0x45, 0x4f, 0x46]);
        assert_eq!(number(-1), [0xff, 0xff, 0xff, 0xff, 0x0f]);
    }

    #[test]
    fn long_numbers_tell_how_many_bytes_follow() {
        let long = |value| {
            let mut out = Vec::new();
            put_long(value, &mut out);
            out
        };
        assert_eq!(long(0), [0]);
        assert_eq!(long(0x7f), [0x7f]);
        assert_eq!(long(0x80), [0x80, 0x80]);
        assert_eq!(long(0x3fff), [0xbf, 0xff]);
        assert_eq!(long(0x4000), [0xc0, 0x40, 0]);
        assert_eq!(long(0x1_2345_6789), [0xf1, 0x23, 0x45, 0x67, 0x89]);
        assert_eq!(long(u64::MAX), [0xff; 9]);
        assert_eq!(long(1 << 55), [0xfe, 0x80, 0, 0, 0, 0, 0, 0]);
    }
}
