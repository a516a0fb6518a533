//! The output of the table, opened before any work.

use std::path::Path;
use std::time::Duration;

use merganser_io::OutputSet;
use merganser_kmers::Header;
use merganser_kmers::formats::{Encoder, Sink, TableOutput};
use merganser_run::{Cancel, ConfigError};
use merganser_seq::kmer::Kmer;

use super::Outcome;
use crate::emit::{TableContents, Workers, emit};
use crate::job::Job;
use crate::plan;
use crate::{Config, Error, Format};

/// Opens the output files of the table at `output`.
pub(crate) fn create(
    config: &Config,
    output: Option<&Path>,
    outputs: &OutputSet,
) -> Result<TableOutput, Error> {
    if output.is_none() && config.format != Format::None {
        let message = "an output file is needed: `output` FILE, or `format` none";
        return Err(Error::Config(ConfigError::new(message)));
    }
    Ok(TableOutput::create(config.format, output, outputs)?)
}

/// Sorts and writes the table; returns the time that syncing to disk took.
pub(crate) fn write<K: Kmer>(
    table: TableOutput,
    job: Job<'_>,
    source: &dyn TableContents<K>,
    outcome: &Outcome,
    cancel: &Cancel,
) -> Result<Duration, Error> {
    let mut header = header(job.config, outcome);
    header.piece = job.piece;
    let (bits, largest) = (header.section_bits(), header.largest_count);
    let waiting = plan::sorted_at_once::<K>(job).saturating_mul(job.threads as u64);
    let workers = Workers { threads: job.threads, waiting };
    table.open(header, largest, Writing { source, bits, workers, cancel })
}

/// The source of the k-mers and the settings of the workers that write them.
struct Writing<'w, K> {
    source: &'w dyn TableContents<K>,
    bits: u32,
    workers: Workers,
    cancel: &'w Cancel,
}

impl<K: Kmer> merganser_kmers::formats::Writing<K> for Writing<'_, K> {
    type Written = Duration;
    type Error = Error;

    fn write<E: Encoder<K>, S: Sink<E::Encoded>>(
        self,
        encoder: &E,
        sink: S,
    ) -> Result<Duration, Error> {
        emit(self.source, self.bits, self.workers, self.cancel, encoder, sink)
    }
}

/// Returns the header of the table.
fn header(config: &Config, outcome: &Outcome) -> Header {
    let (least, most) = (config.least(), config.most());
    let histogram = &outcome.histogram;
    let kept = |&(count, _): &(u32, u64)| (least..=most).contains(&count);
    let mut header = Header::new(config.k, outcome.kept_kmers);
    header.canonical = config.is_canonical();
    header.saturated = outcome.saturated;
    header.min_count = least;
    header.max_count = most;
    header.min_quality = config.min_qual;
    header.homopolymer_compressed = config.hpc;
    header.only_given = config.panel.is_some();
    header.occurrences = histogram.total(least, most);
    header.largest_count = histogram.iter().filter(kept).last().map_or(0, |(count, _)| count);
    header.total_kmers = outcome.total_kmers;
    header.distinct_kmers = histogram.distinct(1, u32::MAX);
    header
}
