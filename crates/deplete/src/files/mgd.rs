//! Merganser's format `.mgd`: a header, a directory of the [sections], and for each section blocks
//! of up to 256 sorted numbers. Each number is stored as its distance from the one before, in as many bits as the
//! largest distance of the block needs. Numbers are little-endian.

use std::io::{Read, Write};
use std::sync::Mutex;

use merganser_run::locks::{into_inner, lock};
use merganser_store::ByteWriter;
use merganser_store::sealed::{Format, magic};

use crate::sections::{self, SECTIONS, each_section, share_out};
use crate::word::{Word, by_word};
use crate::{Error, MinimizerSet, Params};

/// The version of sets of k up to 31, and that of larger k. Programs that read only the first one name the second.
const VERSION: u32 = 1;
const LONG_VERSION: u32 = 2;
/// The bytes of the header: magic, version, k, w, two zero bytes, number of minimizers, size of the file.
const HEADER: usize = 8 + 4 + 4 + 8 + 8;
/// The bytes of the directory: numbers and bytes of each section, then a checksum of header and directory.
const DIRECTORY: usize = SECTIONS * 16 + 4;
/// The maximum number of minimizers in a block.
const BLOCK: usize = 256;

pub(super) const FORMAT: Format = Format {
    magic: magic(b'S'),
    bytes: HEADER + DIRECTORY,
    used: |_| HEADER + DIRECTORY,
    states_length: false,
    versions: VERSION..=LONG_VERSION,
    other_version: |version| {
        format!(
            "format {version} is not one of this program's, {VERSION} and {LONG_VERSION}: use another version of merganser, or build it again"
        )
    },
    foreign: "is not a set of minimizers (.mgd)",
    name: "",
    if_cut: "build it again",
    if_damaged: "build it again",
    if_changed: "copy it again",
};

/// An open file whose header and directory were read.
pub(super) struct Reader<R> {
    reader: R,
    pub(super) params: Params,
    pub(super) count: u64,
    /// The numbers of numbers and of bytes of each section.
    pub(super) sections: Vec<(u64, u64)>,
    next: usize,
}

impl<R: Read> Reader<R> {
    /// Reads the header of a file of `bytes` bytes, whose magic was read.
    pub(super) fn open(mut reader: R, bytes: u64) -> Result<Reader<R>, String> {
        let mut header = FORMAT.magic.to_vec();
        let rest = (FORMAT.bytes - header.len()) as u64;
        // Bytes that cannot be read count as missing.
        let _ = reader.by_ref().take(rest).read_to_end(&mut header);
        let (_, mut fields) = FORMAT.read(&header)?;
        let nonsense = || FORMAT.senseless();
        let [k, w, ..] = fields.array::<4>().ok_or_else(nonsense)?;
        let mut number = || fields.u64().unwrap_or(0);
        let (count, stated) = (number(), number());
        FORMAT.check_length(bytes, stated)?;
        let params = Params::new(k.into(), w.into()).map_err(|_| nonsense())?;
        let sections = each_section(|_| (number(), number()));
        let sum = |of: fn(&(u64, u64)) -> u64| {
            sections.iter().map(of).try_fold(0u64, |sum, next| sum.checked_add(next))
        };
        let len = bytes.checked_sub(header.len() as u64);
        // A block has at least a width and a checksum.
        let is_possible = |&(count, len): &(u64, u64)| count.div_ceil(BLOCK as u64) <= len / 5;
        if sum(|section| section.0) != Some(count)
            || sum(|section| section.1) != len
            || !sections.iter().all(is_possible)
        {
            return Err(nonsense());
        }
        Ok(Reader { reader, params, count, sections, next: 0 })
    }

    /// Reads the next section that is not empty, and returns its index; `None` at the end.
    pub(super) fn section(&mut self, bytes: &mut Vec<u8>) -> Result<Option<usize>, String> {
        while let Some(&(count, len)) = self.sections.get(self.next) {
            self.next += 1;
            if count == 0 && len == 0 {
                continue;
            }
            bytes.clear();
            let got = self.reader.by_ref().take(len).read_to_end(bytes);
            let got =
                got.map_err(|error| format!("cannot read: {}", merganser_io::reason(&error)))?;
            if got as u64 != len {
                return Err("is truncated: copy it again".into());
            }
            return Ok(Some(self.next - 1));
        }
        Ok(None)
    }
}

