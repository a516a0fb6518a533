//! Checks the sizes in container headers before the decoder allocates memory for them: forged sizes can have right
//! checksums.

use std::io::{self, Read};

use super::block::{self, itf8};
use super::invalid;

/// The maximum number of records of a slice. Writers put 10,000 or a few times as many into one.
const MAX_RECORDS: u32 = 1 << 20;
/// The size of a checksum in bytes.
const CHECKSUM: usize = 4;

/// Replaces `bytes` with the next container. A truncated container is left to the decoder, which reports it.
///
/// # Errors
/// If reading fails, if a slice has too many records, or if the size of a block is invalid.
pub(super) fn read(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    let Some(Header { length, landmarks }) = read_header(input, bytes)? else { return Ok(()) };
    let header = bytes.len();
    // The buffer grows with the bytes that are read, not with the size in the header.
    input.take(length.into()).read_to_end(bytes)?;
    for landmark in landmarks {
        let slice = bytes[header..].get(landmark as usize..);
        if slice.and_then(records).is_some_and(|records| records > MAX_RECORDS) {
            return Err(invalid(format!(
                "a slice of more than {MAX_RECORDS} records: is the file damaged? If not, write it again \
                 with samtools view -C"
            )));
        }
    }
    block::check_all(&bytes[header..])
}

struct Header {
    /// The number of bytes after the header.
    length: u32,
    /// The offsets of the slices in these bytes.
    landmarks: Vec<u32>,
}

/// Appends the bytes of a header and its checksum; returns `None` if the input ends within them.
fn read_header(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<Option<Header>> {
    let mut more = |count: usize| {
        let from = bytes.len();
        let got = input.by_ref().take(count as u64).read_to_end(bytes)?;
        Ok::<_, io::Error>((got == count).then(|| bytes[from..].to_vec()))
    };
    let mut header = || {
        let Some(length) = more(4)? else { return Ok(None) };
        // Reference, start, span, number of records, record counter, bases, number of blocks.
        for long in [false, false, false, false, true, true, false] {
            if number(long, &mut more)?.is_none() {
                return Ok(None);
            }
        }
        let Some(count) = number(false, &mut more)? else { return Ok(None) };
        let mut landmarks = Vec::new();
        for _ in 0..count {
            let Some(landmark) = number(false, &mut more)? else { return Ok(None) };
            landmarks.push(landmark);
        }
        let length = length.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        Ok(more(CHECKSUM)?.map(|_| Header { length, landmarks }))
    };
    header()
}

/// Reads a number in ITF-8 or, if `long`, in LTF-8, whose value is not used and may be wrong.
fn number(
    long: bool,
    more: &mut impl FnMut(usize) -> io::Result<Option<Vec<u8>>>,
) -> io::Result<Option<u32>> {
    let Some(first) = more(1)? else { return Ok(None) };
    let most = if long { 8 } else { 4 };
    let Some(rest) = more((first[0].leading_ones() as usize).min(most))? else { return Ok(None) };
    Ok(itf8(&[first, rest].concat()).map(|(number, _)| number))
}

/// Returns the number of records in the header of a slice (CRAM specification 3.1, section 8.5). That block is never
/// compressed; if it is, returns `u32::MAX`.
fn records(block: &[u8]) -> Option<u32> {
    let (&[method, _type], mut rest) = block.split_first_chunk::<2>()?;
    // Content ID, compressed size, uncompressed size.
    for _ in 0..3 {
        (_, rest) = itf8(rest)?;
    }
    if method != 0 {
        return Some(u32::MAX);
    }
    // Reference, start, span.
    for _ in 0..3 {
        (_, rest) = itf8(rest)?;
    }
    itf8(rest).map(|(records, _)| records)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a container of one slice, whose number of records is given in ITF-8. The checksums are wrong.
    fn container(records: &[u8]) -> Vec<u8> {
        let block = [&[0, 2, 0, 9, 9, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 1][..], records].concat();
        let header = [0, 0, 0, 1, 0, 0, 1, 1, 0, 7, 7, 7, 7];
        [&(block.len() as u32).to_le_bytes()[..], &header, &block].concat()
    }

    #[test]
    fn sizes_beyond_all_take_no_memory() {
        let mut bytes = Vec::new();
        let ten_thousand = container(&[0xa7, 0x10]);
        read(&mut &[&ten_thousand[..], b"next"].concat()[..], &mut bytes).unwrap();
        assert_eq!(bytes, ten_thousand);
        for records in [&[0xe0, 0x10, 0x00, 0x01][..], &[0xf7, 0xff, 0xff, 0xff, 0x0f]] {
            let error = read(&mut &container(records)[..], &mut bytes).unwrap_err().to_string();
            assert!(error.starts_with("a slice of more than 1048576 records"), "{error}");
        }
        // A truncated container: the existing bytes are passed to the decoder, which reports the error.
        let mut cut = ten_thousand.clone();
        cut[..4].copy_from_slice(&i32::MAX.to_le_bytes());
        for end in 0..cut.len() {
            read(&mut &cut[..end], &mut bytes).unwrap();
            assert_eq!(bytes, cut[..end]);
            assert!(bytes.capacity() < 1 << 16);
        }
    }
}
