//! Tables of k-mers.

mod look_up;
mod stream;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use arrow_array::{ArrayRef, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use merganser::io::{OutputFormat, OutputSet};
use merganser::kmers::algebra::{
    Calculation, CountLimits, Cut, Expression, Operation, calculate, compare,
};
use merganser::kmers::formats::TableFormat;
use merganser::kmers::lookup::Lookup;
use merganser::kmers::tables::AnyTable;
use merganser::kmers::{Error, Header, Histogram};
use merganser::run::{Cancel, Progress, Resources, Silent};
use merganser::spectrum::Settings;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use tempfile::TempPath;

use crate::arrow::{self, Batch, Column};
use crate::call;
use crate::errors::{OrRaise, wrong};
use crate::options::{Memory, Options, named};
pub(crate) use stream::Batches;

/// The file of a table: the requested file, or a temporary one that is deleted with the table.
pub(crate) enum Owned {
    Kept(PathBuf),
    Temporary(TempPath),
}

impl Owned {
    /// Returns the place of a result.
    pub(crate) fn place(output: Option<PathBuf>, folder: &Path) -> PyResult<Owned> {
        Ok(match output {
            Some(path) => Owned::Kept(path),
            None => {
                let file = tempfile::Builder::new()
                    .prefix(".merganser-")
                    .suffix(".mgk")
                    .tempfile_in(folder)?;
                Owned::Temporary(file.into_temp_path())
            }
        })
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Owned::Kept(path) => path,
            Owned::Temporary(path) => path,
        }
    }
}

/// An open table in the format of Merganser.
pub(crate) struct Opened {
    file: Owned,
    table: AnyTable,
    header: Header,
}

impl Opened {
    fn of(file: Owned) -> Result<Opened, Error> {
        let table = AnyTable::open(file.path(), true, &Cancel::default())?;
        let header = match table.as_mgk() {
            Some(own) => own.header().clone(),
            None => Header::new(table.description().k, 0),
        };
        Ok(Opened { file, table, header })
    }
}

/// Distinct k-mers with their counts, in lexicographic order, on disk.
///
/// Made by `count`, `Table.open`, or operations on other tables. It exports `__arrow_c_stream__` for
/// `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB, with columns `kmer` (string) and `count` (uint32).
/// Threads may share it.
///
/// >>> import merganser
/// >>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
/// >>> len(table), table["CGTTA"], "AAAAA" in table
/// (3, 2, False)
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Table {
    opened: Arc<Opened>,
    histogram: OnceLock<Histogram>,
    lookup: Mutex<Option<Arc<dyn Lookup>>>,
}

impl Table {
    pub(crate) fn of(py: Python<'_>, file: Owned) -> PyResult<Table> {
        let opened = Opened::of(file).or_raise(py)?;
        Ok(Table { opened: Arc::new(opened), histogram: OnceLock::new(), lookup: Mutex::new(None) })
    }

    fn header(&self) -> &Header {
        &self.opened.header
    }

    /// Opens the file again, for operations that need their own table.
    fn again(&self) -> Result<AnyTable, Error> {
        AnyTable::open(self.opened.file.path(), true, &Cancel::default())
    }

    /// Returns a table computed from others, stored at `output` or in a temporary file.
    fn computed(
        py: Python<'_>,
        tables: &[AnyTable],
        (expression, limits): (Expression, CountLimits),
        output: Option<PathBuf>,
    ) -> PyResult<Table> {
        let resources = Resources::new();
        let file = Owned::place(output, &resources.temp_dir)?;
        write(py, tables, (expression, limits, TableFormat::Mgk), file.path(), &resources)?;
        Table::of(py, file)
    }

    fn operation(
        &self,
        others: Vec<PyRef<'_, Table>>,
        operation: Operation,
        (counts, output): (Option<&str>, Option<PathBuf>),
    ) -> PyResult<Table> {
        let Some(first) = others.first() else {
            return Err(PyTypeError::new_err("at least one other table is required"));
        };
        let py = first.py();
        let mode = counts.map(|name| named(py, "counts", name)).transpose()?;
        let mode = mode.unwrap_or(operation.default_mode());
        let mut tables = vec![self.again().or_raise(py)?];
        for other in &others {
            tables.push(other.again().or_raise(py)?);
        }
        let operands = (0..tables.len()).map(Expression::Table).collect();
        let expression = Expression::Of { operation, mode, operands };
        Table::computed(py, &tables, (expression, CountLimits::default()), output)
    }

