//! Tables of k-mers.

mod job;
mod look_up;
mod opened;
mod same;
mod stream;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use arrow_array::{ArrayRef, UInt32Array, UInt64Array};
use merganser_kmers::Histogram;
use merganser_kmers::algebra::{
    Calculation, CountLimits, Expression, Operation, calculate, compare,
};
use merganser_kmers::formats::TableFormat;
use merganser_kmers::lookup::Lookup;
use merganser_kmers::tables::AnyTable;
use merganser_run::Context;
use merganser_run::locks::lock;
use merganser_spectrum::Settings;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyString, PyTuple};

use crate::column::Column;
use crate::columns::Columns;
use crate::errors::{OrRaise, malformed, wrong};
use crate::held::Held;
use crate::integers::Int;
use crate::keywords::Keywords;
use crate::rows::{self, Rows};
use crate::spectrum::Spectrum;
use crate::stream::RowStream;
use crate::{arrow, call, html};
use job::Job;
pub(crate) use opened::Owned;
use opened::{Opened, format_of, is_text};

/// The lowest limit of counts that leaves enough of a histogram for a model.
const MIN_LIMIT: i64 = 20;
/// The number of rows of a batch.
const ROWS: usize = 1 << 16;

/// Distinct k-mers with their counts, in lexicographic order, on disk.
///
/// Made by `count`, `Table.open`, or operations on other tables. Iteration gives named tuples `(kmer, count)`;
/// `table[kmer]` is a count. Polars, pyarrow, DuckDB and pandas read it as columns `kmer` (string) and `count`
/// (uint32): `polars.DataFrame(kmers)`, `pyarrow.table(kmers)`, `duckdb.sql("FROM kmers")`, `kmers.to_pandas()`.
/// Tables are equal if they have the same k, strands, k-mers and counts. Threads may share a table. After a `with`
/// block it is closed, and a temporary file is removed.
///
/// >>> import merganser
/// >>> with merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1) as table:
/// ...     len(table), table["CGTTA"], "AAAAA" in table, dict(table)
/// (3, 2, False, {'AACGT': 1, 'CGTTA': 2, 'GTAAC': 1})
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Table {
    opened: Held<Opened>,
    histogram: OnceLock<Histogram>,
    lookup: Mutex<Option<Arc<dyn Lookup>>>,
}

impl Table {
    pub(crate) fn of(py: Python<'_>, file: Owned) -> PyResult<Table> {
        let opened = Opened::of(file).or_raise(py)?;
        Ok(Table {
            opened: Held::new("table", opened),
            histogram: OnceLock::new(),
            lookup: Mutex::new(None),
        })
    }

    /// Returns the table, unless it is closed.
    fn opened(&self) -> PyResult<Arc<Opened>> {
        self.opened.get()
    }

    /// Returns a table, opened again, for use in a job.
    pub(crate) fn again(&self, py: Python<'_>) -> PyResult<AnyTable> {
        self.opened()?.again().or_raise(py)
    }

    /// Returns the path of the table's file, which exists as long as the returned value.
    pub(crate) fn file(&self) -> PyResult<Arc<Opened>> {
        self.opened()
    }

