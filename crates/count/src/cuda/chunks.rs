//! Super-k-mers by bin in device memory, between the phases.

use std::ops::Range;

use merganser_gpu::{ArenaBuffer, Device, DeviceSlice};

/// The records of one batch, by bin.
pub(crate) struct Chunk {
    records: ArenaBuffer<u64>,
    /// Where each bin begins, and the end: k-mers << 32 | records.
    starts: Vec<u64>,
}

/// What a stretch of bins holds.
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
    /// What `starts` say that there is up to a bin.
    pub(crate) fn before(starts: &[u64], bin: usize) -> Load {
        Load { kmers: starts[bin] >> 32, records: starts[bin] & 0xffff_ffff }
    }

    /// What `starts` say that the bins hold.
    pub(crate) fn of(starts: &[u64], bins: &Range<usize>) -> Load {
        let (from, to) = (Load::before(starts, bins.start), Load::before(starts, bins.end));
        Load { kmers: to.kmers - from.kmers, records: to.records - from.records }
    }
}

impl Chunk {
    pub(crate) fn new(records: ArenaBuffer<u64>, starts: Vec<u64>) -> Chunk {
        Chunk { records, starts }
    }

    /// Whose memory it is in.
    pub(crate) fn device(&self) -> &Device {
        self.records.device()
    }

    /// What the bins hold in this chunk.
    pub(crate) fn load(&self, bins: &Range<usize>) -> Load {
        Load::of(&self.starts, bins)
    }

    /// The bins' records, `words` words each.
    pub(crate) fn records(&self, bins: &Range<usize>, words: usize) -> DeviceSlice<'_, u64> {
        let word = |bin| Load::before(&self.starts, bin).records as usize * words;
        self.records.view().slice(word(bins.start)..word(bins.end))
    }
}