    fn rows(&self, py: Python<'_>) -> PyResult<&Histogram> {
        if let Some(histogram) = self.histogram.get() {
            return Ok(histogram);
        }
        let resources = Resources::new();
        let found = call::run(py, &resources.warnings, None, |progress, cancel| {
            let calculation = Calculation {
                expression: Expression::Table(0),
                limits: CountLimits::default(),
                output: None,
                format: TableFormat::None,
            };
            let tables = std::slice::from_ref(&self.opened.table);
            calculate(&calculation, tables, &resources, &OutputSet::alone(), progress, cancel)
        })?;
        Ok(self.histogram.get_or_init(|| found.histogram))
    }
}

/// Writes a computed table to `path`.
fn write(
    py: Python<'_>,
    tables: &[AnyTable],
    (expression, limits, format): (Expression, CountLimits, TableFormat),
    path: &Path,
    resources: &Resources,
) -> PyResult<()> {
    let output = Some(path.to_owned());
    let calculation = Calculation { expression, limits, output, format };
    call::run(py, &resources.warnings, None, |progress: &dyn Progress, cancel| {
        let outputs = OutputSet::new();
        calculate(&calculation, tables, resources, &outputs, progress, cancel)?;
        outputs.commit()?;
        Ok::<_, Error>(())
    })
}

/// Returns the format with this name or, without a name, the format that the file name asks for.
fn format_of(py: Python<'_>, path: &Path, format: Option<&str>) -> PyResult<TableFormat> {
    let by_name = OutputFormat::of_name(path).map(OutputFormat::suffix);
    let name = match format.or(by_name).unwrap_or("mgk") {
        "fa" => "fasta",
        name => name,
    };
    let known = name.parse().ok();
    let known = known.filter(|format| !matches!(format, TableFormat::Parquet | TableFormat::None));
    known.ok_or_else(|| {
        wrong(
            py,
            format!("format: '{name}' is unknown: give mgk, kmc, kff, tsv, fasta or jellyfish"),
        )
    })
}

