//! Tables side by side: a row for each k-mer, a column for each sample.
//!
//! Which k-mers and counts stay follows kmtricks (Lemane et al. 2022): a count is solid if it reaches a minimum; a k-mer
//! has a row if it is solid in enough samples; its counts that are not solid are 0, unless it is solid in so many samples
//! that they are taken for real, too (rescued).

mod concat;
mod dense;
mod format;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
mod sink;

use std::path::Path;

use merganser_io::OutputSet;
use merganser_run::{Cancel, ConfigError, InOrder, InOrderSink, Progress, Resources, Shard};
use merganser_seq::kmer::Kmer;
use merganser_seq::with_kmer;
use merganser_store::shard::JobShard;

use crate::Error;
use crate::algebra::{Cut, Session};
use crate::formats::mgk::{JobHash, section_bits};
use crate::tables::AnyTable;
use crate::tables::clipped::clipped;
pub use concat::concat_matrix;
use dense::kmer_bytes;
use format::{EncodedRows, RowFormat};
use rows::Rows;
use sink::Sink;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cells {
    /// The count of the k-mer in the sample, 0 if it is not there.
    Counts,
    /// 1 if it is there, else 0.
    Presence,
}

merganser_run::named! {
    /// How a matrix is written.
    #[derive(Default)]
    pub enum MatrixFormat {
        /// A line of names, then a line for each k-mer, with tabs.
        #[default]
        Tsv = "tsv",
        /// Binary, with a header of JSON: `docs/formats.md` has the layout.
        Dense = "dense",
        /// A column `kmer` and one for each sample, with the feature `parquet`.
        Parquet = "parquet",
    }
}

/// What of tables becomes a matrix, and how.
// These comments are the help of the command line.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct MatrixConfig {
    /// Make but the rows of the I-th of N ranges of the k-mers of .mgk tables, as --format dense, for
    /// --concat to put together
    #[cfg_attr(feature = "cli", arg(long, value_name = "I/N"))]
    pub range: Option<Shard>,
    /// Write 1 where a k-mer is, not its count
    #[cfg_attr(feature = "cli", arg(long))]
    pub presence: bool,
    /// Counts of N and more are solid
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub solid: u32,
    /// Only k-mers that are solid in N tables or more
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    pub min_samples: usize,
    /// Keep counts that are not solid where the k-mer is solid in N tables or more
    /// [default: none]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub rescue: Option<usize>,

    /// The name of each table's column, and the bounds of its counts.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub samples: Vec<(String, Cut)>,
    /// How it is written.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub format: MatrixFormat,
}

impl MatrixConfig {
    /// Counts of all k-mers of tables with these names and bounds, as text.
    pub fn new(samples: Vec<(String, Cut)>) -> MatrixConfig {
        MatrixConfig {
            samples,
            presence: false,
            solid: 1,
            min_samples: 1,
            rescue: None,
            format: MatrixFormat::Tsv,
            range: None,
        }
    }

    fn cells(&self) -> Cells {
        if self.presence { Cells::Presence } else { Cells::Counts }
    }

    fn validate(&self, tables: usize) -> Result<(), Error> {
        let problem = |what: String| Err(Error::Config(ConfigError::new(what)));
        let samples = self.samples.len();
        if samples != tables {
            return problem(format!("`samples` are {samples}, and tables {tables}"));
        }
        if self.solid == 0 || self.min_samples == 0 {
            return problem("`solid` and `min_samples` are at least 1".into());
        }
        if self.min_samples > samples {
            return problem(format!(
                "`min_samples` is {}, and there are {samples} samples",
                self.min_samples
            ));
        }
        if self.range.is_some() && self.format != MatrixFormat::Dense {
            return problem("`range`: ranges of a matrix are of `format` dense".into());
        }
        Ok(())
    }

    /// The range of a matrix of these tables, if it is to be one.
    fn range_of(&self, tables: &[AnyTable]) -> Option<JobShard> {
        let shard = self.range?;
        let what = (&self.samples, self.cells(), self.solid, self.min_samples, self.rescue);
        let hash = JobHash::new().with(format!("{what:?} {}", shard.of()).as_bytes());
        let headers = tables.iter().filter_map(|table| table.description().header.as_ref());
        let job = headers.fold(hash, |hash, header| hash.with_header(header)).finish();
        Some(JobShard { shard, job })
    }
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixOutcome {
    /// Rows: k-mers that stay,
    pub rows: u64,
    /// of so many different ones.
    pub kmers: u64,
    /// Cells that are not 0, of each sample.
    pub filled: Vec<u64>,
}

/// Writes the matrix of `tables` to `path`; rows are in the order of the k-mers' bases.
/// Its bytes do not depend on `resources`. The file appears with `outputs`.
///
/// Progress stages: `gathering` and `computing`, in bytes of tables.
///
/// # Errors
/// If the configuration is wrong, tables do not go together or are damaged, the memory or the disk is too little, or the run
/// was cancelled. There is then no file.
pub fn matrix(
    config: &MatrixConfig,
    tables: &[AnyTable],
    path: &Path,
    resources: &Resources,
    outputs: &OutputSet,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<MatrixOutcome, Error> {
    config.validate(tables.len())?;
    resources.validate()?;
    // Rows beside what is merged.
    let row_bytes = 4 * tables.len() as u64 + 40;
    let session = Session::new(tables, 4 + row_bytes / 16, resources)?;
    let done = with_kmer!(session.k, K => {
        let format = RowFormat {
            k: session.k,
            canonical: session.canonical,
            kmer_bytes: kmer_bytes(session.k),
            names: config.samples.iter().map(|sample| sample.0.clone()).collect(),
            cells: config.cells(),
            format: config.format,
            range: config.range_of(tables),
        };
        let sink = Sink::create(&format, path, outputs)?;
        run::<K>(&session, config, &format, sink, progress, cancel)
    });
    progress.finish();
    cancel.over_error(done)
}

fn run<K: Kmer>(
    session: &Session<'_>,
    config: &MatrixConfig,
    format: &RowFormat,
    sink: Sink,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<MatrixOutcome, Error> {
    let cuts: Vec<Cut> = config.samples.iter().map(|sample| sample.1).collect();
    let ranges = match config.range {
        Some(range) => clipped::<K>(session.tables, session.k, range)?,
        None => session.ranges::<K>(progress, cancel)?,
    };
    let most = ranges.iter().map(|table| table.kmers()).max().unwrap_or(0);
    let engine = session.engine(&ranges, section_bits(most, session.k), progress, cancel);
    let in_order = InOrder::new(sink, u64::MAX, session.max_waiting::<K>());
    let made = engine.run(|| Rows::<K>::new(config, format, &cuts, &in_order));
    let done = made.map(|workers| workers.into_iter().map(Rows::finish).collect::<Vec<_>>());
    // What could not be written is why workers were stopped.
    let sink = in_order.into_sink()?;
    let mut outcome = MatrixOutcome { filled: vec![0; cuts.len()], ..MatrixOutcome::default() };
    for part in done? {
        outcome.rows += part.rows;
        outcome.kmers += part.kmers;
        outcome.filled.iter_mut().zip(&part.filled).for_each(|(sum, more)| *sum += more);
    }
    sink.finish(&outcome)?;
    Ok(outcome)
}

impl InOrderSink<EncodedRows> for Sink {
    type Error = Error;

    fn write(&mut self, part: EncodedRows) -> Result<Option<EncodedRows>, Error> {
        self.put(&part)?;
        Ok(None)
    }
}
