//! The formats of tables: one module for each, with its reader and its writer.
//!
//! A table is written while it is computed: workers encode parts of its k-mers, and a sink writes the parts in
//! order. [`TableOutput`] creates the encoder and the sink of a format and passes them to the code that
//! computes the table, a [`Writing`].

pub(crate) mod fastk;
pub(crate) mod jf;
pub(crate) mod kff;
pub(crate) mod kmc;
mod memory;
pub(crate) mod meryl;
pub(crate) mod mgk;
mod packed;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod text;
mod write;

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use merganser_io::{AtomicFile, FileKind, Output, OutputSet};
use merganser_seq::kmer::Kmer;

use self::jf::{JfFormat, JfSink};
use self::kff::{KffFormat, KffSink};
use self::kmc::{KmcFormat, KmcSink, Layout};
use self::mgk::{Header, MgkFormat, MgkSink};
#[cfg(feature = "parquet")]
use self::parquet::{ParquetFormat, ParquetSink};
use self::text::{Style, TextFormat};
pub(crate) use self::write::Ordered;
pub use self::write::{EncodedSection, Encoder, MgkBlocks, Sink, Totals, Writing};
use merganser_run::ConfigError;

use crate::{Error, MemoryTable};
use memory::{MemoryFormat, MemorySink};

/// The message if Parquet is requested but not built in.
#[cfg(not(feature = "parquet"))]
pub(crate) const NO_PARQUET: &str = "Parquet is not built into this program: build it with cargo build --release --features parquet";

merganser_run::named! {
    /// The output format of a table.
    #[derive(Default)]
    pub enum TableFormat {
        /// An `.mgk` table.
        #[default]
        Mgk = "mgk",
        /// A KMC1 database.
        Kmc = "kmc",
        /// A KFF file.
        Kff = "kff",
        /// Jellyfish's binary format.
        Jf = "jf",
        /// `KMER<TAB>COUNT` lines.
        Tsv = "tsv",
        /// `>COUNT`, then `KMER` on its own line.
        Fasta = "fasta",
        /// `KMER COUNT` lines.
        Jellyfish = "jellyfish",
        /// Parquet with the columns `kmer` and `count`; requires the feature `parquet`.
        Parquet = "parquet",
        /// No table: only the histogram and the numbers.
        None = "none",
    }
}

impl TableFormat {
    /// Whether a table of this format may have k-mers with a count of 0.
    pub fn has_zeros(self) -> bool {
        matches!(
            self,
            TableFormat::Tsv | TableFormat::Fasta | TableFormat::Jellyfish | TableFormat::None
        )
    }
}

/// The open output files of a table.
pub struct TableOutput(Files);

enum Files {
    Mgk(AtomicFile),
    Kmc([AtomicFile; 2]),
    Kff(AtomicFile),
    Jf(AtomicFile),
    Text(Output, Style),
    #[cfg(feature = "parquet")]
    Parquet(AtomicFile),
    Memory(Sender<MemoryTable>),
    None,
}

impl TableOutput {
    /// Opens the files of a table at `path`, which is required unless the format is [`TableFormat::None`]; they
    /// appear when `outputs` is committed.
    ///
    /// # Errors
    /// If a file cannot be created, or the format is not built in.
    pub fn create(
        format: TableFormat,
        path: Option<&Path>,
        outputs: &OutputSet,
    ) -> Result<TableOutput, Error> {
        let path = || {
            path.ok_or_else(|| {
                Error::Config(ConfigError::new("an output file is needed: `output` FILE"))
            })
        };
        let patched = || {
            let file = outputs.file(path()?)?;
            file.refuse_unseekable()?;
            Ok::<_, Error>(file)
        };
        let text = |style| Ok::<_, Error>(Files::Text(outputs.output(path()?)?, style));
        Ok(TableOutput(match format {
            TableFormat::Mgk => Files::Mgk(patched()?),
            TableFormat::Kmc => {
                let [prefixes, suffixes] = kmc::names(path()?);
                Files::Kmc([outputs.file(&prefixes)?, outputs.file(&suffixes)?])
            }
            TableFormat::Kff => Files::Kff(patched()?),
            TableFormat::Jf => Files::Jf(outputs.file(path()?)?),
            TableFormat::Tsv => text(Style::Tsv)?,
            TableFormat::Fasta => text(Style::Fasta)?,
            TableFormat::Jellyfish => text(Style::Jellyfish)?,
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Files::Parquet(outputs.file(path()?)?),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => return Err(Error::Config(ConfigError::new(NO_PARQUET))),
            TableFormat::None => Files::None,
        }))
    }

