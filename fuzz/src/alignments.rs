//! Alignments: a naive parser of SAM, and correction of the checksums of CRAM.

use merganser_seq::base::COMPLEMENT;

use crate::fastx::Records;

/// The flags of secondary and supplementary alignments.
const NOT_PRIMARY: u16 = 0x900;
/// The flag of alignments to the reverse strand.
const REVERSE: u16 = 0x10;

/// Returns the reads of SAM text that the reader has accepted.
pub fn naive_sam(text: &[u8]) -> Records {
    let lines = text.trim_ascii_start().split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let records = lines.filter(|line| !line.is_empty() && line[0] != b'@');
    records.filter_map(read).collect()
}

/// Returns the letters and qualities of a record, unless it is secondary or supplementary.
fn read(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let flags = std::str::from_utf8(columns[1]).ok()?.parse::<u16>().expect("accepted flags");
    if flags & NOT_PRIMARY != 0 {
        return None;
    }
    let [mut letters, mut qualities] =
        [9, 10].map(|at| if columns[at] == b"*" { Vec::new() } else { columns[at].to_vec() });
    if qualities.is_empty() {
        qualities = vec![b'~'; letters.len()];
    }
    if flags & REVERSE != 0 {
        letters.reverse();
        letters.iter_mut().for_each(|letter| *letter = COMPLEMENT[usize::from(*letter)]);
        qualities.reverse();
    }
    Some((letters, qualities))
}

/// Corrects the checksums of the containers and blocks of a CRAM file (version 3), as far as their sizes lead from
/// one to the next.
pub fn mend_cram(bytes: &mut [u8]) {
    const DEFINITION: usize = 26;
    let mut at = DEFINITION;
    while let Some((header, end)) = container(bytes, at) {
        put_checksum(bytes, at, header);
        let mut block = header + 4;
        while block < end {
            let Some(checksum) = block_end(bytes, block).filter(|&at| at + 4 <= end) else { break };
            put_checksum(bytes, block, checksum);
            block = checksum + 4;
        }
        at = end;
    }
}

/// Returns the offset of the checksum after a container's header, and the end of the container.
fn container(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let length = u32::from_le_bytes(*bytes.get(start..)?.first_chunk()?) as usize;
    let mut at = start + 4;
    // Reference, start, span, number of records, record counter, bases, number of blocks.
    for longest in [4, 4, 4, 4, 8, 8, 4] {
        number(bytes, &mut at, longest)?;
    }
    let landmarks = number(bytes, &mut at, 4)?;
    for _ in 0..landmarks {
        number(bytes, &mut at, 4)?;
    }
    let end = at.checked_add(4)?.checked_add(length)?;
    (end <= bytes.len()).then_some((at, end))
}

/// Returns the offset of the checksum after a block.
fn block_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 2;
    let _id = number(bytes, &mut at, 4)?;
    let size = number(bytes, &mut at, 4)?;
    let _raw = number(bytes, &mut at, 4)?;
    at.checked_add(usize::try_from(size).ok()?)
}

/// Parses a number whose length is given by the leading ones of its first byte: ITF-8 with up to 4 more bytes, or
/// LTF-8 with up to 8. The value of an ITF-8 number with 4 more bytes is wrong, but too large in any case.
fn number(bytes: &[u8], at: &mut usize, longest: usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    let more = (first.leading_ones() as usize).min(longest);
    let rest = bytes.get(*at + 1..*at + 1 + more)?;
    *at += 1 + more;
    let kept = u64::from(first) & (0xff_u64 >> (more + 1).min(8));
    Some(rest.iter().fold(kept, |number, &byte| number << 8 | u64::from(byte)))
}

fn put_checksum(bytes: &mut [u8], from: usize, to: usize) {
    let checksum = crc32fast::hash(&bytes[from..to]).to_le_bytes();
    bytes[to..to + 4].copy_from_slice(&checksum);
}
