//! How much the search for hits had to look at, and the time it took.

use std::time::Duration;

/// What the search for hits met, and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Places where a read may lie: the diagonals of its seeds' occurrences, each once a read and
    /// strand.
    pub candidates: u64,
    /// Candidates that the filter rejected.
    pub rejected: u64,
    /// Candidates that were verified.
    pub verified: u64,
    /// Reads too short for seeds, for which the reference was scanned.
    pub scanned: u64,
    /// Reads whose hits a device found.
    pub gpu_reads: u64,
    /// Time of all threads in each stage.
    pub times: ThreadTimes,
    /// Time of all streams of devices in each stage; they run side by side.
    pub device: DeviceTimes,
}

/// Time of all threads, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// Choosing and looking up seeds, collecting candidates.
    pub seeding: Duration,
    /// Rejecting candidates.
    pub filter: Duration,
    /// Good ends, hits.
    pub verification: Duration,
    /// Waiting for devices.
    pub device: Duration,
    /// Alignments, records, compression and writing.
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

/// How long a device took, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTimes {
    /// Choosing and looking up seeds.
    pub seeding: Duration,
    /// Listing, sorting, filtering and merging candidates.
    pub candidates: Duration,
    /// Good ends.
    pub verification: Duration,
    /// Hits and their alignments, and copying them.
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
