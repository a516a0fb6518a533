//! The first 128 bytes of a table.

use merganser_seq::kmer::{Kmer, MAX_K};

use super::piece::{Piece, PieceKind};

/// The file's first bytes: a high byte, a name, and line ends that a text-mode copy would change.
pub(crate) const MAGIC: [u8; 8] = *b"\x89MGK\r\n\x1a\n";
/// The newest version of the format. Programs of before must not take tables of homopolymer-compressed reads for others, nor pieces
/// for whole tables; all other tables are of the first one.
pub(crate) const VERSION: u32 = 3;
const PIECES_VERSION: u32 = 3;
const HOMOPOLYMERS_VERSION: u32 = 2;
const FIRST_VERSION: u32 = 1;
/// Bytes of the header.
pub(crate) const BYTES: usize = 128;

const CANONICAL: u32 = 1;
const SATURATED: u32 = 2;
const HOMOPOLYMER_COMPRESSED: u32 = 4;
const SHARD: u32 = 8;
const RANGE: u32 = 16;

/// What a table says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Bases of a k-mer.
    pub k: usize,
    /// k-mers and their reverse complements were counted together.
    pub canonical: bool,
    /// Runs of the same base were made one base before k-mers were counted.
    pub homopolymer_compressed: bool,
    /// Some count is larger than `u32::MAX` and stands as that.
    pub saturated: bool,
    /// The least count that was kept.
    pub min_count: u32,
    /// The largest count that was kept.
    pub max_count: u32,
    /// Bases below this quality broke k-mers.
    pub min_quality: Option<u8>,
    /// Distinct k-mers in the table.
    pub kmers: u64,
    /// The sum of their counts.
    pub occurrences: u64,
    /// The largest count in the table.
    pub largest_count: u32,
    /// k-mers of the input, before any cut.
    pub total_kmers: u64,
    /// Distinct k-mers of the input, before any cut.
    pub distinct_kmers: u64,
    /// What it is a piece of, if it is but that.
    pub piece: Option<Piece>,
    /// First bits of a k-mer that choose its section.
    pub(crate) section_bits: u32,
    pub(crate) blocks: u64,
    pub(crate) index_offset: u64,
    pub(crate) sections_offset: u64,
    pub(crate) file_bytes: u64,
    pub(crate) index_crc: u32,
}

impl Header {
    /// The header of a table of so many k-mers of `k` bases, of which nothing else is known yet.
    pub fn new(k: usize, kmers: u64) -> Header {
        Header { k, kmers, section_bits: section_bits(kmers, k), ..Header::default() }
    }

    /// First bits of a k-mer that choose its section: who writes a table encodes section by section.
    pub fn section_bits(&self) -> u32 {
        self.section_bits
    }

    /// The header's bytes, its own checksum last.
    pub(crate) fn to_bytes(&self) -> [u8; BYTES] {
        let flags = u32::from(self.canonical) * CANONICAL
            + u32::from(self.saturated) * SATURATED
            + u32::from(self.homopolymer_compressed) * HOMOPOLYMER_COMPRESSED
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
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        let small = [
            (8, version),
            (12, BYTES as u32),
            (16, self.k as u32),
            (20, flags),
            (24, self.min_count),
            (28, self.max_count),
            (96, self.section_bits),
            (100, self.largest_count),
            (104, self.index_crc),
            (108, quality),
        ];
        small.into_iter().for_each(|(at, value)| value.store(&mut bytes[at..]));
        let large = [
            (32, self.kmers),
            (40, self.occurrences),
            (48, self.total_kmers),
            (56, self.distinct_kmers),
            (64, self.blocks),
            (72, self.index_offset),
            (80, self.sections_offset),
            (88, self.file_bytes),
        ];
        large.into_iter().for_each(|(at, value)| value.store(&mut bytes[at..]));
        if let Some(piece) = self.piece {
            bytes[112..124].copy_from_slice(&piece.to_bytes());
        }
        crc32fast::hash(&bytes[..124]).store(&mut bytes[124..]);
        bytes
    }

