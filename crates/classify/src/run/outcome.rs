//! What a run found.

use merganser_gpu::DeviceInfo;
use merganser_run::Stages;

use crate::GpuTimes;
use crate::ReferenceHits;
use crate::output::TargetOrTaxon;
use merganser_taxreport::report::FeatureCounts;
use merganser_taxreport::report::Tally;

/// What a run found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Outcome<'a> {
    /// Reads; a pair is one.
    pub records: u64,
    /// Secondary and supplementary alignments of the inputs, whose reads stand in others.
    pub skipped_alignments: u64,
    /// Where the time went. Threads and devices work side by side: what a stage took is the sum over
    /// all threads. `reading`, `parsing`, `gathering` and `waiting_for_reads` end with a batch of
    /// reads; `finding` is looking for candidates on the CPU or, with devices, sending reads off;
    /// `waiting_for_devices` and `collecting` are theirs; then come `deciding` and making lines,
    /// `waiting_for_turns` until earlier batches are written, and `writing`, by one thread at a time.
    pub stages: Stages,
    /// The GPUs that computed.
    pub devices: Vec<DeviceInfo>,
    /// The GPUs' own clocks.
    pub gpu_times: Option<GpuTimes>,
    /// The largest resident size of the process so far, in bytes, if the system tells it.
    pub peak_memory: Option<u64>,
    /// Bases of all reads.
    pub bases: u64,
    /// Reads that got a taxon.
    pub classified: u64,
    /// Reads that took no part for their length.
    pub passed_over: u64,
    /// Reads by taxon.
    pub tally: Tally,
    /// Reads by the taxa of genomes, below the lowest rank, too, for Kraken's report: a clade has as
    /// many as in [`tally`](Self::tally) down to that rank.
    pub by_genome: Tally,
    /// With [`report_minimizer_data`](merganser_kraken2::Kraken2Config::report_minimizer_data).
    pub features: Option<FeatureCounts>,
    /// With [`RunConfig::references`](super::RunConfig::references).
    pub references: Option<ReferenceHits<'a>>,
    /// References that were left out for their coverage.
    pub low_coverage: u64,
    /// Tells the reads from others, for partial results.
    pub(crate) reads_sum: u64,
}

impl Outcome<'_> {
    /// Counts a read, whose mates have so many bases.
    pub(super) fn count(&mut self, found: TargetOrTaxon, (first, second): (usize, Option<usize>)) {
        self.records += 1;
        self.bases += (first + second.unwrap_or(0)) as u64;
        self.classified += u64::from(found.is_some());
        self.tally.count(found.map(|(node, _)| node), found.and_then(|(_, target)| target));
    }

    /// Adds what another worker has counted.
    pub(super) fn add(&mut self, other: Outcome<'_>) {
        self.records += other.records;
        self.bases += other.bases;
        self.classified += other.classified;
        self.passed_over += other.passed_over;
        self.tally.add(other.tally);
        self.by_genome.add(other.by_genome);
        self.reads_sum = self.reads_sum.wrapping_add(other.reads_sum);
    }
}
