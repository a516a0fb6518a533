//! Our own `.mgd`: a header, then blocks of up to 256 numbers, sorted, each number as its distance from the one
//! before in as many bits as the largest one of the block needs. Numbers are little-endian.

use std::io::{BufWriter, Read, Write};

use crate::{MinimizerSet, Params};

/// The file's first bytes: a high byte, a name, and line ends that a text-mode copy would change.
pub(super) const MAGIC: [u8; 8] = *b"\x89MGD\r\n\x1a\n";
/// The version that this program writes, and the only one it reads.
const VERSION: u32 = 1;
/// Magic, version, k, w, two bytes of zeros, how many, bytes of the file, checksum of these.
const HEADER: usize = 8 + 4 + 4 + 8 + 8 + 4;
/// Numbers of a block.
const BLOCK: usize = 256;

/// A file whose header was read.
pub(super) struct Reader<R> {
    reader: R,
    pub(super) params: Params,
    pub(super) count: u64,
    left: u64,
    /// The last number, and one more; 0 before the first.
    last: u64,
    bytes: Vec<u8>,
    block: Vec<u64>,
}

impl<R: Read> Reader<R> {
    /// Of a file of so many bytes, of which the magic was read.
    pub(super) fn open(mut reader: R, bytes: u64) -> Result<Reader<R>, String> {
        let mut header = [0; HEADER];
        header[..MAGIC.len()].copy_from_slice(&MAGIC);
        let truncated = |_| "is truncated within its header: build it again".to_owned();
        reader.read_exact(&mut header[MAGIC.len()..]).map_err(truncated)?;
        let number = |at: usize, len: usize| {
            let bytes = header[at..at + len].iter().rev();
            bytes.fold(0u64, |number, &byte| number << 8 | u64::from(byte))
        };
        let version = number(8, 4);
        if version != u64::from(VERSION) {
            return Err(format!(
                "format {version} is not this program's {VERSION}: use another version of merganser, \
                 or build it again"
            ));
        }
        if number(HEADER - 4, 4) != u64::from(crc32fast::hash(&header[..HEADER - 4])) {
            return Err("the header is damaged (checksum): build it again".into());
        }
        if number(24, 8) != bytes {
            return Err(format!(
                "is truncated or was changed: {bytes} bytes instead of {}; copy it again",
                number(24, 8)
            ));
        }
        let params = Params::new(number(12, 1) as usize, number(13, 1) as usize)
            .map_err(|_| "the header makes no sense: build it again".to_owned())?;
        let count = number(16, 8);
        let (bytes, block) = (Vec::new(), Vec::new());
        Ok(Reader { reader, params, count, left: count, last: 0, bytes, block })
    }

    /// The next block of numbers; `None` at the end.
    pub(super) fn block(&mut self) -> Result<Option<&[u64]>, String> {
        if self.left == 0 {
            return Ok(None);
        }
        let count = self.left.min(BLOCK as u64) as usize;
        let mut width = [0];
        let cannot = |error| format!("cannot read: {}", merganser_io::reason(&error));
        self.reader.read_exact(&mut width).map_err(cannot)?;
        let width = usize::from(width[0]);
        let len = (count * width).div_ceil(8);
        // Whole words are taken from it.
        self.bytes.clear();
        self.bytes.resize(len + 4 + 16, 0);
        self.reader.read_exact(&mut self.bytes[..len + 4]).map_err(cannot)?;
        let (data, checksum) = self.bytes.split_at(len);
        let mut sum = crc32fast::Hasher::new();
        sum.update(&[width as u8]);
        sum.update(data);
        let damaged = || "is damaged (checksum): copy it again, or build it again".to_owned();
        if sum.finalize().to_le_bytes() != checksum[..4] || width > 64 {
            return Err(damaged());
        }
        self.block.clear();
        for number in 0..count {
            let bit = number * width;
            let mut word = [0; 16];
            word.copy_from_slice(&self.bytes[bit / 8..bit / 8 + 16]);
            let mask = (1u128 << width) - 1;
            let distance = (u128::from_le_bytes(word) >> (bit % 8) & mask) as u64;
            let next = self.last.checked_add(distance).filter(|&next| next <= self.params.mask());
            let next = next.ok_or_else(damaged)?;
            self.block.push(next);
            self.last = next + 1;
        }
        self.left -= count as u64;
        Ok(Some(&self.block))
    }
}

/// Writes a set.
pub(super) fn write(set: &MinimizerSet, out: &mut impl Write) -> std::io::Result<()> {
    let params = set.params();
    let mut bytes = HEADER as u64;
    blocks(set, |block| {
        bytes += block.len() as u64;
        Ok(())
    })?;
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&[params.k() as u8, params.w() as u8, 0, 0]);
    header.extend_from_slice(&(set.len() as u64).to_le_bytes());
    header.extend_from_slice(&bytes.to_le_bytes());
    header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
    let mut out = BufWriter::with_capacity(1 << 20, out);
    out.write_all(&header)?;
    blocks(set, |block| out.write_all(block))?;
    out.flush()
}

/// Calls `take` with the bytes of each block: how many bits a distance has, the distances, a checksum of both.
fn blocks(
    set: &MinimizerSet,
    mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let (mut last, mut bytes) = (0, Vec::new());
    for block in set.spread().chunks(BLOCK) {
        let mut before = last;
        let distances = block.iter().map(|&next| {
            let distance = next - before;
            before = next + 1;
            distance
        });
        let distances: Vec<u64> = distances.collect();
        last = before;
        let width = distances.iter().map(|distance| 64 - distance.leading_zeros()).max();
        let width = width.unwrap_or(0);
        bytes.clear();
        bytes.push(width as u8);
        let (mut held, mut bits) = (0u128, 0);
        for distance in distances {
            held |= u128::from(distance) << bits;
            bits += width;
            while bits >= 8 {
                bytes.push(held as u8);
                held >>= 8;
                bits -= 8;
            }
        }
        if bits > 0 {
            bytes.push(held as u8);
        }
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        take(&bytes)?;
    }
    Ok(())
}
