//! Where the table goes, opened before any work.

use std::path::Path;
use std::time::Duration;

use merganser_io::{AtomicFile, Output, OutputSet};
use merganser_run::Cancel;
use merganser_seq::kmer::Kmer;

use super::Outcome;
use crate::emit::{Encoder, Sink, Source, emit};
use crate::kff::{KffFormat, KffSink};
use crate::kmc::{KmcFormat, KmcSink, Layout};
#[cfg(feature = "parquet")]
use crate::parquet::{ParquetFormat, ParquetSink};
use crate::table::{Header, MgkFormat, MgkSink, section_bits};
use crate::text::{Style, TextFormat};
use crate::{Config, Error, Format};

/// The open outputs of each format.
pub(crate) enum Target {
    Mgk(AtomicFile),
    Kmc([AtomicFile; 2]),
    Kff(AtomicFile),
    Tsv(Output),
    #[cfg(feature = "parquet")]
    Parquet(AtomicFile),
    None,
}

impl Target {
    pub(crate) fn create(
        config: &Config,
        output: Option<&Path>,
        outputs: &OutputSet,
    ) -> Result<Target, Error> {
        let path = || {
            output.ok_or_else(|| {
                Error::Config("an output file is needed: -o FILE, or --format none".into())
            })
        };
        Ok(match config.format {
            Format::Mgk => Target::Mgk(outputs.file(path()?)?),
            Format::Kmc => {
                let [prefixes, suffixes] = KmcSink::names(path()?);
                Target::Kmc([outputs.file(&prefixes)?, outputs.file(&suffixes)?])
            }
            Format::Kff => Target::Kff(outputs.file(path()?)?),
            Format::Tsv => Target::Tsv(outputs.output(path()?)?),
            #[cfg(feature = "parquet")]
            Format::Parquet => Target::Parquet(outputs.file(path()?)?),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(Error::Config(crate::NO_PARQUET.into())),
            Format::None => Target::None,
        })
    }

    /// Sorts and writes the table; returns the time the disk took to confirm.
    pub(crate) fn write<K: Kmer>(
        self,
        config: &Config,
        source: &dyn Source<K>,
        outcome: &Outcome,
        cancel: &Cancel,
    ) -> Result<Duration, Error> {
        let header = header(config, outcome);
        let k = config.k;
        let bits = header.section_bits;
        let writing = Writing { source, bits, threads: config.threads, cancel };
        match self {
            Target::Mgk(file) => writing.by(&MgkFormat, MgkSink::new(file, header)?),
            Target::Kmc(files) => {
                let layout = Layout::best(k, header.kmers, header.largest_count);
                writing.by(&KmcFormat { layout }, KmcSink::new(files, layout, header)?)
            }
            Target::Kff(file) => {
                let format = KffFormat::new(k, header.largest_count);
                let sink = KffSink::new(file, header, &format)?;
                writing.by(&format, sink)
            }
            Target::Tsv(output) => writing.by(&TextFormat { k, style: Style::Tsv }, output),
            #[cfg(feature = "parquet")]
            Target::Parquet(file) => {
                writing.by(&ParquetFormat { k }, ParquetSink::new(file, &header)?)
            }
            Target::None => Ok(Duration::ZERO),
        }
    }
}

struct Writing<'w, K> {
    source: &'w dyn Source<K>,
    bits: u32,
    threads: usize,
    cancel: &'w Cancel,
}

impl<K: Kmer> Writing<'_, K> {
    fn by<E: Encoder<K>>(&self, encoder: &E, sink: impl Sink<E::Part>) -> Result<Duration, Error> {
        emit(self.source, self.bits, self.threads, self.cancel, encoder, sink)
    }
}

/// What the table will say of itself.
fn header(config: &Config, outcome: &Outcome) -> Header {
    let (least, most) = (config.min_count, config.max_count);
    let histogram = &outcome.histogram;
    let kept = |&(count, _): &(u32, u64)| (least..=most).contains(&count);
    Header {
        k: config.k,
        canonical: config.canonical,
        saturated: outcome.saturated,
        min_count: least,
        max_count: most,
        min_quality: config.min_quality,
        kmers: outcome.kept_kmers,
        occurrences: histogram.total(least, most),
        largest_count: histogram.iter().filter(kept).last().map_or(0, |(count, _)| count),
        total_kmers: outcome.total_kmers,
        distinct_kmers: histogram.distinct(1, u32::MAX),
        section_bits: section_bits(outcome.kept_kmers, config.k),
        ..Header::default()
    }
}
