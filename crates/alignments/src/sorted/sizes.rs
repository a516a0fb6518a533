//! Sizes of the parts that are written.

/// Bytes of a part: the fewest, and the most, where each part is read from many lists.
pub(super) const LEAST_PART: u64 = 1 << 20;
pub(super) const MAX_PART: u64 = 16 << 20;
/// What a thread takes for a part of its size: the part as it was held, as it is written, and
/// compressed, which may wait for its turn.
pub(super) const PART_COPIES: u64 = 5;
