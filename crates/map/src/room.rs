//! The number of hits of a read or pair for which a thread has memory.

use crate::cpu::End;
use crate::hits::Hit;
use crate::{Config, Error, Select, pairs, rescue};

/// The memory of a thread for the hits of a read, or of each mate of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    bytes: usize,
    /// The bytes of a hit in all lists that hold it.
    hit: usize,
}

impl Room {
    /// Room without a limit.
    pub(crate) const UNLIMITED: Room = Room { bytes: usize::MAX, hit: 1 };

    /// Divides `bytes` of memory among the lists that `config` needs for a read or pair.
    pub(crate) fn new(config: &Config, paired: bool, bytes: u64) -> Room {
        let by_strata = usize::from(config.select != Select::All);
        // A search stratum by stratum also keeps the hits of earlier strata.
        let of_read = size_of::<Hit>() * (1 + by_strata);
        let of_mate = pairs::HIT_BYTES * (1 + by_strata);
        let of_rescue = config.rescue.map_or(0, |_| rescue::HIT_BYTES);
        let (reads, hit) = match paired {
            false => (1, of_read),
            true => (2, of_read + of_mate + of_rescue),
        };
        // A growing list allocates more than it holds, so only 4/5 are used.
        Room { bytes: bytes as usize / reads / 5 * 4, hit }
    }

    /// Returns the maximum number of good ends.
    pub(crate) fn ends(&self) -> usize {
        self.bytes / size_of::<End>()
    }

    /// Returns the maximum number of hits next to this many good ends.
    pub(crate) fn hits(&self, ends: usize) -> usize {
        self.bytes.saturating_sub(ends.saturating_mul(size_of::<End>())) / self.hit
    }

    /// Checks that a read of the batch has no more hits than there is room for.
    ///
    /// # Errors
    /// [`Error::Crowded`] if it has more.
    pub(crate) fn check(&self, hits: usize, ends: usize, read: usize) -> Result<(), Error> {
        if hits > self.hits(ends) { Err(Error::Crowded { read }) } else { Ok(()) }
    }
}
