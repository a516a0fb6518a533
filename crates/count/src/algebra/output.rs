//! Writing a result while it is computed: encoded by all workers, written in order.

use std::path::Path;
use std::time::Duration;

use merganser_io::{AtomicFile, Output, OutputSet};

use crate::Error;
use crate::emit::{Encoder, Sink};
use crate::kff::{KffFormat, KffSink};
use crate::kmc::{KmcFormat, KmcSink, Layout};
#[cfg(feature = "parquet")]
use crate::parquet::{ParquetFormat, ParquetSink};
use crate::table::{Header, MgkFormat, MgkSink};
use crate::text::{Style, TextFormat};

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Our own table.
    Mgk,
    /// A KMC1 database.
    Kmc,
    /// A KFF file.
    Kff,
    /// `KMER<TAB>COUNT` lines.
    Tsv,
    /// `>COUNT`, then `KMER` on its own line.
    Fasta,
    /// `KMER COUNT` lines.
    Jellyfish,
    /// Columns `kmer` and `count`, with the feature `parquet`.
    Parquet,
    /// Not at all: histogram and numbers only.
    None,
}

/// Open files.
pub(super) enum Target {
    Mgk(AtomicFile),
    Kmc([AtomicFile; 2]),
    Kff(AtomicFile),
    Text(Output, Style),
    #[cfg(feature = "parquet")]
    Parquet(AtomicFile),
    None,
}

impl Target {
    pub(super) fn create(
        format: TableFormat,
        path: Option<&Path>,
        outputs: &OutputSet,
    ) -> Result<Target, Error> {
        let path = || path.ok_or_else(|| Error::Config("an output file is needed: -o FILE".into()));
        let text = |style| Ok::<_, Error>(Target::Text(outputs.output(path()?)?, style));
        Ok(match format {
            TableFormat::Mgk => Target::Mgk(outputs.file(path()?)?),
            TableFormat::Kmc => {
                let [prefixes, suffixes] = KmcSink::names(path()?);
                Target::Kmc([outputs.file(&prefixes)?, outputs.file(&suffixes)?])
            }
            TableFormat::Kff => Target::Kff(outputs.file(path()?)?),
            TableFormat::Tsv => text(Style::Tsv)?,
            TableFormat::Fasta => text(Style::Fasta)?,
            TableFormat::Jellyfish => text(Style::Jellyfish)?,
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Target::Parquet(outputs.file(path()?)?),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => return Err(Error::Config(crate::NO_PARQUET.into())),
            TableFormat::None => Target::None,
        })
    }

    /// Gives `writing` the encoder and the sink of this target, for the table that `header`
    /// describes: its k-mers are an upper bound, as is `largest`.
    pub(super) fn open<K, W: Writing<K>>(
        self,
        header: Header,
        largest: u32,
        writing: W,
    ) -> Result<W::Written, Error>
    where
        K: merganser_seq::kmer::Kmer,
    {
        let k = header.k;
        match self {
            Target::Mgk(file) => writing.write(&MgkFormat, MgkSink::new(file, header)?),
            Target::Kmc(files) => {
                let layout = Layout::best(k, header.kmers, largest);
                writing.write(&KmcFormat { layout }, KmcSink::new(files, layout, header)?)
            }
            Target::Kff(file) => {
                let format = KffFormat::new(k, largest);
                let sink = KffSink::new(file, header, &format)?;
                writing.write(&format, sink)
            }
            Target::Text(output, style) => writing.write(&TextFormat { k, style }, output),
            #[cfg(feature = "parquet")]
            Target::Parquet(file) => {
                writing.write(&ParquetFormat { k }, ParquetSink::new(file, &header)?)
            }
            Target::None => writing.write(&Nothing, Nothing),
        }
    }
}

/// What is done with an encoder and a sink, whatever they are.
pub(super) trait Writing<K> {
    type Written;
    fn write<E: Encoder<K>, S: Sink<E::Part>>(
        self,
        encoder: &E,
        sink: S,
    ) -> Result<Self::Written, Error>;
}

/// Writes nothing.
struct Nothing;

impl<K> Encoder<K> for Nothing {
    type Part = ();
    fn encode(&self, _kmers: &[(K, u32)]) {}
}

impl Sink<()> for Nothing {
    fn write(&mut self, _part: ()) -> Result<(), Error> {
        Ok(())
    }

    fn finish(self) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }
}
