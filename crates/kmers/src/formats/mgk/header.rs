//! The header: the first 128 bytes of a table.

use merganser_seq::kmer::MAX_K;
use merganser_store::sealed::{Format, magic};
use merganser_store::{ByteReader, ByteWriter};

use super::piece::{JobHash, Piece, PieceKind};

/// The newest version of the format. Each table has the oldest version that can represent it: older programs
/// must not take pieces for whole tables, nor tables of homopolymer-compressed reads for others.
pub(crate) const VERSION: u32 = 3;
const PIECES_VERSION: u32 = 3;
const HOMOPOLYMERS_VERSION: u32 = 2;
const FIRST_VERSION: u32 = 1;
/// The size of the header in bytes.
pub(crate) const BYTES: usize = 128;

pub(crate) const FORMAT: Format = Format {
    magic: magic(b'K'),
    bytes: BYTES,
    used: |_| BYTES,
    states_length: true,
    versions: 0..=VERSION,
    other_version: |version| {
        format!(
            "table format {version} is newer than this program's {VERSION}: use a newer merganser"
        )
    },
    foreign: "not a merganser k-mer table (.mgk)",
    name: "the table ",
    if_cut: "count again",
    if_damaged: "count again",
    if_changed: "count again",
};

const CANONICAL: u32 = 1;
const SATURATED: u32 = 2;
const HOMOPOLYMER_COMPRESSED: u32 = 4;
const SHARD: u32 = 8;
const RANGE: u32 = 16;
/// Older programs ignore this flag: they look up k-mers of such a table correctly.
const ONLY_GIVEN: u32 = 32;

/// The header of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The length of k-mers.
    pub k: usize,
    /// Whether k-mers and their reverse complements were counted together.
    pub canonical: bool,
    /// Whether the reads were homopolymer-compressed before k-mers were counted.
    pub homopolymer_compressed: bool,
    /// Whether the table has only given k-mers of the reads (those of a panel, or of another table), not all of them that
    /// have a count within the bounds.
    pub only_given: bool,
    /// Whether a count exceeds `u32::MAX` and was set to it.
    pub saturated: bool,
    /// The smallest count that was kept.
    pub min_count: u32,
    /// The largest count that was kept.
    pub max_count: u32,
    /// The base quality below which bases broke k-mers.
    pub min_quality: Option<u8>,
    /// The number of distinct k-mers in the table.
    pub kmers: u64,
    /// The sum of their counts.
    pub occurrences: u64,
    /// The largest count in the table.
    pub largest_count: u32,
    /// The number of k-mers of the input, before any cut.
    pub total_kmers: u64,
    /// The number of distinct k-mers of the input, before any cut.
    pub distinct_kmers: u64,
    /// The piece that the table is; `None` for a whole table.
    pub piece: Option<Piece>,
    /// The number of first bits of a k-mer that select its section.
    pub(crate) section_bits: u32,
    pub(crate) blocks: u64,
    pub(crate) index_offset: u64,
    pub(crate) sections_offset: u64,
    pub(crate) file_bytes: u64,
    pub(crate) index_crc: u32,
}

impl Header {
    /// Creates the header of a table with `kmers` k-mers of length `k`, of which nothing else is known yet.
    pub fn new(k: usize, kmers: u64) -> Header {
        Header { k, kmers, section_bits: section_bits(kmers, k), ..Header::default() }
    }

    /// Returns the number of first bits of a k-mer that select its section. Tables are encoded section by section.
    pub fn section_bits(&self) -> u32 {
        self.section_bits
    }

