//! The checksums of members whose text is processed in pieces.

use super::Fault;
use crc32fast::Hasher;

/// The error for a wrong checksum, with the message of flate2.
pub(super) const MISMATCH: Fault =
    Fault::Invalid("corrupt gzip stream does not have a matching checksum");

/// The end of a member within a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberEnd {
    /// The number of bytes of the text before it.
    pub(crate) at: usize,
    /// The CRC-32 in the member's footer.
    pub(crate) crc: u32,
    /// The length of the member's text in its footer, modulo 2^32.
    pub(crate) size: u32,
}

/// The checksum of a stretch of text within one member.
pub(crate) struct MemberText {
    sum: Hasher,
    length: usize,
    /// The end of the member, if the member ends after this stretch.
    end: Option<MemberEnd>,
}

/// Computes the checksums of the stretches of `text` between the ends of members. Texts can be processed in any
/// order.
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

/// The checksum of the current member so far.
#[derive(Default)]
pub(crate) struct Sums {
    sum: Hasher,
    length: u64,
}

impl Sums {
    /// Adds stretches in the order of the text; compares the checksum at each end of a member.
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