/// Calls `take` with the `count` numbers of a section, block by block.
pub(super) fn decode<W: Word>(
    params: Params,
    section: usize,
    count: u64,
    mut bytes: &[u8],
    mut take: impl FnMut(&[W]),
) -> Result<(), String> {
    let damaged = || "is damaged (checksum): copy it again, or build it again".to_owned();
    let (mut left, mut last) = (count, params.least_of::<W>(section));
    let (mut padded, mut block) = (Vec::new(), Vec::with_capacity(BLOCK));
    while left > 0 {
        let count = left.min(BLOCK as u64) as usize;
        let width = usize::from(*bytes.first().ok_or_else(damaged)?);
        let len = 1 + (count * width).div_ceil(8);
        // The bits of a section are the same in all its numbers.
        if width > (W::BITS - sections::BITS) as usize || bytes.len() < len + 4 {
            return Err(damaged());
        }
        if crc32fast::hash(&bytes[..len]).to_le_bytes() != bytes[len..len + 4] {
            return Err(damaged());
        }
        // Padded, because whole words are read from it.
        padded.clear();
        padded.extend_from_slice(&bytes[1..len]);
        padded.resize(len + 16, 0);
        block.clear();
        for number in 0..count {
            let bit = number * width;
            let mut word = [0; 16];
            word.copy_from_slice(&padded[bit / 8..bit / 8 + 16]);
            let mask = (1u128 << width) - 1;
            let distance = W::truncated(u128::from_le_bytes(word) >> (bit % 8) & mask);
            let next = last.checked_add(distance).filter(|&next| next <= params.mask());
            let next = next.filter(|&next| params.section(next) == section).ok_or_else(damaged)?;
            block.push(next);
            last = next + W::from(1);
        }
        take(&block);
        left -= count as u64;
        bytes = &bytes[len + 4..];
    }
    if bytes.is_empty() { Ok(()) } else { Err(damaged()) }
}

/// Writes a set, encoding it on `threads` threads.
pub(super) fn write(set: &MinimizerSet, threads: usize, out: &mut impl Write) -> Result<(), Error> {
    by_word!(set.numbers(), numbers => write_numbers(set.params(), numbers, threads, out))
}

fn write_numbers<W: Word>(
    params: Params,
    mut rest: &[W],
    threads: usize,
    out: &mut impl Write,
) -> Result<(), Error> {
    let numbers = each_section(|section| {
        let (own, behind) =
            rest.split_at(rest.partition_point(|&next| params.section(next) <= section));
        rest = behind;
        own
    });
    let encoded = |section: usize| encode(params.least_of(section), numbers[section]);
    let lengths = each_section(|_| Mutex::new(0));
    share_out(threads, 0..SECTIONS, |section| {
        *lock(&lengths[section]) = encoded(section).len() as u64;
        Ok::<(), Error>(())
    })?;
    let lengths: Vec<u64> = lengths.into_iter().map(into_inner).collect();
    out.write_all(&header(params, &numbers, &lengths))?;
    // Only this many sections at a time are in memory.
    for from in (0..SECTIONS).step_by(threads) {
        let group = from..SECTIONS.min(from + threads);
        let texts: Vec<_> = group.clone().map(|_| Mutex::new(Vec::new())).collect();
        share_out(threads, group, |section| {
            *lock(&texts[section - from]) = encoded(section);
            Ok::<(), Error>(())
        })?;
        for text in texts {
            out.write_all(&into_inner(text))?;
        }
    }
    Ok(())
}

/// Makes the header and the directory.
fn header<W>(params: Params, numbers: &[&[W]], lengths: &[u64]) -> Vec<u8> {
    let bytes = (HEADER + DIRECTORY) as u64 + lengths.iter().sum::<u64>();
    let mut fields = vec![params.k() as u8, params.w() as u8, 0, 0];
    let count = numbers.iter().map(|numbers| numbers.len() as u64).sum();
    fields.put_u64s([count, bytes]);
    for (numbers, &length) in numbers.iter().zip(lengths) {
        fields.put_u64s([numbers.len() as u64, length]);
    }
    FORMAT.header(if params.are_long() { LONG_VERSION } else { VERSION }, &fields)
}

/// Encodes a section as blocks: the bits of a distance, the distances, a checksum of both.
fn encode<W: Word>(least: W, numbers: &[W]) -> Vec<u8> {
    let (mut last, mut bytes) = (least, Vec::new());
    for block in numbers.chunks(BLOCK) {
        let mut before = last;
        let distances = block.iter().map(|&next| {
            let distance = next.sub(before);
            before = next + W::from(1);
            distance
        });
        let distances: Vec<W> = distances.collect();
        last = before;
        let width = distances.iter().map(|distance| distance.bit_len()).max();
        let width = width.unwrap_or(0);
        let start = bytes.len();
        bytes.push(width as u8);
        let (mut held, mut bits) = (0u128, 0);
        for distance in distances {
            held |= distance.into() << bits;
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
        let checksum = crc32fast::hash(&bytes[start..]);
        bytes.put_u32(checksum);
    }
    bytes
}