#[pymethods]
impl Table {
    /// Opens a table of any format: .mgk, KMC, KFF, FastK, meryl, text (`KMER COUNT` lines). Tables of other formats
    /// than .mgk are first converted to a temporary .mgk file.
    ///
    /// Args:
    ///     path: The file; for KMC the name without suffix; for meryl the folder.
    ///     forward_only: Take the k-mers of text and meryl as written, not as canonical.
    ///     hpc: The k-mers are from homopolymer-compressed reads; an .mgk file contains this information.
    ///     tmp_dir: The folder for the temporary table.
    ///     memory: The memory for the conversion: bytes, or a size such as "8G".
    ///     threads: The number of threads for the conversion.
    ///
    /// Raises:
    ///     InputError: If the file is damaged or not a table.
    ///
    /// >>> import merganser, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "a.mgk")
    /// >>> merganser.count(["ACGTT"], k=5, min_count=1).save(path)
    /// >>> merganser.Table.open(path).k
    /// 5
    #[staticmethod]
    #[pyo3(signature = (path, *, forward_only=false, hpc=false, tmp_dir=None, memory=None, threads=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        forward_only: bool,
        hpc: bool,
        tmp_dir: Option<PathBuf>,
        memory: Option<Memory>,
        threads: Option<usize>,
    ) -> PyResult<Table> {
        let resources = Options { memory, threads, tmp_dir, ..Options::default() }.resources(py)?;
        let table =
            py.detach(|| AnyTable::open(&path, !forward_only, &Cancel::default())).or_raise(py)?;
        let table = if hpc { table.of_homopolymer_compressed().or_raise(py)? } else { table };
        if table.as_mgk().is_some() {
            drop(table);
            return Table::of(py, Owned::Kept(path));
        }
        // Everything else is fast with a sorted .mgk table.
        let file = Owned::place(None, &resources.temp_dir)?;
        let all = (Expression::Table(0), CountLimits::default(), TableFormat::Mgk);
        write(py, &[table], all, file.path(), &resources)?;
        Table::of(py, file)
    }

    /// Writes the table to a file.
    ///
    /// Args:
    ///     path: The file. Its extension selects the format, unless `format` is given: mgk, kmc, kff, tsv (also
    ///         .tsv.gz), fasta, jellyfish.
    ///     format: One of these formats.
    #[pyo3(signature = (path, format=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<()> {
        let format = format_of(py, &path, format)?;
        let all = (Expression::Table(0), CountLimits::default(), format);
        write(py, std::slice::from_ref(&self.opened.table), all, &path, &Resources::new())
    }

    /// The length of a k-mer in bases.
    #[getter]
    fn k(&self) -> usize {
        self.header().k
    }

    /// Whether a k-mer and its reverse complement were counted together.
    #[getter]
    fn canonical(&self) -> bool {
        self.header().canonical
    }

    /// The file of the table; None if it is temporary.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        match &self.opened.file {
            Owned::Kept(path) => Some(path.clone()),
            Owned::Temporary(_) => None,
        }
    }

    /// A summary of the table: k, canonical, min_count, max_count, min_quality, homopolymer_compressed, kmers (the
    /// number of distinct k-mers in the table), occurrences (the sum of their counts), largest_count, saturated,
    /// distinct_kmers and total_kmers (of the input, before filtering by count).
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (header, info) = (self.header(), PyDict::new(py));
        info.set_item("k", header.k)?;
        info.set_item("canonical", header.canonical)?;
        info.set_item("min_count", header.min_count)?;
        info.set_item("max_count", (header.max_count < u32::MAX).then_some(header.max_count))?;
        info.set_item("min_quality", header.min_quality)?;
        info.set_item("homopolymer_compressed", header.homopolymer_compressed)?;
        info.set_item("kmers", header.kmers)?;
        info.set_item("occurrences", header.occurrences)?;
        info.set_item("largest_count", header.largest_count)?;
        info.set_item("saturated", header.saturated)?;
        info.set_item("distinct_kmers", header.distinct_kmers)?;
        info.set_item("total_kmers", header.total_kmers)?;
        Ok(info)
    }

    fn __len__(&self) -> usize {
        self.header().kmers as usize
    }

    fn __bool__(&self) -> bool {
        self.header().kmers > 0
    }

    fn __repr__(&self) -> String {
        let header = self.header();
        format!("<merganser.Table of {} {}-mers>", header.kmers, header.k)
    }

    fn __contains__(&self, py: Python<'_>, kmer: &Bound<'_, PyAny>) -> PyResult<bool> {
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
    /// Raises:
    ///     ConfigError: If it does not have k letters, or if one of them is not a base.
    #[pyo3(signature = (kmer, default=0))]
    fn get(&self, py: Python<'_>, kmer: &Bound<'_, PyAny>, default: u32) -> PyResult<u32> {
        Ok(match self.count_of(py, kmer)? {
            0 => default,
            count => count,
        })
    }

    /// Returns the counts of many k-mers, in their order; 0 for k-mers that the table does not have.
    ///
    /// The first call loads the table into memory (about 13 bytes per k-mer for k up to 32).
    ///
    /// Args:
    ///     kmers: A NumPy array of uint64 (A C G T = 0 1 2 3, the first base most significant; k up to 32), which is
    ///         not copied; Arrow strings; or an iterable of str and bytes.
    ///     threads: The number of threads; None for one per processor.
    ///
    /// Returns:
    ///     A NumPy array of uint32, as long as `kmers` (a `Column` if NumPy is not installed).
    ///
    /// >>> import merganser
    /// >>> table = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1)
    /// >>> table.query(["CGTTA", "TAACG", "AAAAA"]).tolist()
    /// [2, 2, 0]
    #[pyo3(signature = (kmers, *, threads=None))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        kmers: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let counts = self.look_up_all(py, kmers, threads)?;
        Column(Arc::new(UInt32Array::from(counts)) as ArrayRef).shown(py)
    }

    /// Returns the number of k-mers with each count: a `Batch` with columns `count` (uint32, from 1, ascending) and
    /// `kmers` (uint64, never 0).
    ///
    /// >>> import merganser
    /// >>> histogram = merganser.count(["ACGTTA", "CGTTAC"], k=5, min_count=1).histogram()
    /// >>> histogram["count"].tolist(), histogram["kmers"].tolist()
    /// ([1, 2], [2, 1])
    fn histogram(&self, py: Python<'_>) -> PyResult<Batch> {
        let (counts, numbers): (Vec<u32>, Vec<u64>) = self.rows(py)?.iter().unzip();
        let schema = Schema::new(vec![
            Field::new("count", DataType::UInt32, false),
            Field::new("kmers", DataType::UInt64, false),
        ]);
        let columns: Vec<ArrayRef> =
            vec![Arc::new(UInt32Array::from(counts)), Arc::new(UInt64Array::from(numbers))];
        Batch::of(Arc::new(schema), columns)
    }

    /// Fits the model of GenomeScope to the histogram. The table must have the low counts: use `min_count=1`.
    ///
    /// Args:
    ///     ploidy: The number of haplotypes, 1 to 6.
    ///     coverage: The approximate number of occurrences of a k-mer that is in one haplotype once; None to estimate
    ///         it.
    ///     exclude_above: Ignore k-mers that occur more often than this, also in the genome size: those of
    ///         organelles, plasmids and spike-ins; None for no limit.
    ///
    /// Raises:
    ///     ConfigError: If the coverage is too low for a model.
    #[pyo3(signature = (ploidy=2, coverage=None, exclude_above=None))]
    fn spectrum(
        &self,
        py: Python<'_>,
        ploidy: u32,
        coverage: Option<f64>,
        exclude_above: Option<u32>,
    ) -> PyResult<crate::spectrum::Spectrum> {
        let rows: Vec<(u32, u64)> = self.rows(py)?.iter().collect();
        let settings = Settings { ploidy, coverage, exclude_above, ..Settings::default() };
        crate::spectrum::Spectrum::fit(py, &rows, self.header().k, settings)
    }

    /// Returns the k-mers in ascending order, in batches.
    ///
    /// Args:
    ///     size: The number of rows of a batch; the last one may have fewer.
    ///     kmers: "str" for a column `kmer` of letters; "int" for a column `kmer` of uint64 (k up to 32), or for two
    ///         of them, `kmer_high` and `kmer_low` (k up to 64).
    ///
    /// Returns:
    ///     An iterator of `Batch` with these columns and `count` (uint32).
    #[pyo3(signature = (size=65536, kmers="str"))]
    fn batches(&self, py: Python<'_>, size: usize, kmers: &str) -> PyResult<Batches> {
        Batches::start(py, &self.opened, size, kmers)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Batches> {
        self.batches(py, 1 << 16, "str")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, pyo3::types::PyCapsule>> {
        drop(requested_schema);
        arrow::stream_capsule(
            py,
            Box::new(Batches::start(py, &self.opened, 1 << 16, "str")?.into_reader()),
        )
    }

    /// Returns the k-mers that are in any of the tables.
    ///
    /// Args:
    ///     others: Tables with the same k and strands.
    ///     counts: The count of a k-mer that is in several tables: "min", "max", "sum", "diff", "left" or "right";
    ///         None for the sum.
    ///     output: The file for the result; None for a temporary one.
    #[pyo3(signature = (*others, counts=None, output=None))]
    fn union(
        &self,
        others: Vec<PyRef<'_, Table>>,
        counts: Option<&str>,
        output: Option<PathBuf>,
    ) -> PyResult<Table> {
        self.operation(others, Operation::Union, (counts, output))
    }

    /// Returns the k-mers that are in all of the tables.
    ///
    /// Args:
    ///     others: Tables with the same k and strands.
    ///     counts: The count of a k-mer: "min", "max", "sum", "diff", "left" or "right"; None for the minimum.
    ///     output: The file for the result; None for a temporary one.
    #[pyo3(signature = (*others, counts=None, output=None))]
    fn intersect(
        &self,
        others: Vec<PyRef<'_, Table>>,
        counts: Option<&str>,
        output: Option<PathBuf>,
    ) -> PyResult<Table> {
        self.operation(others, Operation::Intersect, (counts, output))
    }

    /// Returns the k-mers that are in no other table, with their counts.
    #[pyo3(signature = (*others, output=None))]
    fn subtract(&self, others: Vec<PyRef<'_, Table>>, output: Option<PathBuf>) -> PyResult<Table> {
        self.operation(others, Operation::Subtract, (None, output))
    }

    /// Returns the k-mers with counts from `min_count` to `max_count`.
    #[pyo3(signature = (min_count=1, max_count=None, *, output=None))]
    fn reduce(
        &self,
        py: Python<'_>,
        min_count: u32,
        max_count: Option<u32>,
        output: Option<PathBuf>,
    ) -> PyResult<Table> {
        let limits = CountLimits { min_count, max_count, ..CountLimits::default() };
        Table::computed(py, &[self.again().or_raise(py)?], (Expression::Table(0), limits), output)
    }

    /// Returns the exact Jaccard index of the k-mers of two tables: the number in both divided by the number in
    /// either.
    fn jaccard(&self, py: Python<'_>, other: PyRef<'_, Table>) -> PyResult<f64> {
        let tables = [self.again().or_raise(py)?, other.again().or_raise(py)?];
        let resources = Resources::new();
        let compared = py.detach(|| {
            compare(&tables, &[Cut::NONE, Cut::NONE], &resources, &Silent, &Cancel::default())
        });
        let compared = compared.or_raise(py)?;
        Ok(compared.pairs.first().map_or(0.0, |pair| compared.jaccard(pair)))
    }

    fn __or__(&self, other: PyRef<'_, Table>) -> PyResult<Table> {
        self.operation(vec![other], Operation::Union, (None, None))
    }

    fn __and__(&self, other: PyRef<'_, Table>) -> PyResult<Table> {
        self.operation(vec![other], Operation::Intersect, (None, None))
    }

    fn __sub__(&self, other: PyRef<'_, Table>) -> PyResult<Table> {
        self.operation(vec![other], Operation::Subtract, (None, None))
    }

    /// Supports pickling of a table with a file: the receiving process opens the file. A temporary table cannot be
    /// pickled.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.opened.file {
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