    /// Reads a header.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Header, String> {
        if bytes.get(..8) != Some(&MAGIC[..]) {
            return Err("not a merganser k-mer table (.mgk)".into());
        }
        let u32_at = |at: usize| u32::load(&bytes[at..]);
        if bytes.len() < BYTES {
            return Err("the table is truncated within its header: count again".into());
        }
        if u32_at(124) != crc32fast::hash(&bytes[..124]) || u32_at(12) as usize != BYTES {
            return Err("the header is damaged (checksum): count again".into());
        }
        if u32_at(8) > VERSION {
            return Err(format!(
                "table format {} is newer than this program's {VERSION}: use a newer merganser",
                u32_at(8)
            ));
        }
        let u64_at = |at: usize| u64::load(&bytes[at..]);
        let piece = piece(u32_at(20), &bytes[112..124])?;
        let header = Header {
            piece,
            k: u32_at(16) as usize,
            canonical: u32_at(20) & CANONICAL != 0,
            saturated: u32_at(20) & SATURATED != 0,
            homopolymer_compressed: u32_at(20) & HOMOPOLYMER_COMPRESSED != 0,
            min_count: u32_at(24),
            max_count: u32_at(28),
            min_quality: u32_at(108).checked_sub(1).map(|q| q as u8),
            kmers: u64_at(32),
            occurrences: u64_at(40),
            largest_count: u32_at(100),
            total_kmers: u64_at(48),
            distinct_kmers: u64_at(56),
            section_bits: u32_at(96),
            blocks: u64_at(64),
            index_offset: u64_at(72),
            sections_offset: u64_at(80),
            file_bytes: u64_at(88),
            index_crc: u32_at(104),
        };
        header.check()?;
        Ok(header)
    }

    /// Numbers that no writer of ours writes: caught here, so that readers may rely on them.
    fn check(&self) -> Result<(), String> {
        let entry = super::index::entry_bytes(self.k.clamp(1, MAX_K)) as u64;
        let sections = 8 * ((1u64 << self.section_bits.min(16)) + 1);
        let sound = (1..=MAX_K).contains(&self.k)
            && self.section_bits <= 16.min(2 * self.k as u32)
            && self.index_offset >= BYTES as u64
            && self.blocks.checked_mul(entry).and_then(|b| b.checked_add(self.index_offset))
                == Some(self.sections_offset)
            && self.sections_offset.checked_add(sections).is_some_and(|end| self.ends_at(end))
            && self.kmers <= self.blocks.saturating_mul(super::block::MOST as u64);
        if sound { Ok(()) } else { Err("the header makes no sense: count again".into()) }
    }

    /// Whether the file ends where its section table does; a range has a histogram behind it.
    fn ends_at(&self, end: u64) -> bool {
        match self.piece {
            Some(Piece { kind: PieceKind::Range, .. }) => {
                self.file_bytes >= end && (self.file_bytes - end).is_multiple_of(HISTOGRAM_ROW)
            }
            _ => self.file_bytes == end,
        }
    }
}

/// Bytes of a row of a histogram: a count (u32) and how many k-mers have it (u64).
pub(super) const HISTOGRAM_ROW: u64 = 12;

/// The piece that flags and bytes tell of.
fn piece(flags: u32, bytes: &[u8]) -> Result<Option<Piece>, String> {
    let kind = match flags & (SHARD | RANGE) {
        0 => return Ok(None),
        SHARD => PieceKind::Shard,
        RANGE => PieceKind::Range,
        _ => return Err("the header makes no sense: count again".into()),
    };
    let piece = bytes.try_into().ok().and_then(|bytes| Piece::from_bytes(kind, bytes));
    piece.map(Some).ok_or_else(|| "the header makes no sense: count again".into())
}

/// First bits of a k-mer that choose its section, for a table of `kmers` k-mers of `k` bases: a
/// section has some 4,096 k-mers or more, and there are at most 4,096 sections.
pub(crate) fn section_bits(kmers: u64, k: usize) -> u32 {
    kmers.max(1).ilog2().saturating_sub(12).min(12).min(2 * k as u32)
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
            let mut damaged = bytes;
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
        crc32fast::hash(&bytes[..124]).store(&mut bytes[124..]);
        assert!(Header::from_bytes(&bytes).is_err_and(|e| e.contains("newer")));
        assert!(Header::from_bytes(&bytes[..15]).is_err_and(|e| e.contains("truncated")));
    }
}
