//! A matrix of tables: a row for each k-mer, a column for each sample.
//!
//! The selection of k-mers and counts is that of kmtricks (Lemane et al. 2022). A count is solid if it reaches
//! a minimum. A k-mer has a row if it is solid in enough samples. Counts that are not solid become 0, unless the
//! number of samples in which the k-mer is solid is so large that they are taken to be real, too (rescued).

mod concat;
mod dense;
mod format;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
mod sink;

use std::path::Path;

use merganser_io::OutputSet;
use merganser_run::{Cancel, ConfigError, Context, InOrder, InOrderSink, Progress, Shard};
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

/// The content of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cells {
    /// The count of the k-mer in the sample, 0 if the sample does not have it.
    Counts,
    /// 1 if the sample has the k-mer, otherwise 0.
    Presence,
}

merganser_run::named! {
    /// The output format of a matrix.
    #[derive(Default)]
    pub enum MatrixFormat {
        /// A line of names, then a line for each k-mer, separated by tabs.
        #[default]
        Tsv = "tsv",
        /// Binary with a JSON header; the layout is in `docs/reference/formats.md`.
        Dense = "dense",
        /// Parquet with a column `kmer` and one for each sample; requires the feature `parquet`.
        Parquet = "parquet",
    }
}

/// The selection of rows and cells, and the output format.
// The doc comments of the fields are the help texts of the command line.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct MatrixConfig {
    /// Write only the rows of range I of N of the k-mers, which --concat joins; requires .mgk
    /// tables and --format dense
    #[cfg_attr(feature = "cli", arg(long, value_name = "I/N"))]
    pub range: Option<Shard>,
    /// Write 1 instead of the count of a k-mer
    #[cfg_attr(feature = "cli", arg(long))]
    pub presence: bool,
    /// Counts of N or more are solid
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    #[cfg_attr(feature = "cli", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub solid: u32,
    /// Keep only k-mers that are solid in N tables or more
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    pub min_samples: usize,
    /// Keep counts that are not solid if the k-mer is solid in N tables or more [default:
    /// none]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub rescue: Option<usize>,

    /// The name of each table's column, and the bounds of its counts.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub samples: Vec<(String, Cut)>,
    /// The output format.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub format: MatrixFormat,
}

impl MatrixConfig {
    /// Returns the configuration for the counts of all k-mers, as text, of tables with these names and bounds.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> MatrixConfig {
        MatrixConfig::with_cuts(names.into_iter().map(|name| (name.into(), Cut::NONE)).collect())
    }

    /// Returns the default selection for tables with these names, each after its cut.
    pub fn with_cuts(samples: Vec<(String, Cut)>) -> MatrixConfig {
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
            return problem(format!("`samples` has {samples} names for {tables} tables"));
        }
        if self.solid == 0 || self.min_samples == 0 {
            return problem("`solid` and `min_samples` must be at least 1".into());
        }
        if self.min_samples > samples {
            return problem(format!(
                "`min_samples` is {}, but there are {samples} samples",
                self.min_samples
            ));
        }
        if self.range.is_some() && self.format != MatrixFormat::Dense {
            return problem("`range` requires `format` dense".into());
        }
        Ok(())
    }

    /// Returns the range that the matrix of these tables will be; `None` for a whole matrix.
    fn range_of(&self, tables: &[AnyTable]) -> Option<JobShard> {
        let shard = self.range?;
        let what = (&self.samples, self.cells(), self.solid, self.min_samples, self.rescue);
        let hash = JobHash::new().with(format!("{what:?} {}", shard.of()).as_bytes());
        let headers = tables.iter().filter_map(|table| table.description().header.as_ref());
        let job = headers.fold(hash, |hash, header| hash.with_header(header)).finish();
        Some(JobShard { shard, job })
    }
}

/// The numbers of a matrix that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixOutcome {
    /// The number of rows: k-mers that were selected.
    pub rows: u64,
    /// The number of distinct k-mers in all tables.
    pub kmers: u64,
    /// The number of cells that are not 0, of each sample.
    pub filled: Vec<u64>,
}

/// Writes the matrix of `tables` to `path`, with rows in the order of the k-mers' bases. Its bytes do not
/// depend on `context`.
///
/// The progress stages are `gathering` and `computing`, in bytes of tables.
///
/// # Errors
/// If the configuration is invalid, tables were not counted in the same way or are damaged, memory or disk
/// space is too small, or the run was cancelled. Then no file exists.
pub fn matrix(
    config: &MatrixConfig,
    tables: &[AnyTable],
    path: impl AsRef<Path>,
    context: &Context,
) -> Result<MatrixOutcome, Error> {
    let outputs = OutputSet::new();
    let outcome = matrix_with(config, tables, path.as_ref(), &outputs, context)?;
    outputs.commit()?;
    Ok(outcome)
}

/// Writes a matrix like [`matrix`]; the file belongs to `outputs` and appears when these are committed.
///
/// # Errors
/// Fails as [`matrix`] does.
pub fn matrix_with(
    config: &MatrixConfig,
    tables: &[AnyTable],
    path: &Path,
    outputs: &OutputSet,
    context: &Context,
) -> Result<MatrixOutcome, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    config.validate(tables.len())?;
    context.validate()?;
    // Rows take memory in addition to the merged k-mers.
    let row_bytes = 4 * tables.len() as u64 + 40;
    let session = Session::new(tables, 4 + row_bytes / 16, context)?;
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
    // An error of the sink comes first, since it is why the workers were stopped.
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
