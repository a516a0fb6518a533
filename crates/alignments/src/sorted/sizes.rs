//! The sizes of key ranges in bytes of records.

/// The minimum size of a range.
pub(super) const MIN_PART: u64 = 1 << 20;
/// The maximum size of a range. Ranges are larger than the minimum only if records are read from runs on disk.
pub(super) const MAX_PART: u64 = 16 << 20;
/// The memory of a thread per byte of its range, in bytes: the records as loaded, as text, and compressed; a
/// compressed range may have to wait until it is written.
pub(super) const PART_COPIES: u64 = 5;