    fn operation(
        &self,
        others: &[PyRef<'_, Table>],
        operation: Operation,
        keywords: Keywords<'_>,
    ) -> PyResult<Table> {
        let Some(first) = others.first() else {
            return Err(PyTypeError::new_err("others: at least one other table is required"));
        };
        let py = first.py();
        let mode = match operation {
            Operation::Subtract => None,
            _ => keywords.named("counts")?,
        };
        let mode = mode.unwrap_or(operation.default_mode());
        let job = Job::of(keywords)?;
        let mut tables = vec![self.again(py)?];
        for other in others {
            self.check_same_kind(py, "others", other)?;
            tables.push(other.again(py)?);
        }
        let operands = (0..tables.len()).map(Expression::Table).collect();
        let expression = Expression::Of { operation, mode, operands };
        job.table(py, &tables, (expression, CountLimits::default()))
    }

    /// Checks that another table, the argument `argument`, has the same k and strands.
    fn check_same_kind(&self, py: Python<'_>, argument: &str, other: &Table) -> PyResult<()> {
        let kind = |opened: &Opened| (opened.header.k, opened.header.canonical);
        let (own, other) = (kind(&*self.opened()?), kind(&*other.opened()?));
        let text = |(k, canonical)| {
            let strands = if canonical { "canonical" } else { "forward" };
            format!("{strands} {k}-mers")
        };
        match own == other {
            true => Ok(()),
            false => {
                let message = format!("a table of {}: this table has {}", text(other), text(own));
                Err(wrong(py, argument, message))
            }
        }
    }

    /// Returns the result of an operation with another table, with default options.
    fn with(&self, other: PyRef<'_, Table>, operation: Operation) -> PyResult<Table> {
        let keywords = Keywords::new(other.py(), "Table", None)?;
        self.operation(&[other], operation, keywords)
    }

    /// Returns the histogram of the counts.
    fn counted(&self, py: Python<'_>, job: &Job<'_>) -> PyResult<&Histogram> {
        let (opened, context) = (self.opened()?, &job.context);
        if let Some(histogram) = self.histogram.get() {
            return Ok(histogram);
        }
        let found = call::run(py, context, job.progress.as_ref(), |context| {
            let calculation = Calculation {
                expression: Expression::Table(0),
                limits: CountLimits::default(),
                output: None,
                format: TableFormat::None,
            };
            let tables = std::slice::from_ref(&opened.table);
            calculate(&calculation, tables, context)
        })?;
        Ok(self.histogram.get_or_init(|| found.histogram))
    }

    /// Returns the text that describes the table.
    fn described(&self) -> PyResult<String> {
        let opened = self.opened()?;
        let header = &opened.header;
        let end = if header.kmers == 1 { "" } else { "s" };
        Ok(format!("{} {}-mer{end}", header.kmers, header.k))
    }
}

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        Err(PyTypeError::new_err(
            "make a table with merganser.count(reads), or open one with Table.open(path)",
        ))
    }

    /// Opens a table of any format: .mgk, KMC, KFF, .jf, FastK, meryl, text (`KMER COUNT` lines). Tables of other formats
    /// than .mgk are first converted to a temporary .mgk file.
    ///
    /// Args:
    ///     path: The file; for KMC the name without suffix; for meryl the folder.
    ///     forward_only: Take the k-mers of text and meryl as written, not as canonical.
    ///     hpc: The k-mers are from homopolymer-compressed reads; an .mgk file contains this information.
    ///     threads: As for `count`, for the conversion.
    ///     memory: As for `count`, for the conversion.
    ///     tmp_dir: The folder for the temporary table.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     The table.
    ///
    /// Raises:
    ///     FileNotFound: If there is no such file.
    ///     InputError: If the file is damaged or not a table.
    ///
    /// >>> import merganser, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "a.mgk")
    /// >>> merganser.count([b"ACGTT"], k=5, min_count=1).save(path)
    /// >>> merganser.Table.open(path).k
    /// 5
    #[staticmethod]
    #[pyo3(
        signature = (path, **options),
        text_signature = "(path, *, forward_only=False, hpc=False, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn open(py: Python<'_>, path: PathBuf, options: Option<&Bound<'_, PyDict>>) -> PyResult<Table> {
        let keywords = Keywords::new(py, "Table.open", options)?;
        let (forward_only, hpc) = (keywords.flag("forward_only")?, keywords.flag("hpc")?);
        let job = Job::of(keywords)?;
        let table = call::run(py, &job.context, job.progress.as_ref(), |context| {
            let table = AnyTable::open_with(&path, !forward_only, context)?;
            if hpc { table.of_homopolymer_compressed() } else { Ok(table) }
        })?;
        if table.as_mgk().is_some() {
            drop(table);
            return Table::of(py, Owned::Kept(path));
        }
        // Everything else is fast with a sorted .mgk table.
        job.table(py, &[table], (Expression::Table(0), CountLimits::default()))
    }

    /// Writes the table to a file.
    ///
    /// Args:
    ///     path: The file. Without `format`, its suffix selects the format: .mgk, .kff, .jf, .tsv, .tsv.gz, .fa or .fasta.
    ///     format: "mgk", "kmc", "kff", "jf", "tsv", "fasta" or "jellyfish"; None for that of the suffix.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Raises:
    ///     ArgumentError: If the format is unknown, or is text (tsv, fasta, jellyfish) and the table is empty.
    ///     OutputError: If the file cannot be written.
    ///
    /// >>> import merganser, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "a.tsv")
    /// >>> merganser.count([b"ACGTT"], k=5, min_count=1).save(path)
    /// >>> open(path).read()
    /// 'AACGT\t1\n'
    #[pyo3(
        signature = (path, format=None, **options),
        text_signature = "($self, path, format=None, *, threads=None, memory=None, progress=None)"
    )]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let job = Job::of(Keywords::new(py, "Table.save", options)?)?;
        let (opened, format) = (self.opened()?, format_of(py, &path, format)?);
        if opened.header.kmers == 0 && is_text(format) {
            let problem = "the table is empty, and its k would be lost in text: save it as .mgk";
            return Err(wrong(py, "path", format!("{}: {problem}", path.display())));
        }
        let all = (Expression::Table(0), CountLimits::default(), format);
        job.write(py, std::slice::from_ref(&opened.table), all, &path)
    }

    /// Closes the table, and removes its file if it is temporary. A `with` block does the same at its end.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTT"], k=5, min_count=1)
    /// >>> table.close()
    /// >>> table
    /// <merganser.Table, closed>
    fn close(&self, py: Python<'_>) {
        self.opened.close();
        py.detach(|| lock(&self.lookup).take());
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        this.opened()?;
        Ok(this)
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) {
        let _ = exception;
        self.close(py);
    }

    /// The length of a k-mer in bases.
    #[getter]
    fn k(&self) -> PyResult<usize> {
        Ok(self.opened()?.header.k)
    }

    /// Whether a k-mer and its reverse complement were counted together.
    #[getter]
    fn canonical(&self) -> PyResult<bool> {
        Ok(self.opened()?.header.canonical)
    }

    /// The file of the table; None if it is temporary.
    #[getter]
    fn path(&self) -> PyResult<Option<PathBuf>> {
        Ok(match &self.opened()?.file {
            Owned::Kept(path) => Some(path.clone()),
            Owned::Temporary(_) => None,
        })
    }

    /// A summary of the table: k, canonical, min_count, max_count, min_quality, homopolymer_compressed, only_given (whether
    /// it has only given k-mers of the reads, of a panel or an intersection), kmers (the number of distinct k-mers in the
    /// table), occurrences (the sum of their counts), largest_count, saturated, distinct_kmers and total_kmers (of the
    /// input, before filtering by count).
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (opened, info) = (self.opened()?, PyDict::new(py));
        let header = &opened.header;
        info.set_item("k", header.k)?;
        info.set_item("canonical", header.canonical)?;
        info.set_item("min_count", header.min_count)?;
        info.set_item("max_count", (header.max_count < u32::MAX).then_some(header.max_count))?;
        info.set_item("min_quality", header.min_quality)?;
        info.set_item("homopolymer_compressed", header.homopolymer_compressed)?;
        info.set_item("only_given", header.only_given)?;
        info.set_item("kmers", header.kmers)?;
        info.set_item("occurrences", header.occurrences)?;
        info.set_item("largest_count", header.largest_count)?;
        info.set_item("saturated", header.saturated)?;
        info.set_item("distinct_kmers", header.distinct_kmers)?;
        info.set_item("total_kmers", header.total_kmers)?;
        Ok(info)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.opened()?.header.kmers as usize)
    }

    fn __bool__(&self) -> PyResult<bool> {
        Ok(self.opened()?.header.kmers > 0)
    }

    fn __repr__(&self) -> String {
        match self.described() {
            Ok(described) => format!("<merganser.Table of {described}>"),
            Err(_) => "<merganser.Table, closed>".to_owned(),
        }
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let opened = self.opened()?;
        let first = stream::start(py, &opened, html::SHOWN, "str")?;
        let first = match first.next(py)? {
            Some(rows) => rows,
            None => return Ok(html::summary(&self.described()?, &[])),
        };
        let strands = if opened.header.canonical { "canonical" } else { "forward" };
        let caption = format!("{}, {strands}", self.described()?);
        html::table(py, &caption, &first, opened.header.kmers)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<Table>() else { return Ok(py.NotImplemented()) };
        let (one, other) = (self.opened()?, other.get().opened()?);
        let is_same = call::run(py, &Context::new(), None, |context| {
            same::are_same(&one, &other, &context.cancel)
        })?;
        Ok(is_same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __contains__(&self, py: Python<'_>, kmer: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok((kmer, count)) = kmer.extract::<(Bound<'_, PyAny>, u32)>() {
            return Ok(count > 0 && self.count_of(py, &kmer)? == count);
        }
        self.count_of(py, kmer).map(|count| count > 0)
    }

    fn __getitem__(&self, py: Python<'_>, kmer: &Bound<'_, PyAny>) -> PyResult<u32> {
        match self.count_of(py, kmer)? {
            0 => Err(PyKeyError::new_err(kmer.clone().unbind())),
            count => Ok(count),
        }
    }

    /// Returns the count of a k-mer, on either strand if the table is canonical, or `default` if the table does not
    /// have the k-mer.
    ///
    /// Args:
    ///     kmer: The k-mer, a str or bytes.
    ///     default: The number, or None, for a k-mer that the table does not have.
    ///
    /// Raises:
    ///     ArgumentError: If it does not have k letters, or if one of them is not a base.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTT"], k=5, min_count=1)
    /// >>> table.get("AACGT"), table.get("AAAAA"), table.get("AAAAA", None)
    /// (1, 0, None)
    #[pyo3(signature = (kmer, default=Some(0)), text_signature = "($self, kmer, default=0)")]
    fn get(
        &self,
        py: Python<'_>,
        kmer: &Bound<'_, PyAny>,
        default: Option<u32>,
    ) -> PyResult<Option<u32>> {
        Ok(match self.count_of(py, kmer)? {
            0 => default,
            count => Some(count),
        })
    }

    /// Returns the counts of many k-mers, in their order; 0 for k-mers that the table does not have.
    ///
    /// The first call loads the table into memory (about 13 bytes per k-mer for k up to 32).
    ///
    /// Args:
    ///     kmers: A NumPy array of dtype "S" or "U", Arrow strings, or an iterable of str and bytes; or integers, as
    ///         `encode_kmers` returns them (k up to 32): a NumPy or Arrow array, or a list. Integers do not tell
    ///         their k: those of k-mers of another length give counts of other k-mers, without an error.
    ///     threads: The number of threads; None for one per processor.
    ///     memory: As for `count`, for loading the table.
    ///
    /// Returns:
    ///     A NumPy array of uint32, as long as `kmers` (a `Column` if NumPy is not installed).
    ///
    /// Raises:
    ///     ArgumentError: If a k-mer does not have k letters, or if one of them is not a base.
    ///     MemoryLimitError: If the table does not fit in `memory`.
    ///     TypeError: If `kmers` is a single k-mer.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> table.query(["CGTTA", "TAACG", "AAAAA"]).tolist()
    /// [2, 2, 0]
    #[pyo3(
        signature = (kmers, **options),
        text_signature = "($self, kmers, *, threads=None, memory=None)"
    )]
    fn query<'py>(
        &self,
        py: Python<'py>,
        kmers: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let job = Job::of(Keywords::new(py, "Table.query", options)?)?;
        let counts = self.look_up_all(py, kmers, &job.context)?;
        Column(Arc::new(UInt32Array::from(counts)) as ArrayRef).shown(py)
    }

    /// Returns the number of k-mers with each count. The table is read once, at the first call.
    ///
    /// Args:
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     `Rows` with columns `count` (uint32, from 1, ascending) and `kmers` (uint64, never 0).
    ///
    /// >>> import merganser
    /// >>> histogram = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1).histogram()
    /// >>> histogram["count"].tolist(), histogram["kmers"].tolist()
    /// ([1, 2], [2, 1])
    #[pyo3(
        signature = (**options),
        text_signature = "($self, *, threads=None, memory=None, progress=None)"
    )]
    fn histogram(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Rows> {
        let job = Job::of(Keywords::new(py, "Table.histogram", options)?)?;
        let (counts, numbers): (Vec<u32>, Vec<u64>) = self.counted(py, &job)?.iter().unzip();
        Columns::new()
            .with("count", UInt32Array::from(counts))
            .with("kmers", UInt64Array::from(numbers))
            .rows()
    }

    /// Fits the model of GenomeScope to the histogram. The table must have the low counts: use `min_count=1`. Reasons
    /// to doubt the model are issued as warnings, and are in `doubts`.
    ///
    /// Args:
    ///     ploidy: The number of haplotypes, 1 to 6.
    ///     coverage: The approximate number of occurrences of a k-mer that is in one haplotype once; None to estimate
    ///         it.
    ///     topology: The relation of four haplotypes (1 or 2), five (1 to 5) or six (1 to 16), by the numbers of
    ///         GenomeScope 2; 0 for any.
    ///     max_count: Do not fit the model to counts above this number, 20 or more; they still count for the genome
    ///         size. None for 2000, or ten times the main peak.
    ///     exclude_above: Ignore k-mers that occur more often than this, 20 or more, also in the genome size: those of
    ///         organelles, plasmids and spike-ins; None for no limit.
    ///
    /// Returns:
    ///     The model, which notebooks show as a plot.
    ///
    /// Raises:
    ///     ArgumentError: If an argument is out of range.
    ///     InputError: If the coverage is too low for a model, the table has k-mers of the forward strand, or only
    ///         given ones.
    ///
    /// >>> import merganser, random
    /// >>> genome = bytes(random.Random(1).choices(b"ACGT", k=30_000))
    /// >>> reads = [genome[at : at + 150] for at in random.Random(2).choices(range(29_850), k=6000)]
    /// >>> spectrum = merganser.count(reads, k=21, min_count=1).spectrum(ploidy=1)
    /// >>> 27_000 < spectrum.genome_size < 33_000, spectrum.ploidy
    /// (True, 1)
    #[pyo3(
        signature = (ploidy=Int::Of(2), coverage=None, **options),
        text_signature = "($self, ploidy=2, coverage=None, *, topology=0, max_count=None, exclude_above=None)"
    )]
    fn spectrum(
        &self,
        py: Python<'_>,
        ploidy: Int,
        coverage: Option<f64>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Spectrum> {
        let keywords = Keywords::new(py, "Table.spectrum", options)?;
        let limit = |name| keywords.within(name, MIN_LIMIT..=u32::MAX.into());
        let settings = Settings {
            ploidy: ploidy.of(py, "ploidy")?,
            coverage,
            topology: keywords.int_or("topology", 0)?,
            max_count: limit("max_count")?,
            exclude_above: limit("exclude_above")?,
            ..Settings::default()
        };
        keywords.finish()?;
        let opened = self.opened()?;
        let table = &opened.table;
        if let Some(why) = table.description().why_no_model() {
            return Err(malformed(py, why, Some(table.path())));
        }
        let rows: Vec<(u32, u64)> = self.counted(py, &Job::simple())?.iter().collect();
        Spectrum::fit(py, &rows, opened.header.k, &settings)
    }

    /// Returns the k-mers in ascending order, in batches of rows with columns.
    ///
    /// Args:
    ///     size: The number of rows of a batch; the last one may have fewer.
    ///     kmers: "str" for a column `kmer` of letters; "int" for a column `kmer` of uint64 (k up to 32), or for two
    ///         of them, `kmer_high` and `kmer_low` (k up to 64).
    ///
    /// Returns:
    ///     An iterator of `Rows` with these columns and `count` (uint32).
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> for rows in table.batches(size=2, kmers="int"):
    /// ...     rows["kmer"].tolist(), rows["count"].tolist()
    /// ([27, 444], [1, 2])
    /// ([705], [1])
    #[pyo3(signature = (size=Int::Of(65536), kmers="str"), text_signature = "($self, size=65536, kmers='str')")]
    fn batches(&self, py: Python<'_>, size: Int, kmers: &str) -> PyResult<RowStream> {
        stream::start(py, &self.opened()?, size.within(py, "size", 1..=i64::MAX)?, kmers)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let batches = Bound::new(py, stream::start(py, &self.opened()?, ROWS, "str")?)?;
        let chain = py.import("itertools")?.getattr("chain")?;
        chain.call_method1("from_iterable", (batches,))?.try_iter()
    }

    #[getter]
    fn __array_interface__(&self) -> PyResult<()> {
        Err(rows::no_array("a table"))
    }

    /// Returns the k-mers and counts as a `pandas.DataFrame`. Needs the packages pandas and pyarrow.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> table.to_pandas().shape
    /// (3, 2)
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stream = stream::start(py, &self.opened()?, ROWS, "str")?;
        rows::to_pandas(Bound::new(py, stream.collected(py)?)?.as_any())
    }

    /// Returns the k-mers and counts as a `polars.DataFrame`. Needs the package polars.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> table.to_polars().shape
    /// (3, 2)
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stream = stream::start(py, &self.opened()?, ROWS, "str")?;
        rows::to_polars(Bound::new(py, stream.collected(py)?)?.as_any())
    }

    /// Returns the k-mers and counts as a `pyarrow.Table`. Needs the package pyarrow.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> table.to_arrow().shape
    /// (3, 2)
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stream = stream::start(py, &self.opened()?, ROWS, "str")?;
        rows::to_arrow(Bound::new(py, stream.collected(py)?)?.as_any())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        stream::start(py, &self.opened()?, ROWS, "str")?.capsule(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &stream::schema_of_text(self.opened()?.header.k))
    }

    /// Returns the k-mers that are in any of the tables.
    ///
    /// Args:
    ///     others: Tables with the same k and strands.
    ///     counts: The count of a k-mer that is in several tables: "min", "max", "sum", "diff", "left" or "right";
    ///         None for the sum.
    ///     output: The file for the result (.mgk); None for a temporary one.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Raises:
    ///     ArgumentError: If the tables differ in k or strands.
    ///
    /// >>> import merganser
    /// >>> a, b = (merganser.count([read], k=5, min_count=1) for read in (b"ACGTTA", b"CGTTAC"))
    /// >>> dict(a.union(b))
    /// {'AACGT': 1, 'CGTTA': 2, 'GTAAC': 1}
    #[pyo3(
        signature = (*others, **options),
        text_signature = "($self, *others, counts=None, output=None, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn union(
        &self,
        py: Python<'_>,
        others: Vec<PyRef<'_, Table>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let keywords = Keywords::new(py, "Table.union", options)?;
        self.operation(&others, Operation::Union, keywords)
    }

    /// Returns the k-mers that are in all of the tables.
    ///
    /// Args:
    ///     others: Tables with the same k and strands.
    ///     counts: The count of a k-mer: "min", "max", "sum", "diff", "left" or "right"; None for the minimum.
    ///     output: The file for the result (.mgk); None for a temporary one.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Raises:
    ///     ArgumentError: If the tables differ in k or strands.
    ///
    /// >>> import merganser
    /// >>> a, b = (merganser.count([read], k=5, min_count=1) for read in (b"ACGTTA", b"CGTTAC"))
    /// >>> dict(a.intersect(b))
    /// {'CGTTA': 1}
    #[pyo3(
        signature = (*others, **options),
        text_signature = "($self, *others, counts=None, output=None, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn intersect(
        &self,
        py: Python<'_>,
        others: Vec<PyRef<'_, Table>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let keywords = Keywords::new(py, "Table.intersect", options)?;
        self.operation(&others, Operation::Intersect, keywords)
    }

    /// Returns the k-mers that are in no other table, with their counts.
    ///
    /// Args:
    ///     others: Tables with the same k and strands.
    ///     output: The file for the result (.mgk); None for a temporary one.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Raises:
    ///     ArgumentError: If the tables differ in k or strands.
    ///
    /// >>> import merganser
    /// >>> a, b = (merganser.count([read], k=5, min_count=1) for read in (b"ACGTTA", b"CGTTAC"))
    /// >>> dict(a.subtract(b))
    /// {'AACGT': 1}
    #[pyo3(
        signature = (*others, **options),
        text_signature = "($self, *others, output=None, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn subtract(
        &self,
        py: Python<'_>,
        others: Vec<PyRef<'_, Table>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let keywords = Keywords::new(py, "Table.subtract", options)?;
        self.operation(&others, Operation::Subtract, keywords)
    }

    /// Returns the k-mers with counts from `min_count` to `max_count`.
    ///
    /// Args:
    ///     min_count: The lowest count.
    ///     max_count: The highest count; None for no limit.
    ///     output: The file for the result (.mgk); None for a temporary one.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`.
    ///
    /// >>> import merganser
    /// >>> table = merganser.count([b"ACGTTA", b"CGTTAC"], k=5, min_count=1)
    /// >>> dict(table.reduce(min_count=2))
    /// {'CGTTA': 2}
    #[pyo3(
        signature = (min_count=Int::Of(1), max_count=None, **options),
        text_signature = "($self, min_count=1, max_count=None, *, output=None, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn reduce(
        &self,
        py: Python<'_>,
        min_count: Int,
        max_count: Option<Int>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let job = Job::of(Keywords::new(py, "Table.reduce", options)?)?;
        let limits = CountLimits {
            min_count: min_count.of(py, "min_count")?,
            max_count: Int::of_option(max_count, py, "max_count")?,
            ..CountLimits::default()
        };
        job.table(py, &[self.again(py)?], (Expression::Table(0), limits))
    }

    /// Returns the exact Jaccard index of the k-mers of two tables: the number in both divided by the number in
    /// either.
    ///
    /// Args:
    ///     other: A table with the same k and strands.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     progress: As for `count`.
    ///
    /// >>> import merganser
    /// >>> a, b = (merganser.count([read], k=5, min_count=1) for read in (b"ACGTTA", b"CGTTAC"))
    /// >>> round(a.jaccard(b), 3)
    /// 0.333
    #[pyo3(
        signature = (other, **options),
        text_signature = "($self, other, *, threads=None, memory=None, progress=None)"
    )]
    fn jaccard(
        &self,
        py: Python<'_>,
        other: PyRef<'_, Table>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<f64> {
        let Job { context, progress, .. } = Job::of(Keywords::new(py, "Table.jaccard", options)?)?;
        self.check_same_kind(py, "other", &other)?;
        let tables = [self.again(py)?, other.again(py)?];
        let progress = progress.as_ref();
        let compared = call::run(py, &context, progress, |context| compare(&tables, context))?;
        Ok(compared.pairs.first().map_or(0.0, |pair| compared.jaccard(pair)))
    }

    fn __or__(&self, other: PyRef<'_, Table>) -> PyResult<Table> {
        self.with(other, Operation::Union)
    }

    fn __and__(&self, other: PyRef<'_, Table>) -> PyResult<Table> {
        self.with(other, Operation::Intersect)
    }

    fn __sub__(&self, other: PyRef<'_, Table>) -> PyResult<Table> {
        self.with(other, Operation::Subtract)
    }

    /// Supports pickling of a table with a file: the receiving process opens the file. A temporary table cannot be
    /// pickled.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.opened()?.file {
            Owned::Kept(path) => {
                let open = py.get_type::<Table>().getattr("open")?;
                let path = PyString::new(py, &std::path::absolute(path)?.to_string_lossy());
                (open, (path,)).into_pyobject(py)
            }
            Owned::Temporary(_) => Err(PyTypeError::new_err(
                "a table in a temporary file cannot be pickled: save it and open the saved file",
            )),
        }
    }
}
