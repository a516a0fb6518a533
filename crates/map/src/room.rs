//! How many hits of a read or pair a thread has memory for.

use crate::cpu::End;
use crate::hits::Hit;
use crate::{Config, Error, Select, pairs, rescue};

/// Memory for the hits of a read, or of each mate of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    bytes: usize,
    /// What a hit takes in all places where it is kept.
    hit: usize,
}

impl Room {
    /// As much as is needed.
    pub(crate) const UNLIMITED: Room = Room { bytes: usize::MAX, hit: 1 };

    /// Room in so many bytes of memory for what `config` wants of reads, or of pairs.
    pub(crate) fn new(config: &Config, paired: bool, bytes: u64) -> Room {
        let by_strata = usize::from(config.select != Select::All);
        // Where strata are looked for one by one, those that are known are kept, too.
        let of_read = size_of::<Hit>() * (1 + by_strata);
        let of_mate = pairs::HIT_BYTES * (1 + by_strata);
        let of_rescue = config.rescue.map_or(0, |_| rescue::HIT_BYTES);
        let (reads, hit) = match paired {
            false => (1, of_read),
            true => (2, of_read + of_mate + of_rescue),
        };
        // A list that grows has room for more than it holds.
        Room { bytes: bytes as usize / reads / 5 * 4, hit }
    }

    /// The most good ends.
    pub(crate) fn ends(&self) -> usize {
        self.bytes / size_of::<End>()
    }

    /// The most hits beside so many good ends.
    pub(crate) fn hits(&self, ends: usize) -> usize {
        self.bytes.saturating_sub(ends.saturating_mul(size_of::<End>())) / self.hit
    }

    /// Sees to it that a read of the batch has no more hits than there is room for.
    ///
    /// # Errors
    /// If it has.
    pub(crate) fn check(&self, hits: usize, ends: usize, read: usize) -> Result<(), Error> {
        if hits > self.hits(ends) { Err(Error::Crowded { read }) } else { Ok(()) }
    }
}
