//! What a table says of itself if it is but a piece of one.

use std::fmt;

use merganser_run::Shard;
use merganser_store::{ByteReader, ByteWriter};

/// Tables that are joined to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// All k-mers of a piece of the input.
    Shard,
    /// A piece of the k-mers.
    Range,
}

/// Which piece of which job a table is. Displayed as `shard 2/8`, `range 2/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What was divided.
    pub kind: PieceKind,
    /// Which of them it is.
    pub shard: Shard,
    /// The same for pieces that go together: by their inputs and parameters.
    pub job: u64,
}

impl Piece {
    /// Appends the fields of a header.
    pub(super) fn put(self, fields: &mut Vec<u8>) {
        fields.put_u16(self.shard.number());
        fields.put_u16(self.shard.of());
        fields.put_u64(self.job);
    }

    /// Reads them; `None` if there is no such shard.
    pub(super) fn read(kind: PieceKind, fields: &mut ByteReader<'_>) -> Option<Piece> {
        let shard = Shard::new(fields.u16()?, fields.u16()?).ok()?;
        Some(Piece { kind, shard, job: fields.u64()? })
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            PieceKind::Shard => "shard",
            PieceKind::Range => "range",
        };
        write!(formatter, "{kind} {}", self.shard)
    }
}

/// A number that tells jobs apart, of all that they depend on (FNV-1a).
#[derive(Clone, Copy, Debug)]
pub struct JobHash(u64);

impl JobHash {
    /// Of nothing yet.
    #[allow(clippy::new_without_default, reason = "a hash of nothing is no value to assume")]
    pub fn new() -> JobHash {
        JobHash(0xcbf2_9ce4_8422_2325)
    }

    /// That, and some bytes more.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> JobHash {
        let add = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        // The length tells "a", "bc" from "ab", "c".
        let length = (bytes.len() as u64).to_le_bytes();
        JobHash(length.iter().chain(bytes).fold(self.0, add))
    }

    /// The number.
    pub fn finish(self) -> u64 {
        self.0
    }
}
