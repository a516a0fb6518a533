//! The checksums of members whose text comes in pieces.

use super::Fault;
use crc32fast::Hasher;

/// As flate2 says it.
pub(super) const MISMATCH: Fault =
    Fault::Invalid("corrupt gzip stream does not have a matching checksum");

/// The end of a member within some text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberEnd {
    /// How many bytes of the text come before it.
    pub(crate) at: usize,
    /// The CRC-32 of its text, as the member has it,
    pub(crate) crc: u32,
    /// and its length modulo 2^32.
    pub(crate) size: u32,
}

/// A stretch of text within one member.
pub(crate) struct MemberText {
    sum: Hasher,
    length: usize,
    /// The member ends with it.
    end: Option<MemberEnd>,
}

/// The sums of `text`, cut at the ends of members: in time that the text takes, and in any order.
pub(crate) fn parts(text: &[u8], ends: &[MemberEnd]) -> Vec<MemberText> {
    let mut start = 0;
    let ends = ends.iter().map(|end| (end.at, Some(*end))).chain([(text.len(), None)]);
    let part = |(at, end)| {
        let mut sum = Hasher::new();
        sum.update(&text[start..at]);
        let length = at - start;
        start = at;
        MemberText { sum, length, end }
    };
    ends.map(part).collect()
}

/// The sum of a member so far.
#[derive(Default)]
pub(crate) struct Sums {
    sum: Hasher,
    length: u64,
}

impl Sums {
    /// Takes the parts in the order of the text, and compares where members end.
    pub(crate) fn add(&mut self, parts: &[MemberText]) -> Result<(), Fault> {
        for part in parts {
            self.sum.combine(&part.sum);
            self.length += part.length as u64;
            if let Some(end) = part.end {
                let Self { sum, length } = std::mem::take(self);
                if sum.finalize() != end.crc || length as u32 != end.size {
                    return Err(MISMATCH);
                }
            }
        }
        Ok(())
    }
}
