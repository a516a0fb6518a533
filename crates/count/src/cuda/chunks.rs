//! Super-k-mers by bin in device memory between the phases.

use std::ops::Range;

use merganser_gpu::{ArenaBuffer, Device, DeviceSlice};

/// The records of one batch, sorted by bin.
pub(crate) struct Chunk {
    records: ArenaBuffer<u64>,
    /// The totals before each bin, and at the end: k-mers << 32 | records.
    starts: Vec<u64>,
}

/// The numbers of k-mers and records in a range of bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) kmers: u64,
    pub(crate) records: u64,
}

impl Load {
    pub(crate) fn add(&mut self, other: Load) {
        self.kmers += other.kmers;
        self.records += other.records;
    }
}

impl Load {
    /// Returns the load of all bins before `bin`, according to `starts`.
    pub(crate) fn before(starts: &[u64], bin: usize) -> Load {
        Load { kmers: starts[bin] >> 32, records: starts[bin] & 0xffff_ffff }
    }

    /// Returns the load of `bins`, according to `starts`.
    pub(crate) fn of(starts: &[u64], bins: &Range<usize>) -> Load {
        let (from, to) = (Load::before(starts, bins.start), Load::before(starts, bins.end));
        Load { kmers: to.kmers - from.kmers, records: to.records - from.records }
    }
}

impl Chunk {
    pub(crate) fn new(records: ArenaBuffer<u64>, starts: Vec<u64>) -> Chunk {
        Chunk { records, starts }
    }

    /// Returns the device whose memory holds the records.
    pub(crate) fn device(&self) -> &Device {
        self.records.device()
    }

    /// Returns the load of `bins` in this chunk.
    pub(crate) fn load(&self, bins: &Range<usize>) -> Load {
        Load::of(&self.starts, bins)
    }

    /// Returns the records of `bins`; each has `words` words.
    pub(crate) fn records(&self, bins: &Range<usize>, words: usize) -> DeviceSlice<'_, u64> {
        let word = |bin| Load::before(&self.starts, bin).records as usize * words;
        self.records.view().slice(word(bins.start)..word(bins.end))
    }
}
