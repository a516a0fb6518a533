//! Counters of the work of a search, and its times.

use std::time::Duration;

/// The work of a search for hits, and its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Candidates: distinct diagonals of the occurrences of seeds, per read and strand.
    pub candidates: u64,
    /// Candidates that the filter rejected.
    pub rejected: u64,
    /// Candidates that were verified.
    pub verified: u64,
    /// Reads too short for seeds, for which the whole reference was scanned.
    pub scanned: u64,
    /// Reads whose hits a device found.
    pub gpu_reads: u64,
    /// Times of the stages, summed over all threads.
    pub times: ThreadTimes,
    /// Times of the stages on devices, summed over all streams, which run concurrently.
    pub device: DeviceTimes,
}

/// Times of the stages, summed over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// The time for choosing and looking up seeds and collecting candidates.
    pub seeding: Duration,
    /// The time for rejecting candidates.
    pub filter: Duration,
    /// The time for verifying windows and selecting hits.
    pub verification: Duration,
    /// The time of waiting for devices.
    pub device: Duration,
    /// The time for alignments, records, compression and writing.
    pub output: Duration,
}

impl Effort {
    pub(crate) fn add(&mut self, other: &Effort) {
        self.candidates += other.candidates;
        self.rejected += other.rejected;
        self.verified += other.verified;
        self.scanned += other.scanned;
        self.times.seeding += other.times.seeding;
        self.times.filter += other.times.filter;
        self.times.verification += other.times.verification;
        self.times.output += other.times.output;
        self.times.device += other.times.device;
        self.gpu_reads += other.gpu_reads;
        self.device.add(&other.device);
    }
}

/// Times of the stages on devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTimes {
    /// The time for choosing and looking up seeds.
    pub seeding: Duration,
    /// The time for listing, sorting, filtering and merging candidates.
    pub candidates: Duration,
    /// The time for verifying windows.
    pub verification: Duration,
    /// The time for selecting hits, aligning them and copying them to the host.
    pub hits: Duration,
}

impl DeviceTimes {
    pub(crate) fn add(&mut self, other: &DeviceTimes) {
        self.seeding += other.seeding;
        self.candidates += other.candidates;
        self.verification += other.verification;
        self.hits += other.hits;
    }
}
