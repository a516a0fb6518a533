//! The header of a shard's BAM file (SAM specification, section 4.2).

use merganser_store::ByteReader;

use crate::Contig;
use crate::output::{ShardMark, without_files};

/// The header of a shard.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The text before the shard's mark.
    text: String,
    /// The binary list of contigs, including their number, as in the file.
    listed: Vec<u8>,
    pub(super) contigs: Vec<Contig>,
}

/// Reads a non-negative number: `Some(None)` if it is negative, `None` if more bytes are needed.
fn number(left: &mut ByteReader<'_>) -> Option<Option<u32>> {
    left.u32().map(|number| (number <= i32::MAX as u32).then_some(number))
}

/// The result of parsing the beginning of a file.
pub(super) enum Parsed {
    /// More bytes are needed.
    Unfinished,
    /// The bytes are not the header of a shard.
    Other,
    /// A complete header and its mark.
    Head(Box<Head>, ShardMark),
}

impl Head {
    /// Parses the header of a shard; `bytes` must not continue after it.
    pub(super) fn parse(bytes: &[u8]) -> Parsed {
        let mut left = ByteReader(bytes);
        let magic = left.bytes(4);
        if magic.is_some_and(|magic| magic != b"BAM\x01") {
            return Parsed::Other;
        }
        match Head::parse_rest(&mut left) {
            None => Parsed::Unfinished,
            Some(Some((head, mark))) if left.0.is_empty() => Parsed::Head(Box::new(head), mark),
            Some(_) => Parsed::Other,
        }
    }

    /// Parses the header after the magic: `None` if more bytes are needed, `Some(None)` if the file is
    /// not a shard.
    fn parse_rest(left: &mut ByteReader<'_>) -> Option<Option<(Head, ShardMark)>> {
        let Some(len) = number(left)? else { return Some(None) };
        let text = left.bytes(len as usize)?;
        let Some((text, mark)) = std::str::from_utf8(text).ok().and_then(ShardMark::split) else {
            return Some(None);
        };
        let listed = left.0;
        let Some(count) = number(left)? else { return Some(None) };
        let (mut contigs, mut start) = (Vec::new(), 0u32);
        for _ in 0..count {
            let Some(len) = number(left)? else { return Some(None) };
            let name = left.bytes(len as usize)?.strip_suffix(b"\0");
            let name = name.and_then(|name| String::from_utf8(name.to_vec()).ok());
            let (Some(name), Some(len)) = (name, number(left)?) else { return Some(None) };
            contigs.push(Contig { name, start, len, repeated: 0 });
            start = start.saturating_add(len);
        }
        let listed = listed[..listed.len() - left.0.len()].to_vec();
        Some(Some((Head { text: text.to_owned(), listed, contigs }, mark)))
    }

    /// Returns the BAM header without the mark, as a single run would write it.
    pub(super) fn without_mark(&self) -> Vec<u8> {
        let mut bytes = b"BAM\x01".to_vec();
        bytes.extend_from_slice(&(self.text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(self.text.as_bytes());
        bytes.extend_from_slice(&self.listed);
        bytes
    }

    pub(super) fn is_sorted(&self) -> bool {
        self.text.lines().next().is_some_and(|line| line.ends_with("\tSO:coordinate"))
    }

    /// Returns the first lines that differ between two headers, for a message; `None` if all lines are equal. The files
    /// that the command names are not compared: those of the same reads may have other names.
    pub(super) fn difference<'h>(&'h self, other: &'h Head) -> Option<[&'h str; 2]> {
        let lines = |head: &'h Head| head.text.lines().map(without_files);
        let differing = lines(self).zip(lines(other)).find(|(own, other)| own != other);
        let same_number = lines(self).count() == lines(other).count();
        let rest = || {
            let is_same = same_number && self.listed == other.listed;
            (!is_same).then_some(["these contigs or read groups", "others"])
        };
        differing.map(|(own, other)| [own, other]).or_else(rest)
    }
}