    /// Returns the bytes of the header; its checksum comes last.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let flags = u32::from(self.canonical) * CANONICAL
            + u32::from(self.saturated) * SATURATED
            + u32::from(self.homopolymer_compressed) * HOMOPOLYMER_COMPRESSED
            + u32::from(self.only_given) * ONLY_GIVEN
            + self.piece.map_or(0, |piece| match piece.kind {
                PieceKind::Shard => SHARD,
                PieceKind::Range => RANGE,
            });
        let version = match (self.piece, self.homopolymer_compressed) {
            (Some(_), _) => PIECES_VERSION,
            (None, true) => HOMOPOLYMERS_VERSION,
            (None, false) => FIRST_VERSION,
        };
        let quality = self.min_quality.map_or(0, |q| u32::from(q) + 1);
        let mut fields = Vec::new();
        fields.put_u32s([self.k as u32, flags, self.min_count, self.max_count]);
        fields.put_u64s([self.kmers, self.occurrences, self.total_kmers, self.distinct_kmers]);
        fields.put_u64s([self.blocks, self.index_offset, self.sections_offset, self.file_bytes]);
        fields.put_u32s([self.section_bits, self.largest_count, self.index_crc, quality]);
        if let Some(piece) = self.piece {
            piece.put(&mut fields);
        }
        FORMAT.header(version, &fields)
    }

    /// Parses a header.
    ///
    /// # Errors
    /// A text that tells what is wrong.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Header, String> {
        let (_, mut fields) = FORMAT.read(bytes)?;
        let header = Header::parse(&mut fields).filter(Header::is_sound);
        header.ok_or_else(|| FORMAT.senseless())
    }

    fn parse(fields: &mut ByteReader<'_>) -> Option<Header> {
        let (k, flags) = (fields.u32()? as usize, fields.u32()?);
        Some(Header {
            k,
            canonical: flags & CANONICAL != 0,
            saturated: flags & SATURATED != 0,
            homopolymer_compressed: flags & HOMOPOLYMER_COMPRESSED != 0,
            only_given: flags & ONLY_GIVEN != 0,
            min_count: fields.u32()?,
            max_count: fields.u32()?,
            kmers: fields.u64()?,
            occurrences: fields.u64()?,
            total_kmers: fields.u64()?,
            distinct_kmers: fields.u64()?,
            blocks: fields.u64()?,
            index_offset: fields.u64()?,
            sections_offset: fields.u64()?,
            file_bytes: fields.u64()?,
            section_bits: fields.u32()?,
            largest_count: fields.u32()?,
            index_crc: fields.u32()?,
            min_quality: fields.u32()?.checked_sub(1).map(|q| q as u8),
            piece: match flags & (SHARD | RANGE) {
                0 => None,
                SHARD => Some(Piece::read(PieceKind::Shard, fields)?),
                RANGE => Some(Piece::read(PieceKind::Range, fields)?),
                _ => return None,
            },
        })
    }

    /// Whether the numbers are consistent, which readers rely on.
    fn is_sound(&self) -> bool {
        let entry = super::index::entry_bytes(self.k.clamp(1, MAX_K)) as u64;
        let sections = 8 * ((1u64 << self.section_bits.min(16)) + 1);
        (1..=MAX_K).contains(&self.k)
            && self.section_bits <= 16.min(2 * self.k as u32)
            && self.index_offset >= BYTES as u64
            && self.blocks.checked_mul(entry).and_then(|b| b.checked_add(self.index_offset))
                == Some(self.sections_offset)
            && self.sections_offset.checked_add(sections).is_some_and(|end| self.ends_at(end))
            && self.kmers <= self.blocks.saturating_mul(super::block::MAX as u64)
    }

    /// Whether the file ends after its section table; a range has a histogram there.
    fn ends_at(&self, end: u64) -> bool {
        match self.piece {
            Some(Piece { kind: PieceKind::Range, .. }) => {
                self.file_bytes >= end && (self.file_bytes - end).is_multiple_of(HISTOGRAM_ROW)
            }
            _ => self.file_bytes == end,
        }
    }
}

/// The size of a row of a histogram: a count (u32) and the number of k-mers with it (u64).
pub(super) const HISTOGRAM_ROW: u64 = 12;

/// Returns the number of first bits of a k-mer that select its section, for a table of `kmers` k-mers of length
/// `k`. A section has about 4,096 k-mers or more, and there are at most 4,096 sections.
pub(crate) fn section_bits(kmers: u64, k: usize) -> u32 {
    kmers.max(1).ilog2().saturating_sub(12).min(12).min(2 * k as u32)
}

impl JobHash {
    /// Adds the header of a table, which identifies its content.
    #[must_use]
    pub fn with_header(self, header: &Header) -> JobHash {
        self.with(&header.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_run::Shard;

    fn header() -> Header {
        let (k, blocks) = (28, 3);
        let sections_offset = 1000 + blocks * super::super::index::entry_bytes(k) as u64;
        Header {
            k,
            canonical: true,
            min_count: 2,
            max_count: u32::MAX,
            min_quality: Some(0),
            kmers: 700,
            blocks,
            index_offset: 1000,
            sections_offset,
            file_bytes: sections_offset + 8 * 3,
            section_bits: 1,
            ..Header::default()
        }
    }

    #[test]
    fn headers_come_back_and_damage_is_seen() {
        let bytes = header().to_bytes();
        assert_eq!(Header::from_bytes(&bytes), Ok(header()));
        let given = Header { only_given: true, ..header() };
        assert_eq!(Header::from_bytes(&given.to_bytes()), Ok(given.clone()));
        // Older programs read such a table.
        assert_eq!(given.to_bytes()[8], FIRST_VERSION as u8);
        let shard = Shard::new(2, 3).unwrap();
        let piece = Piece { kind: PieceKind::Shard, shard, job: 0x0123_4567_89ab_cdef };
        let range = Piece { kind: PieceKind::Range, ..piece };
        let file_bytes = header().file_bytes + 5 * HISTOGRAM_ROW;
        let pieces = [
            Header { piece: Some(piece), ..header() },
            Header { piece: Some(range), file_bytes, ..header() },
        ];
        for header in pieces {
            assert_eq!(Header::from_bytes(&header.to_bytes()), Ok(header));
        }
        for at in 0..BYTES {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Header::from_bytes(&damaged).is_err(), "byte {at}");
            assert!(Header::from_bytes(&bytes[..at]).is_err(), "{at} bytes");
        }
    }

    #[test]
    fn a_newer_table_is_named_as_such() {
        let mut bytes = header().to_bytes();
        bytes[8] = 4;
        assert!(Header::from_bytes(&bytes).is_err_and(|e| e.contains("damaged (checksum)")));
        let sum = crc32fast::hash(&bytes[..124]);
        bytes[124..].copy_from_slice(&sum.to_le_bytes());
        assert!(Header::from_bytes(&bytes).is_err_and(|e| e.contains("newer")));
        assert!(Header::from_bytes(&bytes[..15]).is_err_and(|e| e.contains("truncated")));
    }
}
