//! The outcome of a run.

use merganser_gpu::DeviceInfo;
use merganser_run::Stages;

use crate::GpuTimes;
use crate::ReferenceHits;
use crate::output::TargetOrTaxon;
use merganser_taxreport::by_database::{DatabaseReads, ReadsBySet};
use merganser_taxreport::report::FeatureCounts;
use merganser_taxreport::report::{Tally, TaxonBases};

/// The outcome of a run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Outcome<'a> {
    /// The number of reads; a pair is one.
    pub records: u64,
    /// The number of secondary and supplementary alignments in the inputs. They are skipped, as their reads are in
    /// other records.
    pub skipped_alignments: u64,
    /// The duration of each stage, summed over all threads, which work concurrently with each other and with
    /// devices.
    ///
    /// `reading`, `parsing`, `gathering` and `waiting_for_reads` produce batches of reads. `finding` finds
    /// candidates on the CPU or, with devices, sends reads to them. `waiting_for_devices` and `collecting` occur
    /// only with devices. `deciding` includes formatting lines. `waiting_for_turns` is the time until earlier
    /// batches are written, and `writing` is done by one thread at a time.
    pub stages: Stages,
    /// The GPUs that were used.
    pub devices: Vec<DeviceInfo>,
    /// Times by the GPUs' own clocks.
    pub gpu_times: Option<GpuTimes>,
    /// The largest resident size of the process so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// The number of bases of all reads.
    pub bases: u64,
    /// The number of reads that have a taxon.
    pub classified: u64,
    /// The number of reads that were ignored for their length.
    pub passed_over: u64,
    /// The reads by taxon.
    pub tally: Tally,
    /// The reads by the taxa of genomes, including those below the lowest rank, for Kraken's report. Down to that
    /// rank, a clade has the same number as in [`tally`](Self::tally).
    pub by_genome: Tally,
    /// The bases of the reads by taxon, counted as the reads are in [`tally`](Self::tally) and
    /// [`by_genome`](Self::by_genome): the letters of both mates, as they are in the input.
    pub bases_by_taxon: TaxonBases,
    /// The features by taxon, with
    /// [`report_minimizer_data`](merganser_kraken2::Kraken2Config::report_minimizer_data).
    pub features: Option<FeatureCounts>,
    /// The hits by reference sequence, with [`RunConfig::references`](super::RunConfig::references).
    pub references: Option<ReferenceHits<'a>>,
    /// The number of references that were ignored for their coverage.
    pub low_coverage: u64,
    /// The classified reads of [`by_genome`](Self::by_genome) by the databases that support their taxon, with
    /// [`database_report`](merganser_kraken2::Kraken2Config::database_report): a sequence in the clade of the taxon has at
    /// least one of the read's features.
    pub by_database: DatabaseReads,
    /// The reads by database that have yet to be added to [`by_database`](Self::by_database).
    pub(super) by_set: ReadsBySet,
    /// A checksum that identifies the reads, for partial results.
    pub(crate) reads_sum: u64,
}

impl Outcome<'_> {
    /// Counts a read; the lengths are those of its mates. `by_genome` is its node for [`by_genome`](Self::by_genome).
    pub(super) fn count(
        &mut self,
        found: TargetOrTaxon,
        by_genome: Option<u32>,
        (first, second): (usize, Option<usize>),
    ) {
        let bases = (first + second.unwrap_or(0)) as u64;
        self.records += 1;
        self.bases += bases;
        self.classified += u64::from(found.is_some());
        let (node, target) = (found.map(|(node, _)| node), found.and_then(|(_, target)| target));
        self.tally.count(node, target);
        self.by_genome.count(by_genome, None);
        self.bases_by_taxon.tally.count_bases(node, target, bases);
        self.bases_by_taxon.by_genome.count_bases(by_genome, None, bases);
    }

    /// Adds the counts of another worker.
    pub(super) fn add(&mut self, other: Outcome<'_>) {
        self.records += other.records;
        self.bases += other.bases;
        self.classified += other.classified;
        self.passed_over += other.passed_over;
        self.tally.add(other.tally);
        self.by_genome.add(other.by_genome);
        self.bases_by_taxon.add(other.bases_by_taxon);
        for (key, reads) in other.by_set {
            *self.by_set.entry(key).or_default() += reads;
        }
        self.reads_sum = self.reads_sum.wrapping_add(other.reads_sum);
    }
}