    /// Returns an output without files, and a receiver that gets the table in memory once it is written.
    /// Nothing is received if writing fails.
    pub fn in_memory() -> (TableOutput, Receiver<MemoryTable>) {
        let (sender, receiver) = channel();
        (TableOutput(Files::Memory(sender)), receiver)
    }

    /// Returns an output that discards the table.
    pub(crate) fn none() -> TableOutput {
        TableOutput(Files::None)
    }

    /// Returns the output of an `.mgk` table to a file.
    pub(crate) fn own(file: AtomicFile) -> TableOutput {
        TableOutput(Files::Mgk(file))
    }

    /// Calls `writing` with the encoder and the sink of this output, for a table with this header. The number
    /// of k-mers in the header is an upper bound, and `largest` is an upper bound of the counts.
    ///
    /// # Errors
    /// If a file cannot be written, or `writing` fails.
    pub fn open<K: Kmer, W: Writing<K>>(
        self,
        header: Header,
        largest: u32,
        writing: W,
    ) -> Result<W::Written, W::Error> {
        let k = header.k;
        match self.0 {
            Files::Mgk(file) => writing.write(&MgkFormat, MgkSink::new(file, header)?),
            Files::Kmc(files) => {
                let layout = Layout::best(k, header.kmers, largest);
                writing.write(&KmcFormat { layout }, KmcSink::new(files, layout, header)?)
            }
            Files::Kff(file) => {
                let format = KffFormat::new(k, largest);
                let sink = KffSink::new(file, header, &format)?;
                writing.write(&format, sink)
            }
            Files::Jf(file) => writing.write(&JfFormat { k }, JfSink::new(file, &header)?),
            Files::Text(output, style) => writing.write(&TextFormat { k, style }, output),
            #[cfg(feature = "parquet")]
            Files::Parquet(file) => {
                writing.write(&ParquetFormat { k }, ParquetSink::new(file, &header)?)
            }
            Files::Memory(done) => {
                writing.write(&MemoryFormat { k }, MemorySink::new(header, done))
            }
            Files::None => writing.write(&Nothing, Nothing),
        }
    }
}

/// Whether there is a file or a pipe at a path.
pub(crate) fn is_no_folder(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

/// The description of tables in messages.
pub(crate) const TABLE: &str =
    "table of k-mers (.mgk, KMC, KFF, Jellyfish, FastK, meryl, Parquet or KMER COUNT lines)";

/// Returns the message for a file or folder that is not a table.
pub(crate) fn not_a_table(path: &Path) -> String {
    let wanted = &format!("a {TABLE}");
    match FileKind::of_path(path) {
        // A text that begins like a table but is not one.
        None | Some(FileKind::Counts) => format!("not {wanted}"),
        // Its contents were recognized below the compression.
        Some(FileKind::Table | FileKind::Kff | FileKind::Jellyfish | FileKind::Parquet) => {
            format!("a compressed {TABLE}, which must be decompressed first")
        }
        Some(kind) => kind.instead_of(wanted, Some("merganser count makes a table of it")),
    }
}

/// An encoder and sink that write nothing.
struct Nothing;

impl<K> Encoder<K> for Nothing {
    type Encoded = ();
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
