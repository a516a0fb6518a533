//! Pieces: tables that are only a part of a whole one.

use std::fmt;

use merganser_run::Shard;
use merganser_store::{ByteReader, ByteWriter};

/// The kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// All k-mers of a part of the input.
    Shard,
    /// A part of the k-mers of the whole input.
    Range,
}

/// The identity of a piece. Displayed as `shard 2/8`, `range 2/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The kind of the piece.
    pub kind: PieceKind,
    /// The number of the piece, and the number of all pieces.
    pub shard: Shard,
    /// A hash of the inputs and the parameters, equal for pieces that belong together.
    pub job: u64,
}

impl Piece {
    /// Appends the piece to the fields of a header.
    pub(super) fn put(self, fields: &mut Vec<u8>) {
        fields.put_u16(self.shard.number());
        fields.put_u16(self.shard.of());
        fields.put_u64(self.job);
    }

    /// Reads a piece from the fields of a header; `None` if the shard number is invalid.
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

/// A hash (FNV-1a) that identifies a job by everything that its results depend on.
#[derive(Clone, Copy, Debug)]
pub struct JobHash(u64);

impl JobHash {
    /// Creates the hash of nothing.
    #[allow(clippy::new_without_default, reason = "an empty hash is not a useful default")]
    pub fn new() -> JobHash {
        JobHash(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes to the hash.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> JobHash {
        let add = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        // The length distinguishes "a", "bc" from "ab", "c".
        let length = (bytes.len() as u64).to_le_bytes();
        JobHash(length.iter().chain(bytes).fold(self.0, add))
    }

    /// Returns the hash.
    pub fn finish(self) -> u64 {
        self.0
    }
}
